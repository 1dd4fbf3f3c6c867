//! SELECTs by seed: joins, subqueries, groups, windows, WITH, set operations, each of the types that are asked for.

use crate::expressions::Scope;
use crate::programs::Function;
use crate::world::{Table, Type, literal};
use tests::chance::Chance;

/// Makes queries over tables.
pub struct Maker<'t> {
    pub chance: Chance,
    pub tables: &'t [Table],
    /// WITH queries that can be read here, besides.
    with: Vec<Table>,
    /// How many names it has given.
    names: usize,
    /// How many values of another type than is asked for it may still put in.
    pub mistakes: usize,
    /// The types of the parameters that it has put in, where it may put in any.
    pub parameters: Option<Vec<Type>>,
    /// Functions that it may call.
    pub functions: Vec<Function>,
}

/// What stands for the rows of an item of FROM, by its columns.
fn row_of(columns: &[(String, Type)]) -> Option<String> {
    let (alias, _) = columns.first()?.0.split_once('.')?;
    // Of one column it is that column's value.
    (columns.len() > 1).then(|| alias.to_owned())
}

impl<'t> Maker<'t> {
    pub fn new(chance: Chance, tables: &'t [Table]) -> Maker<'t> {
        Maker {
            chance,
            tables,
            with: Vec::new(),
            names: 0,
            mistakes: 0,
            parameters: None,
            functions: Vec::new(),
        }
    }

    pub fn below(&mut self, bound: usize) -> usize {
        self.chance.below(bound)
    }

    pub fn name(&mut self, prefix: &str) -> String {
        self.names += 1;
        format!("{prefix}{}", self.names)
    }

    pub fn types(&mut self, most: usize) -> Vec<Type> {
        (0..self.below(most) + 1).map(|_| self.any_type()).collect()
    }

    /// A query whose columns are `c1`, `c2` ... of these types.
    pub fn query(&mut self, types: &[Type], outer: &[(String, Type)], depth: usize) -> String {
        let known = self.with.len();
        let mut text = String::new();
        if depth > 1 && self.below(6) == 0 {
            text = self.with(outer, depth - 1);
        }
        let body = match self.below(8) {
            0 if depth > 0 => {
                let operation =
                    ["UNION", "UNION ALL", "INTERSECT", "INTERSECT ALL", "EXCEPT", "EXCEPT ALL"]
                        [self.below(6)];
                let one = self.query(types, outer, depth - 1);
                let other = self.query(types, outer, depth - 1);
                format!("({one}) {operation} ({other})")
            }
            1 => {
                let row = |maker: &mut Self| {
                    let scope =
                        Scope { columns: Vec::new(), outer: outer.to_vec(), rows: Vec::new() };
                    let values: Vec<String> = types
                        .iter()
                        .map(|ty| maker.expression(*ty, &scope, depth.min(1)))
                        .collect();
                    values.join(", ")
                };
                let rows: Vec<String> =
                    (0..self.below(3) + 1).map(|_| format!("({})", row(self))).collect();
                let names: Vec<String> = (1..=types.len()).map(|at| format!("c{at}")).collect();
                format!("SELECT * FROM (VALUES {}) AS v({})", rows.join(", "), names.join(", "))
            }
            _ => self.select(types, outer, depth),
        };
        text.push_str(&body);
        if self.below(6) == 0 {
            // By all columns: those that share a place are the same.
            let places: Vec<String> = (1..=types.len())
                .map(|at| {
                    format!(
                        "{at}{}",
                        ["", "", " DESC", " NULLS FIRST", " DESC NULLS LAST"][self.below(5)]
                    )
                })
                .collect();
            text.push_str(&format!(" ORDER BY {}", places.join(", ")));
            let (count, from) = (self.below(5), self.below(3));
            text.push_str(&match self.below(4) {
                0 => format!(" LIMIT {count}"),
                1 => format!(" LIMIT {count} OFFSET {from}"),
                2 => format!(" OFFSET {from}"),
                _ => format!(" FETCH FIRST {} ROWS WITH TIES", count + 1),
            });
        }
        self.with.truncate(known);
        text
    }

    /// WITH and its queries, which can be read until the query around ends.
    fn with(&mut self, outer: &[(String, Type)], depth: usize) -> String {
        let recursive = self.below(3) == 0;
        let mut parts = Vec::new();
        for _ in 0..self.below(2) + 1 {
            let name = self.name("w");
            let mut types = self.types(3);
            let (query, form);
            if recursive {
                types.insert(0, Type::Int);
                query = self.recursive_query(&name, &types, outer, depth);
                form = "";
            } else {
                query = self.query(&types, outer, depth);
                form = ["", "", "MATERIALIZED ", "NOT MATERIALIZED "][self.below(4)];
            }
            let columns: Vec<(String, Type)> =
                types.iter().enumerate().map(|(at, ty)| (format!("c{}", at + 1), *ty)).collect();
            let names: Vec<&str> = columns.iter().map(|(name, _)| name.as_str()).collect();
            parts.push(format!("{name}({}) AS {form}({query})", names.join(", ")));
            self.with.push(Table { name, columns, computed: 0 });
        }
        format!("WITH {}{} ", if recursive { "RECURSIVE " } else { "" }, parts.join(", "))
    }

    /// A few rounds: the first column counts them.
    fn recursive_query(
        &mut self,
        name: &str,
        types: &[Type],
        outer: &[(String, Type)],
        depth: usize,
    ) -> String {
        let start: Vec<String> = types[1..]
            .iter()
            .map(|ty| format!("{}::{}", literal(&mut self.chance, *ty), ty.name()))
            .collect();
        let columns: Vec<(String, Type)> =
            types.iter().enumerate().map(|(at, ty)| (format!("r.c{}", at + 1), *ty)).collect();
        let mut scope = Scope { columns, outer: outer.to_vec(), rows: Vec::new() };
        let mut from = format!("{name} r");
        if self.below(3) == 0 {
            let table = self.tables[self.below(self.tables.len())].clone();
            let join = ["JOIN", "LEFT JOIN"][self.below(2)];
            from.push_str(&format!(" {join} {} x ON x.id = r.c1", table.name));
            scope
                .columns
                .extend(table.columns.iter().map(|(column, ty)| (format!("x.{column}"), *ty)));
        }
        let mut next = vec!["r.c1 + 1".to_owned()];
        for ty in &types[1..] {
            next.push(format!("({})::{}", self.expression(*ty, &scope, depth.min(2)), ty.name()));
        }
        let condition = self.expression(Type::Bool, &scope, 1);
        let all = ["", " ALL"][self.below(2)];
        let mut first = vec!["0".to_owned()];
        first.extend(start);
        format!(
            "SELECT {} UNION{all} SELECT {} FROM {from} WHERE r.c1 < {} AND {condition}",
            first.join(", "),
            next.join(", "),
            self.below(3) + 2
        )
    }

    fn select(&mut self, types: &[Type], outer: &[(String, Type)], depth: usize) -> String {
        let (from, scope) = self.from(outer, depth);
        let condition = match self.below(2) {
            0 => format!(" WHERE {}", self.expression(Type::Bool, &scope, depth)),
            _ => String::new(),
        };
        let list = |values: &[String]| {
            let named: Vec<String> = values
                .iter()
                .enumerate()
                .map(|(at, value)| format!("{value} AS c{}", at + 1))
                .collect();
            named.join(", ")
        };
        match self.below(if depth == 0 { 4 } else { 13 }) {
            12 => {
                // Over groups; of rows that are equal in the window's order all have the same.
                let (groups, grouped) = self.groups(&scope, depth);
                let mut values = Vec::new();
                for ty in types {
                    values.push(match (self.below(3), *ty) {
                        (0, Type::Num) => {
                            let sum = self.aggregate(Type::Big, &scope, depth - 1);
                            format!("sum({sum}) OVER ()")
                        }
                        (0 | 1, Type::Big) => {
                            let ranked = self.aggregate(Type::Big, &scope, depth - 1);
                            format!("rank() OVER (ORDER BY {ranked} DESC)")
                        }
                        (0, Type::Float) => {
                            let ranked = self.aggregate(Type::Big, &scope, depth - 1);
                            format!("cume_dist() OVER (ORDER BY {ranked})")
                        }
                        (1, _) => self.aggregate(*ty, &scope, depth - 1),
                        _ => self.expression(*ty, &grouped, depth.min(1)),
                    });
                }
                format!("SELECT {} FROM {from}{condition} GROUP BY {groups}", list(&values))
            }
            11 => {
                // Several windows, whose functions give equal rows the same.
                let mut values = Vec::new();
                for ty in types {
                    let ranked = self.any_type();
                    let ranked = self.expression(ranked, &scope, 1);
                    values.push(match *ty {
                        Type::Big => match self.below(3) {
                            0 => "dense_rank() OVER w1".to_owned(),
                            1 => format!("count(*) OVER (w2 ORDER BY {ranked})"),
                            _ => "count(*) OVER w2".to_owned(),
                        },
                        Type::Float => match self.below(2) {
                            0 => "percent_rank() OVER w1".to_owned(),
                            _ => format!("cume_dist() OVER (w2 ORDER BY {ranked} DESC)"),
                        },
                        Type::Int => {
                            let value = self.expression(Type::Int, &scope, 1);
                            format!("max({value}) OVER w1")
                        }
                        ty => self.expression(ty, &scope, depth.min(2)),
                    });
                }
                let (one, other) = (self.any_type(), self.any_type());
                format!(
                    "SELECT {} FROM {from}{condition} WINDOW w1 AS (ORDER BY {}), w2 AS (PARTITION BY {})",
                    list(&values),
                    self.expression(one, &scope, 1),
                    self.expression(other, &scope, 1)
                )
            }
            10 => {
                // Ordered and cut within, by all that it gives.
                let values: Vec<String> =
                    types.iter().map(|ty| self.expression(*ty, &scope, depth.min(2))).collect();
                let order: Vec<String> = values
                    .iter()
                    .map(|value| {
                        format!("({value}){}", [" DESC", "", " NULLS FIRST"][self.below(3)])
                    })
                    .collect();
                // Which side of a join can be missing is another question where conditions say that none is; and of a view's
                // faults PostgreSQL tells when it plans, of a materialized view's when it runs.
                let others = ["LEFT", "RIGHT", "FULL", "v0", "v1", "v2"];
                // A cursor of a program that scrolls locks nothing.
                let plain =
                    self.functions.is_empty() && !others.iter().any(|other| from.contains(other));
                let lock = match self.below(5) {
                    0 if plain => " FOR UPDATE",
                    1 if plain => " FOR SHARE",
                    _ => "",
                };
                format!(
                    "SELECT * FROM (SELECT {} FROM {from}{condition} ORDER BY {} LIMIT {}{lock}) l",
                    list(&values),
                    order.join(", "),
                    self.below(5)
                )
            }
            9 => {
                let mut values = Vec::new();
                for ty in types {
                    let set = match self.below(2) {
                        0 => self.set(*ty, &scope, depth.min(2)),
                        _ => None,
                    };
                    values.push(match set {
                        Some(set) => set,
                        None => self.expression(*ty, &scope, depth.min(2)),
                    });
                }
                format!("SELECT * FROM (SELECT {} FROM {from}{condition}) s", list(&values))
            }
            4 | 5 => {
                let (groups, grouped) = self.groups(&scope, depth);
                let mut values = Vec::new();
                for ty in types {
                    values.push(match self.below(2) {
                        0 => self.expression(*ty, &grouped, depth.min(2)),
                        _ => self.aggregate(*ty, &scope, depth - 1),
                    });
                }
                let mut text =
                    format!("SELECT {} FROM {from}{condition} GROUP BY {groups}", list(&values));
                if self.below(3) == 0 {
                    let limit = self.aggregate(Type::Big, &scope, depth - 1);
                    let grouped = self.expression(Type::Bool, &grouped, 1);
                    text.push_str(&format!(" HAVING {limit} > {} OR {grouped}", self.below(3)));
                }
                text
            }
            6 => {
                let values: Vec<String> =
                    types.iter().map(|ty| self.aggregate(*ty, &scope, depth - 1)).collect();
                format!("SELECT {} FROM {from}{condition}", list(&values))
            }
            7 => {
                // One window: two may have rows that are the same in different orders.
                let at = self.below(types.len());
                let mut values = Vec::new();
                for (number, ty) in types.iter().enumerate() {
                    values.push(match number == at {
                        true => self.window(*ty, &scope),
                        false => self.expression(*ty, &scope, depth.min(2)),
                    });
                }
                format!("SELECT {} FROM {from}{condition}", list(&values))
            }
            8 => {
                let values: Vec<String> =
                    types.iter().map(|ty| self.expression(*ty, &scope, depth.min(2))).collect();
                let key = self.below(types.len()) + 1;
                let rest: Vec<String> =
                    (1..=types.len()).filter(|at| *at != key).map(|at| format!(", {at}")).collect();
                // What follows may be an ORDER BY of its own.
                format!(
                    "SELECT * FROM (SELECT DISTINCT ON ({key}) {} FROM {from}{condition} ORDER BY {key}{}) d",
                    list(&values),
                    rest.concat()
                )
            }
            kind => {
                let values: Vec<String> =
                    types.iter().map(|ty| self.expression(*ty, &scope, depth)).collect();
                let distinct = if kind == 0 { "DISTINCT " } else { "" };
                format!("SELECT {distinct}{} FROM {from}{condition}", list(&values))
            }
        }
    }

    /// What a query is grouped by, and what its list may name then.
    fn groups(&mut self, scope: &Scope, depth: usize) -> (String, Scope) {
        let own = Scope { columns: scope.columns.clone(), outer: Vec::new(), rows: Vec::new() };
        let mut keys: Vec<(String, Type)> = Vec::new();
        for _ in 0..self.below(3) + 1 {
            let key = if self.below(3) > 0 && !own.columns.is_empty() {
                own.columns[self.below(own.columns.len())].clone()
            } else {
                let ty = self.any_type();
                (self.expression(ty, &own, depth.min(1)), ty)
            };
            // A constant or a subquery may be computed anew where PostgreSQL 15's grouping sets leave it out.
            let named = |(column, _): &(String, Type)| key.0.contains(column.as_str());
            if own.columns.iter().any(named) && !key.0.contains("SELECT") {
                keys.push(key);
            }
        }
        if keys.is_empty() {
            return (
                "()".to_owned(),
                Scope { columns: Vec::new(), outer: scope.outer.clone(), rows: Vec::new() },
            );
        }
        let texts: Vec<&str> = keys.iter().map(|(text, _)| text.as_str()).collect();
        let all = texts.join(", ");
        let text = match self.below(8) {
            0 => format!("ROLLUP ({all})"),
            1 => format!("CUBE ({all})"),
            2 => format!("GROUPING SETS (({all}), ({}), ())", texts[0]),
            3 => format!("DISTINCT {}, ROLLUP ({all})", texts[0]),
            _ => all.clone(),
        };
        if self.below(3) == 0 {
            keys.push((format!("GROUPING({all})"), Type::Int));
        }
        (text, Scope { columns: keys, outer: scope.outer.clone(), rows: Vec::new() })
    }

    /// A window function of the type: over rows whose order is total, or which do not depend on it.
    fn window(&mut self, ty: Type, scope: &Scope) -> String {
        let order: Vec<&str> = scope.columns.iter().map(|(text, _)| text.as_str()).collect();
        let key = self.any_type();
        let key = self.expression(key, scope, 1);
        let partition = match self.below(2) {
            0 => format!("PARTITION BY {key}"),
            _ => String::new(),
        };
        let total = format!("ORDER BY {}", order.join(", "));
        let value = self.expression(ty, scope, 1);
        let frame = [
            "",
            " ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING",
            " ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING",
            " ROWS BETWEEN CURRENT ROW AND 2 FOLLOWING EXCLUDE CURRENT ROW",
            " GROUPS BETWEEN 1 PRECEDING AND CURRENT ROW EXCLUDE TIES",
            " RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW",
            " ROWS 2 PRECEDING",
        ][self.below(7)];
        match self.below(6) {
            0 => format!("lag({value}, {}) OVER ({partition} {total})", self.below(3)),
            1 => format!("lead({value}) OVER ({partition} {total})"),
            2 => format!("first_value({value}) OVER ({partition} {total}{frame})"),
            3 => format!("nth_value({value}, 2) OVER ({partition} {total}{frame})"),
            4 if ty == Type::Big => {
                let ranked = self.any_type();
                let ranked = self.expression(ranked, scope, 1);
                match self.below(6) {
                    4 => format!(
                        "sum({}) OVER ({partition} ORDER BY {} RANGE BETWEEN 1 PRECEDING AND {} FOLLOWING)",
                        self.expression(Type::Int, scope, 1),
                        self.expression(Type::Int, scope, 1),
                        self.below(3)
                    ),
                    5 => format!(
                        "count(*) OVER ({partition} ORDER BY {} RANGE BETWEEN '1 day' PRECEDING AND '1 month' FOLLOWING EXCLUDE GROUP)",
                        self.expression(Type::Date, scope, 1)
                    ),
                    0 => format!("row_number() OVER ({partition} {total})"),
                    1 => format!("rank() OVER ({partition} ORDER BY {ranked})"),
                    2 => format!("dense_rank() OVER ({partition} ORDER BY {ranked} DESC)"),
                    _ => format!(
                        "sum({}) OVER ({partition} ORDER BY {ranked})",
                        self.expression(Type::Int, scope, 1)
                    ),
                }
            }
            _ => match ty {
                Type::Int => format!("min({value}) OVER ({partition} {total}{frame})"),
                Type::Big => format!("count({key}) OVER ({partition} {total}{frame})"),
                Type::Num | Type::Float => {
                    format!("sum({value}) OVER ({partition} {total}{frame})")
                }
                Type::Text => format!("string_agg({value}, '') OVER ({partition} {total}{frame})"),
                Type::Bool => format!("bool_or({value}) OVER ({partition} {total}{frame})"),
                _ => format!("last_value({value}) OVER ({partition} {total}{frame})"),
            },
        }
    }

    /// A FROM list and what it brings into sight.
    pub fn from(&mut self, outer: &[(String, Type)], depth: usize) -> (String, Scope) {
        let mut scope = Scope { columns: Vec::new(), outer: outer.to_vec(), rows: Vec::new() };
        let (mut text, columns) = self.item(&scope, depth, false);
        scope.rows.extend(row_of(&columns));
        scope.columns = columns;
        for _ in 0..[0, 0, 1, 1, 2][self.below(5)] {
            let kind = self.below(10);
            let lateral = kind < 7 && depth > 0 && self.below(4) == 0;
            let (item, columns) = self.item(&scope, depth, lateral);
            let left = scope.columns.clone();
            scope.columns.extend(columns.clone());
            scope.rows.extend(row_of(&columns));
            if kind == 0 {
                text.push_str(&format!(" CROSS JOIN {item}"));
                continue;
            }
            let join = match kind {
                1..=3 => "JOIN",
                4..=6 => "LEFT JOIN",
                7 | 8 => "RIGHT JOIN",
                _ => "FULL JOIN",
            };
            if kind < 9 && !lateral && self.below(8) == 0 {
                let shared = |(one, ty): &(String, Type)| {
                    let name = one.rsplit('.').next()?.to_owned();
                    let meets = |(other, of): &(String, Type)| {
                        of == ty && other.ends_with(&format!(".{name}"))
                    };
                    (left.iter().filter(|(other, _)| other.ends_with(&format!(".{name}"))).count()
                        == 1
                        && columns.iter().any(meets))
                    .then_some((name, *ty))
                };
                let names: Vec<(String, Type)> = left.iter().filter_map(shared).collect();
                if !names.is_empty() {
                    let (name, ty) = names[self.below(names.len())].clone();
                    let alias = self.name("u");
                    text.push_str(&format!(" {join} {item} USING ({name}) AS {alias}"));
                    scope.columns.push((format!("{alias}.{name}"), ty));
                    continue;
                }
            }
            // Equal columns, as a FULL JOIN demands.
            let pairs: Vec<String> = left
                .iter()
                .flat_map(|(one, ty)| {
                    columns
                        .iter()
                        .filter(move |(_, other)| other == ty)
                        .map(move |(other, _)| format!("{one} = {other}"))
                })
                .collect();
            let mut condition = match pairs.len() {
                0 if kind > 8 => "true".to_owned(),
                0 => self.expression(Type::Bool, &scope, depth.min(1)),
                count => pairs[self.below(count)].clone(),
            };
            if self.below(4) == 0 && kind < 9 {
                condition = match self.below(3) {
                    0 => self.expression(Type::Bool, &scope, depth.min(2)),
                    1 => format!(
                        "{condition} AND {}",
                        self.expression(Type::Bool, &scope, depth.min(2))
                    ),
                    _ => format!(
                        "{condition} OR {}",
                        self.expression(Type::Bool, &scope, depth.min(1))
                    ),
                };
            }
            text.push_str(&format!(" {join} {item} ON {condition}"));
        }
        (text, scope)
    }

    /// One item of FROM, with its columns.
    fn item(
        &mut self,
        scope: &Scope,
        depth: usize,
        lateral: bool,
    ) -> (String, Vec<(String, Type)>) {
        let alias = self.name("a");
        let seen = if lateral { scope.within() } else { scope.outer.clone() };
        let kind = self.below(if depth == 0 { 8 } else { 12 });
        if kind > 7 || lateral {
            let types = self.types(4);
            let query = self.query(&types, &seen, depth.saturating_sub(1));
            let word = if lateral { "LATERAL " } else { "" };
            let columns = types
                .iter()
                .enumerate()
                .map(|(at, ty)| (format!("{alias}.c{}", at + 1), *ty))
                .collect();
            return (format!("{word}({query}) AS {alias}"), columns);
        }
        match kind {
            0 => {
                let (low, high) = (self.below(4), self.below(6));
                (
                    format!("generate_series({low}, {high}) AS {alias}(g)"),
                    vec![(format!("{alias}.g"), Type::Int)],
                )
            }
            1 => {
                let scope = Scope { columns: Vec::new(), outer: seen, rows: Vec::new() };
                let array = self.expression(Type::Ints, &scope, depth.min(1));
                (
                    format!("unnest({array}) WITH ORDINALITY AS {alias}(u, o)"),
                    vec![(format!("{alias}.u"), Type::Int), (format!("{alias}.o"), Type::Big)],
                )
            }
            7 => {
                let scope = Scope { columns: Vec::new(), outer: seen, rows: Vec::new() };
                let json = self.expression(Type::Json, &scope, depth.min(1));
                match self.below(3) {
                    0 => {
                        let array = self.expression(Type::Ints, &scope, depth.min(1));
                        (
                            format!(
                                "ROWS FROM (unnest({array}), generate_series(1, {})) AS {alias}(u, g)",
                                self.below(3)
                            ),
                            vec![
                                (format!("{alias}.u"), Type::Int),
                                (format!("{alias}.g"), Type::Int),
                            ],
                        )
                    }
                    1 => (
                        format!(
                            "jsonb_populate_record(NULL::pair, jsonb_build_object('b', {json})) AS {alias}(a, b)"
                        ),
                        vec![(format!("{alias}.a"), Type::Int), (format!("{alias}.b"), Type::Text)],
                    ),
                    _ => (
                        format!(
                            "jsonb_path_query(jsonb_build_array({json}), '$[*]') AS {alias}(j)"
                        ),
                        vec![(format!("{alias}.j"), Type::Json)],
                    ),
                }
            }
            _ => {
                let at = self.below(self.tables.len() + 2 * self.with.len());
                let table = match at.checked_sub(self.tables.len()) {
                    None => self.tables[at].clone(),
                    Some(at) => self.with[at / 2].clone(),
                };
                let columns = table
                    .columns
                    .iter()
                    .map(|(column, ty)| (format!("{alias}.{column}"), *ty))
                    .collect();
                (format!("{} AS {alias}", table.name), columns)
            }
        }
    }
}
