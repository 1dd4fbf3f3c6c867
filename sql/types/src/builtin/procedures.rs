//! `pg_proc` and `pg_aggregate`: every function, by OID and by name.

use super::copy_text::{decode, walk};
use super::extensions;
use crate::Oid;
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::LazyLock;

/// A row of `pg_proc` that PostgreSQL's initial contents have.
pub type Procedure = ProcedureOf<'static>;

/// A row of `pg_proc`, whose texts are somebody's.
#[derive(Clone, Debug)]
pub struct ProcedureOf<'n> {
    /// `oid`.
    pub oid: u32,
    /// `proname`.
    pub name: &'n str,
    /// Who owns it, where a user has made it.
    pub owner: Option<Oid>,
    /// `pronamespace`; 0 where it is in a schema that an extension was created in.
    pub namespace: u32,
    /// The extension that it is a member of.
    pub extension: Option<&'static str>,
    /// `prolang`: 12 internal, 13 c, 14 SQL.
    pub language: u32,
    /// `procost`.
    pub cost: f32,
    /// `prorows`.
    pub rows: f32,
    /// `provariadic`: the element type of a VARIADIC last argument, 0 if there is none.
    pub variadic: u32,
    /// `prokind`.
    pub kind: Kind,
    /// `proleakproof`.
    pub leakproof: bool,
    /// `proisstrict`: NULL if any argument is.
    pub strict: bool,
    /// `proretset`.
    pub returns_set: bool,
    /// `provolatile`.
    pub volatility: Volatility,
    /// `proparallel`.
    pub parallel: char,
    /// `prosupport`: the planner's helper, 0 if there is none.
    pub support: u32,
    /// `pronargdefaults`: how many of the last input arguments may be left out.
    pub default_count: usize,
    /// `prorettype`.
    pub result: u32,
    /// `proargtypes`: input arguments.
    pub arguments: Box<[u32]>,
    /// `proallargtypes` with `proargmodes`, where there are others than IN.
    pub all_arguments: Option<Box<[(u32, ArgumentMode)]>>,
    /// `proargnames`, of all arguments; empty if it has none.
    pub argument_names: Box<[&'n str]>,
    /// `prosrc`: of an SQL function, its text.
    pub source: &'n str,
    sql_body: Option<&'n str>,
    /// `proacl`, as text: who may call it, where that is not everybody.
    pub acl: Option<&'static str>,
    /// The defaults of the last inputs of one of PostgreSQL's own, as an array in its text form.
    defaults: Option<&'n str>,
    /// Of an ordered-set aggregate that a user has made: `aggkind`, `aggnumdirectargs`.
    made_ordered_set: Option<(char, usize)>,
}

/// What a user says of a function.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "the fields are those of `ProcedureOf`")]
pub struct Made<'n> {
    pub oid: u32,
    pub name: &'n str,
    pub namespace: u32,
    pub owner: Oid,
    pub language: u32,
    pub cost: f32,
    pub rows: f32,
    pub variadic: u32,
    pub kind: Kind,
    pub leakproof: bool,
    pub strict: bool,
    pub returns_set: bool,
    pub volatility: Volatility,
    pub parallel: char,
    pub result: u32,
    pub arguments: Box<[u32]>,
    pub all_arguments: Option<Box<[(u32, ArgumentMode)]>>,
    pub argument_names: Box<[&'n str]>,
    pub source: &'n str,
    pub support: u32,
    pub default_count: usize,
    pub ordered_set: Option<(char, usize)>,
}

/// `prokind`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// f
    Function,
    /// p
    Procedure,
    /// a
    Aggregate,
    /// w
    Window,
}

/// `provolatile`; each promises less than those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Volatility {
    /// i
    Immutable,
    /// s
    Stable,
    /// v
    Volatile,
}

/// `proargmodes`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArgumentMode {
    /// i
    In,
    /// o
    Out,
    /// b
    InOut,
    /// v
    Variadic,
    /// t
    Table,
}

impl<'n> ProcedureOf<'n> {
    /// That of a function that a user has made.
    #[must_use]
    pub fn made(made: Made<'n>) -> ProcedureOf<'n> {
        ProcedureOf {
            oid: made.oid,
            name: made.name,
            owner: Some(made.owner),
            namespace: made.namespace,
            extension: None,
            language: made.language,
            cost: made.cost,
            rows: made.rows,
            variadic: made.variadic,
            kind: made.kind,
            leakproof: made.leakproof,
            strict: made.strict,
            returns_set: made.returns_set,
            volatility: made.volatility,
            parallel: made.parallel,
            support: made.support,
            default_count: made.default_count,
            result: made.result,
            arguments: made.arguments,
            all_arguments: made.all_arguments,
            argument_names: made.argument_names,
            source: made.source,
            sql_body: None,
            acl: None,
            defaults: None,
            made_ordered_set: made.ordered_set,
        }
    }

    /// Of an ordered-set or hypothetical-set aggregate: which of both, and how many arguments are given once for a group.
    #[must_use]
    pub fn ordered_set(&self) -> Option<(char, usize)> {
        if self.is_made() {
            return self.made_ordered_set;
        }
        aggregate(self.oid)
            .filter(|found| self.kind == Kind::Aggregate && found.kind != 'n')
            .map(|found| (found.kind, usize::from(found.direct_arguments)))
    }

    /// Whether a user has made it.
    #[must_use]
    pub fn is_made(&self) -> bool {
        self.owner.is_some()
    }

    /// The names of its input arguments; empty if it has none.
    pub fn input_names(&self) -> impl Iterator<Item = &'n str> {
        let modes = self.all_arguments.as_deref();
        let names = self.argument_names.iter().enumerate();
        names.filter_map(move |(at, name)| {
            let input = modes.is_none_or(|modes| {
                modes.get(at).is_none_or(|(_, mode)| {
                    matches!(mode, ArgumentMode::In | ArgumentMode::InOut | ArgumentMode::Variadic)
                })
            });
            input.then_some(*name)
        })
    }

    /// The SQL of the defaults of the last [`ProcedureOf::default_count`] input arguments of one of PostgreSQL's own.
    #[must_use]
    pub fn defaults(&self) -> Vec<String> {
        self.defaults.map_or_else(Vec::new, |text| split_array(&decode(text)))
    }

    /// The body of an SQL function: `prosqlbody` deparsed (`RETURN ...`), or `prosrc`. None for other languages.
    #[must_use]
    pub fn sql(&self) -> Option<Cow<'n, str>> {
        /// `pg_language` of SQL.
        const SQL: u32 = 14;
        if self.is_made() {
            return (self.language == SQL).then_some(Cow::Borrowed(self.source));
        }
        (self.language == SQL).then(|| decode(self.sql_body.unwrap_or(self.source)))
    }

    /// `prosqlbody` as `pg_get_function_sqlbody` prints it.
    #[must_use]
    pub fn sql_body(&self) -> Option<Cow<'n, str>> {
        self.sql_body.map(decode)
    }

    /// The output columns of a function with OUT, INOUT or TABLE arguments: (name, type). One of several that has no name is
    /// called by its number.
    pub fn output_columns(&self) -> impl Iterator<Item = (Cow<'n, str>, u32)> {
        let all = self.all_arguments.as_deref().unwrap_or_default();
        let is_output = |mode: ArgumentMode| {
            matches!(mode, ArgumentMode::Out | ArgumentMode::InOut | ArgumentMode::Table)
        };
        let several = all.iter().filter(|(_, mode)| is_output(*mode)).count() > 1;
        let outputs = all.iter().enumerate().filter(move |(_, (_, mode))| is_output(*mode));
        outputs.enumerate().map(move |(number, (i, &(ty, _)))| {
            match self.argument_names.get(i).copied().unwrap_or("") {
                "" if several => (Cow::Owned(format!("column{}", number + 1)), ty),
                name => (Cow::Borrowed(name), ty),
            }
        })
    }
}

/// Splits a one-dimensional array in its text form.
fn split_array(text: &str) -> Vec<String> {
    let inner = text.strip_prefix('{').and_then(|t| t.strip_suffix('}')).unwrap_or("");
    let mut out = Vec::new();
    let (mut item, mut quoted, mut any) = (String::new(), false, false);
    let mut characters = inner.chars();
    while let Some(character) = characters.next() {
        any = true;
        match character {
            '"' => quoted = !quoted,
            '\\' => item.extend(characters.next()),
            ',' if !quoted => out.push(std::mem::take(&mut item)),
            other => item.push(other),
        }
    }
    if any {
        out.push(item);
    }
    out
}

fn oids(text: &str, separator: char) -> Box<[u32]> {
    text.split(separator).filter_map(|oid| oid.parse().ok()).collect()
}

fn braced(text: &'static str) -> &'static str {
    text.trim_start_matches('{').trim_end_matches('}')
}

static ALL: LazyLock<Box<[Procedure]>> = LazyLock::new(|| {
    walk("pg_proc")
        .map(|mut row| {
            let (oid, name, namespace) = (row.number(), row.text(), row.number());
            row.skip(1);
            let (language, cost, rows) = (row.number(), row.number(), row.number());
            let (variadic, support) = (row.number(), row.number());
            let kind = match row.letter() {
                'p' => Kind::Procedure,
                'a' => Kind::Aggregate,
                'w' => Kind::Window,
                _ => Kind::Function,
            };
            row.skip(1);
            let (leakproof, strict, returns_set) = (row.flag(), row.flag(), row.flag());
            let volatility = match row.letter() {
                'i' => Volatility::Immutable,
                's' => Volatility::Stable,
                _ => Volatility::Volatile,
            };
            let parallel = row.letter();
            row.skip(1);
            let (default_count, result) = (row.number(), row.number());
            let arguments = oids(row.text(), ' ');
            let (all_types, modes) = (row.optional(), row.optional());
            let argument_names = row
                .optional()
                .map(|names| braced(names).split(',').map(|name| name.trim_matches('"')).collect())
                .unwrap_or_default();
            let all_arguments = all_types.zip(modes).map(|(types, modes)| {
                let modes = braced(modes).split(',').map(|mode| match mode {
                    "o" => ArgumentMode::Out,
                    "b" => ArgumentMode::InOut,
                    "v" => ArgumentMode::Variadic,
                    "t" => ArgumentMode::Table,
                    _ => ArgumentMode::In,
                });
                oids(braced(types), ',').iter().copied().zip(modes).collect()
            });
            row.skip(2);
            let source = row.text();
            row.skip(1);
            let sql_body = row.optional();
            row.skip(1);
            let acl = row.optional();
            Procedure {
                oid,
                name,
                owner: None,
                namespace,
                extension: extensions::extension_of(oid),
                language,
                cost,
                rows,
                variadic,
                kind,
                leakproof,
                strict,
                returns_set,
                volatility,
                parallel,
                support,
                default_count,
                result,
                arguments,
                all_arguments,
                argument_names,
                source,
                sql_body,
                acl,
                defaults: row.optional(),
                made_ordered_set: None,
            }
        })
        .collect()
});

static BY_NAME: LazyLock<Box<[&'static Procedure]>> = LazyLock::new(|| {
    let mut all: Box<[&'static Procedure]> = functions().iter().collect();
    all.sort_by_key(|procedure| (procedure.name, procedure.oid));
    all
});

/// All functions, procedures and aggregates, by OID.
#[must_use]
pub fn functions() -> &'static [Procedure] {
    &ALL
}

/// The function with this OID.
#[must_use]
pub fn function(oid: u32) -> Option<&'static Procedure> {
    let all = functions();
    all.binary_search_by_key(&oid, |procedure| procedure.oid).ok().map(|i| &all[i])
}

/// All functions of this name, in `pg_catalog` and `information_schema` alike, by OID: the candidates of a call.
#[must_use]
pub fn functions_named(name: &str) -> &'static [&'static Procedure] {
    let all = &**BY_NAME;
    let start = all.partition_point(|procedure| procedure.name < name);
    let count = all[start..].partition_point(|procedure| procedure.name == name);
    &all[start..start + count]
}

/// A row of `pg_aggregate`.
#[derive(Clone, Copy, Debug)]
pub struct Aggregate {
    /// `aggfnoid`.
    pub function: u32,
    /// `aggkind`: n normal, o ordered-set, h hypothetical-set.
    pub kind: char,
    /// `aggnumdirectargs`.
    pub direct_arguments: u16,
    /// `aggtransfn`.
    pub transition: u32,
    /// `aggfinalfn`, 0 if none.
    pub finish: u32,
    /// `aggsortop`: min and max say here which operator's order they follow.
    pub sort_operator: u32,
    /// `aggtranstype`.
    pub state: u32,
    /// `agginitval`, in the text form of the state's type.
    pub initial: Option<&'static str>,
}

static AGGREGATES: LazyLock<Box<[Aggregate]>> = LazyLock::new(|| {
    walk("pg_aggregate")
        .map(|mut row| {
            let (function, kind) = (row.number(), row.letter());
            let (direct_arguments, transition) = (row.number(), row.number());
            let finish = row.number();
            row.skip(10);
            let (sort_operator, state) = (row.number(), row.number());
            row.skip(3);
            Aggregate {
                function,
                kind,
                direct_arguments,
                transition,
                finish,
                sort_operator,
                state,
                initial: row.optional(),
            }
        })
        .collect()
});

/// The aggregate whose `pg_proc` row has this OID.
#[must_use]
pub fn aggregate(function: u32) -> Option<&'static Aggregate> {
    let all = &*AGGREGATES;
    all.binary_search_by_key(&function, |aggregate| aggregate.function).ok().map(|i| &all[i])
}

/// The aggregate of this kind that is made of these functions: what brings a row into the state, and what gives the value.
#[must_use]
pub fn aggregate_made_of(kind: char, transition: u32, finish: u32) -> Option<u32> {
    let made = |found: &&Aggregate| {
        (found.kind, found.transition, found.finish) == (kind, transition, finish)
    };
    AGGREGATES.iter().find(made).map(|found| found.function)
}

/// The functions of the server by the name of their code, as LANGUAGE internal names it (`prosrc`).
pub fn functions_of_code(code: &str) -> impl Iterator<Item = &'static Procedure> {
    static BY_CODE: LazyLock<HashMap<&str, Vec<&Procedure>>> = LazyLock::new(|| {
        let mut all: HashMap<&str, Vec<&Procedure>> = HashMap::new();
        for procedure in functions() {
            if procedure.language == 12 && procedure.kind != Kind::Aggregate {
                all.entry(procedure.source).or_default().push(procedure);
            }
        }
        all
    });
    BY_CODE.get(code).into_iter().flatten().copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_functions_are_found() {
        let names = functions_named("array_position");
        assert_eq!(names.len(), 2);
        assert!(names.iter().all(|procedure| procedure.result == 23));
        assert!(functions_named("no_such_function").is_empty());
        let plus = function(177).expect("int4pl");
        assert_eq!((plus.name, plus.strict, &*plus.arguments), ("int4pl", true, &[23, 23][..]));
        assert_eq!(plus.volatility, Volatility::Immutable);
    }

    #[test]
    fn defaults_outputs_and_bodies_are_kept() {
        let function = functions_named("parse_ident")[0];
        assert_eq!((function.default_count, function.defaults()), (1, vec!["true".to_owned()]));
        let set = functions_named("jsonb_path_query")[0];
        assert_eq!(set.defaults(), ["'{}'::jsonb", "false"]);
        let keywords = functions_named("pg_get_keywords")[0];
        let columns: Vec<_> = keywords.output_columns().map(|(name, _)| name).collect();
        assert_eq!(columns, ["word", "catcode", "barelabel", "catdesc", "baredesc"]);
        let lpad = functions_named("lpad").iter().find(|f| f.arguments.len() == 2).expect("lpad");
        assert_eq!(lpad.sql().as_deref(), Some("RETURN lpad($1, $2, ' '::text)"));
    }

    #[test]
    fn known_aggregates_are_found() {
        let sum = aggregate(2108).expect("sum(int4)");
        assert_eq!((sum.kind, sum.state, sum.initial), ('n', 20, None));
        let max = aggregate(2116).expect("max(int4)");
        assert_eq!(max.sort_operator, 521);
        let count = aggregate(2803).expect("count(*)");
        assert_eq!(count.initial, Some("0"));
        assert!(aggregate(177).is_none());
    }
}
