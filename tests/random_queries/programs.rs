//! Programs by seed: functions of expressions, and bodies of loops, branches, queries, changes and handlers, whose lines
//! and notices tell what became of their variables.

use crate::expressions::Scope;
use crate::queries::Maker;
use crate::world::{Table, Type, literal};

/// A function that expressions may call.
#[derive(Clone, Debug)]
pub struct Function {
    pub name: String,
    pub arguments: Vec<Type>,
    pub result: Type,
}

/// What a place in a body may name.
#[derive(Clone, Debug, Default)]
struct Sight {
    /// Variables, which may be set, too.
    variables: Vec<(String, Type)>,
    /// Fields of rows, and counters.
    others: Vec<(String, Type)>,
    /// Labels of the loops around.
    loops: Vec<String>,
    /// Nothing is told, returned or changed but variables: it runs for rows in any order.
    quiet: bool,
    /// It returns nothing, and may end its transaction.
    procedure: bool,
}

impl Sight {
    fn scope(&self) -> Scope {
        let columns = self.variables.iter().chain(&self.others).cloned().collect();
        Scope { columns, outer: Vec::new(), rows: Vec::new() }
    }
}

/// A value of the type that is no longer, however often it is computed of itself.
fn bounded(ty: Type, value: String) -> String {
    match ty {
        Type::Int => format!("({value}) % 1000"),
        Type::Big => format!("({value}) % 100000"),
        Type::Num => format!("round(({value}) % 1000, 2)"),
        Type::Text => format!("left({value}, 20)"),
        Type::Ints => format!("({value})[1:5]"),
        Type::Date | Type::Stamp => format!("least({value}, '2031-01-01')"),
        Type::Json => format!(
            "CASE WHEN length(({value})::text) < 40 THEN '{{\"b\": [1]}}' ELSE '2' END::jsonb"
        ),
        Type::Float | Type::Bool | Type::Mood => value,
    }
}

impl Maker<'_> {
    /// Makes a function of a few arguments, and gives its text.
    pub fn function(&mut self, name: &str) -> (Function, String) {
        let arguments = self.types(3);
        let result = self.any_type();
        let named: Vec<(String, Type)> =
            arguments.iter().enumerate().map(|(at, ty)| (format!("p{}", at + 1), *ty)).collect();
        let list: Vec<String> =
            named.iter().map(|(name, ty)| format!("{name} {}", ty.name())).collect();
        let traits = ["", "IMMUTABLE", "STABLE", "STRICT", "IMMUTABLE STRICT", "STABLE STRICT"]
            [self.below(6)];
        let scope = Scope { columns: named.clone(), outer: Vec::new(), rows: Vec::new() };
        let (language, body) = match self.below(3) {
            0 => ("sql", format!("SELECT {}", self.expression(result, &scope, 2))),
            1 => ("sql", {
                let query = self.query(&[result], &named, 1);
                format!("SELECT c1 FROM ({query}) q ORDER BY 1 LIMIT 1")
            }),
            _ => ("plpgsql", {
                let mut sight = Sight { variables: named, ..Sight::default() };
                let declared = self.declared(&mut sight, 2);
                let body = self.assignments(&sight, 3);
                let result = self.expression(result, &sight.scope(), 2);
                format!("DECLARE\n{declared}BEGIN\n{body}  RETURN {result};\nEND")
            }),
        };
        let text = format!(
            "CREATE FUNCTION {name}({}) RETURNS {} LANGUAGE {language} {traits} AS $body$ {body} $body$",
            list.join(", "),
            result.name()
        );
        (Function { name: name.to_owned(), arguments, result }, text)
    }

    /// A call of a function that gives the type; none where there is none.
    pub fn call(&mut self, ty: Type, scope: &Scope, depth: usize) -> Option<String> {
        let fitting: Vec<Function> =
            self.functions.iter().filter(|one| one.result == ty).cloned().collect();
        if fitting.is_empty() {
            return None;
        }
        let one = fitting[self.below(fitting.len())].clone();
        // Literals without a type would be ambiguous with nothing else of that name: they are taken.
        let arguments: Vec<String> = one
            .arguments
            .iter()
            .map(|ty| self.expression(*ty, scope, depth.saturating_sub(1)))
            .collect();
        Some(format!("{}({})", one.name, arguments.join(", ")))
    }

    /// A function that gives lines of text, or a procedure that says them and commits on its way; its arguments' types.
    pub fn program(&mut self, name: &str, procedure: bool) -> (Vec<Type>, String) {
        let arguments = self.types(3);
        let mut sight = Sight { procedure, ..Sight::default() };
        let list: Vec<String> = arguments
            .iter()
            .enumerate()
            .map(|(at, ty)| {
                sight.variables.push((format!("p{}", at + 1), *ty));
                format!("p{} {}", at + 1, ty.name())
            })
            .collect();
        let declared = self.declared(&mut sight, 4);
        let body = self.statements(&mut sight, 3, 6);
        let said = self.said(&sight);
        let (form, result) = match procedure {
            true => ("PROCEDURE", ""),
            false => ("FUNCTION", "RETURNS SETOF text "),
        };
        let text = format!(
            "CREATE {form} {name}({}) {result}LANGUAGE plpgsql AS $body$\nDECLARE\n{declared}BEGIN\n{body}{said}END $body$",
            list.join(", ")
        );
        (arguments, text)
    }

    /// Tells what the variables are.
    fn said(&mut self, sight: &Sight) -> String {
        let line = self.line(sight);
        match sight.procedure {
            true => format!("  RAISE NOTICE '%', {line};\n"),
            false => format!("  RETURN NEXT {line};\n"),
        }
    }

    /// A trigger behind changes of a table, which writes down what has changed: its function, and itself.
    pub fn audit(&mut self, name: &str, table: &Table) -> [String; 2] {
        let column = table.columns[self.below(table.columns.len())].0.clone();
        let (event, of_new, of_old) = [
            ("INSERT", true, false),
            ("UPDATE", true, true),
            ("DELETE", false, true),
            ("INSERT OR UPDATE OR DELETE", false, false),
        ][self.below(4)];
        let (body, each, tables);
        if self.below(2) == 0 || !of_new && !of_old {
            let values = match (of_new, of_old) {
                (false, false) => "coalesce(NEW::text, '-') || coalesce(OLD::text, '-')".to_owned(),
                (true, true) => format!("OLD.{column} || '>' || coalesce(NEW.{column}::text, '-')"),
                (true, false) => format!("NEW.{column}::text"),
                (false, true) => format!("OLD::text || OLD.{column}"),
            };
            body = format!("INSERT INTO told VALUES (TG_OP || coalesce({values}, '-'));");
            (each, tables) = ("ROW", String::new());
        } else {
            let rows = match (of_new, of_old) {
                (true, true) => format!(
                    "(SELECT count(n.{column}) FROM becomes n FULL JOIN was o ON n.id = o.id)"
                ),
                (true, false) => format!("(SELECT max({column}::text) FROM becomes)"),
                _ => format!("(SELECT count({column}) || max(was::text) FROM was)"),
            };
            body = format!(
                "INSERT INTO told VALUES (TG_OP || TG_LEVEL || coalesce({rows}::text, '-'));"
            );
            let (new, old) = (
                ["", "NEW TABLE AS becomes "][usize::from(of_new)],
                ["", "OLD TABLE AS was"][usize::from(of_old)],
            );
            (each, tables) = ("STATEMENT", format!("REFERENCING {new}{old}"));
        }
        let function = format!(
            "CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN {body} RETURN NULL; END $body$"
        );
        let trigger = format!(
            "CREATE TRIGGER {name} AFTER {event} ON {} {tables} FOR EACH {each} EXECUTE FUNCTION {name}()",
            table.name
        );
        [function, trigger]
    }

    /// A row trigger before changes of a table, or in the place of those of a view: its function, and itself.
    pub fn trigger(&mut self, name: &str, table: &Table) -> [String; 2] {
        let row = |alias: &str| {
            let fields = table.columns[1..].iter();
            fields.map(|(column, ty)| (format!("{alias}.{column}"), *ty)).collect::<Vec<_>>()
        };
        let changes = self.below(3);
        let mut sight = Sight { variables: row("NEW"), quiet: true, ..Sight::default() };
        sight.others.push(("NEW.id".to_owned(), Type::Int));
        if changes == 1 {
            sight.others.extend(row("OLD"));
        }
        let mut conditions = Sight { others: sight.others.clone(), ..Sight::default() };
        conditions.others.extend(sight.variables.clone());
        let declared = self.declared(&mut sight, 2);
        let body = self.statements(&mut sight, 2, 4);
        let left_out = match self.below(4) {
            0 => format!(
                "  IF {} THEN RETURN NULL; END IF;\n",
                self.expression(Type::Bool, &sight.scope(), 1)
            ),
            _ => String::new(),
        };
        // What it reads is what the statement reads, whichever row comes first.
        let function = format!(
            "CREATE FUNCTION {name}() RETURNS trigger STABLE LANGUAGE plpgsql AS $body$\nDECLARE\n{declared}BEGIN\n{body}{left_out}  RETURN NEW;\nEND $body$"
        );
        let of_view = table.name.starts_with('u');
        let event = match changes {
            0 => "INSERT".to_owned(),
            1 if self.below(2) == 0 && !of_view => {
                let column = &table.columns[self.below(table.columns.len())].0;
                format!("UPDATE OF {column}, id")
            }
            1 => "UPDATE".to_owned(),
            _ => "INSERT OR UPDATE".to_owned(),
        };
        let when = match self.below(3) {
            0 if !of_view => {
                let (one, ty) = conditions.others[self.below(conditions.others.len())].clone();
                let other = self.leaf(ty, &conditions.scope());
                format!("WHEN ({one} IS DISTINCT FROM {other})")
            }
            _ => String::new(),
        };
        let trigger = format!(
            "CREATE TRIGGER {name} {} {event} ON {} FOR EACH ROW {when} EXECUTE FUNCTION {name}()",
            if of_view { "INSTEAD OF" } else { "BEFORE" },
            table.name
        );
        [function, trigger]
    }

    /// Declarations of a few variables, one of them an integer.
    fn declared(&mut self, sight: &mut Sight, most: usize) -> String {
        let mut text = String::new();
        for at in 0..self.below(most) + 1 {
            let ty = if at == 0 { Type::Int } else { self.any_type() };
            let name = self.name("v");
            let value = match self.below(3) {
                0 => String::new(),
                1 => format!(" := {}", literal(&mut self.chance, ty)),
                _ => format!(" DEFAULT {}", bounded(ty, self.expression(ty, &sight.scope(), 1))),
            };
            let constant = if self.below(12) == 0 { "CONSTANT " } else { "" };
            text.push_str(&format!("  {name} {constant}{}{value};\n", ty.name()));
            match constant {
                "" => sight.variables.push((name, ty)),
                _ => sight.others.push((name, ty)),
            }
        }
        text
    }

    fn assignments(&mut self, sight: &Sight, most: usize) -> String {
        (0..self.below(most)).map(|_| self.assignment(sight)).collect()
    }

    fn variable(&mut self, sight: &Sight) -> (String, Type) {
        sight.variables[self.below(sight.variables.len())].clone()
    }

    fn assignment(&mut self, sight: &Sight) -> String {
        let (name, ty) = self.variable(sight);
        if ty == Type::Ints && self.below(2) == 0 {
            let (at, value) = (self.below(4) + 1, self.expression(Type::Int, &sight.scope(), 1));
            return format!("  {name}[{at}] := {value};\n");
        }
        let value = bounded(ty, self.expression(ty, &sight.scope(), 2));
        format!("  {name} {} {value};\n", [":=", "="][self.below(2)])
    }

    /// What tells of the variables.
    fn line(&mut self, sight: &Sight) -> String {
        let all: Vec<String> = sight
            .variables
            .iter()
            .chain(&sight.others)
            .map(|(name, _)| format!("coalesce({name}::text, '-')"))
            .collect();
        all.join(" || '|' || ")
    }

    fn statements(&mut self, sight: &mut Sight, depth: usize, most: usize) -> String {
        (0..self.below(most) + 1).map(|_| self.statement(sight, depth)).collect()
    }

    /// A query of these types in an order that is told.
    fn ordered(&mut self, types: &[Type], sight: &Sight) -> String {
        let query = self.query(types, &sight.scope().within(), 1);
        let places: Vec<String> = (1..=types.len()).map(|at| at.to_string()).collect();
        format!("SELECT * FROM ({query}) q ORDER BY {}", places.join(", "))
    }

    fn statement(&mut self, sight: &mut Sight, depth: usize) -> String {
        let scope = sight.scope();
        let condition = |maker: &mut Self| maker.expression(Type::Bool, &scope, 1);
        match self.below(if depth == 0 { 12 } else { 26 }) {
            0..=3 => self.assignment(sight),
            4 | 5 | 9 | 11 | 21.. if sight.quiet => self.assignment(sight),
            4 if sight.procedure && self.below(2) == 0 => {
                format!(
                    "  {};\n",
                    ["COMMIT", "COMMIT", "ROLLBACK", "COMMIT AND CHAIN"][self.below(4)]
                )
            }
            4 => self.said(sight),
            5 => {
                let (one, other) = (self.any_type(), self.any_type());
                let (one, other) =
                    (self.expression(one, &scope, 1), self.expression(other, &scope, 1));
                format!("  RAISE NOTICE 'here % and %', {one}, {other};\n")
            }
            6 => {
                let (name, ty) = self.variable(sight);
                let query = self.ordered(&[ty], sight);
                let strict = ["", "", "STRICT "][self.below(3)];
                let found = self.variable(sight).0;
                format!(
                    "  SELECT * INTO {strict}{name} FROM ({query}) w LIMIT 1;\n  IF NOT FOUND THEN {found} := NULL; END IF;\n"
                )
            }
            7 => {
                let known = self.parameters.replace(Vec::new());
                let (name, ty) = self.variable(sight);
                let query = self.query(&[ty], &[], 1);
                let given = std::mem::replace(&mut self.parameters, known).unwrap_or_default();
                let using: Vec<String> = given
                    .iter()
                    .map(|ty| format!("({})::{}", self.expression(*ty, &scope, 1), ty.name()))
                    .collect();
                let using = match using.is_empty() {
                    true => String::new(),
                    false => format!(" USING {}", using.join(", ")),
                };
                format!(
                    "  EXECUTE $q$SELECT c1 FROM ({query}) q ORDER BY 1 LIMIT 1$q$ INTO {name}{using};\n"
                )
            }
            8 => {
                let query = self.query(&[Type::Int], &scope.within(), 1);
                format!("  PERFORM * FROM ({query}) q;\n")
            }
            9 => self.counted_change(sight),
            10 if !sight.loops.is_empty() => {
                let label = sight.loops[self.below(sight.loops.len())].clone();
                let word = ["EXIT", "CONTINUE"][self.below(2)];
                format!("  {word} {label} WHEN {};\n", condition(self))
            }
            11 => match self.below(3) {
                0 => format!("  IF {} THEN RETURN; END IF;\n", condition(self)),
                1 => {
                    let code = ["22012", "P0001", "23505"][self.below(3)];
                    format!(
                        "  IF {} THEN RAISE EXCEPTION 'raised %', {} USING ERRCODE = '{code}'; END IF;\n",
                        condition(self),
                        self.expression(Type::Text, &scope, 1)
                    )
                }
                _ => self.assignment(sight),
            },
            10 => self.assignment(sight),
            12 | 13 => {
                let (one, other) = (condition(self), condition(self));
                let (first, second, third) = (
                    self.statements(sight, depth - 1, 2),
                    self.statements(sight, depth - 1, 2),
                    self.statements(sight, depth - 1, 2),
                );
                match self.below(3) {
                    0 => format!("  IF {one} THEN\n{first}  END IF;\n"),
                    1 => format!("  IF {one} THEN\n{first}  ELSE\n{second}  END IF;\n"),
                    _ => format!(
                        "  IF {one} THEN\n{first}  ELSIF {other} THEN\n{second}  ELSE\n{third}  END IF;\n"
                    ),
                }
            }
            14 => {
                let ty = self.any_type();
                let of = |maker: &mut Self| maker.expression(ty, &scope, 1);
                // THEN ends them, but for that of a CASE in parentheses.
                let (tested, one, other) =
                    (of(self), format!("({})", of(self)), format!("({})", of(self)));
                let (first, second) =
                    (self.statements(sight, depth - 1, 2), self.statements(sight, depth - 1, 2));
                let rest = match self.below(4) {
                    0 => String::new(),
                    _ => format!("  ELSE\n{}", self.statements(sight, depth - 1, 1)),
                };
                match ty {
                    Type::Json => String::new(),
                    _ => format!(
                        "  CASE {tested} WHEN {one} THEN\n{first}  WHEN {other}, NULL THEN\n{second}{rest}  END CASE;\n"
                    ),
                }
            }
            15 | 16 => {
                let (counter, label) = (self.name("i"), self.name("l"));
                let (low, high) = (self.below(3), self.below(4));
                let (head, step) = match self.below(3) {
                    0 => (format!("REVERSE {high} .. {low}"), ""),
                    1 => (format!("{low} .. {high}"), " BY 2"),
                    _ => (format!("{low} .. {high}"), ""),
                };
                let body =
                    self.within_loop(sight, &label, vec![(counter.clone(), Type::Int)], depth);
                format!("  <<{label}>> FOR {counter} IN {head}{step} LOOP\n{body}  END LOOP;\n")
            }
            17 | 18 => {
                let (row, label, types) = (self.name("r"), self.name("l"), self.types(3));
                let query = self.ordered(&types, sight);
                let fields = types
                    .iter()
                    .enumerate()
                    .map(|(at, ty)| (format!("{row}.c{}", at + 1), *ty))
                    .collect();
                let body = self.within_loop(sight, &label, fields, depth);
                // A row that no query has given has no fields.
                format!(
                    "  DECLARE {row} record; BEGIN\n  <<{label}>> FOR {row} IN {query} LIMIT 3 LOOP\n{body}  END LOOP;\n  END;\n"
                )
            }
            19 => {
                let (counter, label) = (self.name("i"), self.name("l"));
                let wanted = condition(self);
                let body =
                    self.within_loop(sight, &label, vec![(counter.clone(), Type::Int)], depth);
                format!(
                    "  DECLARE {counter} int := 0; BEGIN\n  <<{label}>> WHILE {counter} < 3 AND {wanted} LOOP\n  {counter} := {counter} + 1;\n{body}  END LOOP;\n  END;\n"
                )
            }
            20 => {
                let (element, label) = (self.name("e"), self.name("l"));
                let array = self.expression(Type::Ints, &scope, 1);
                let body =
                    self.within_loop(sight, &label, vec![(element.clone(), Type::Int)], depth);
                format!(
                    "  DECLARE {element} int; BEGIN\n  <<{label}>> FOREACH {element} IN ARRAY coalesce(({array})[1:4], '{{}}') LOOP\n{body}  END LOOP;\n  END;\n"
                )
            }
            21 | 22 => {
                let body = self.statements(sight, depth - 1, 3);
                let (counted, failing) = (self.variable(sight), self.variable(sight));
                let fails = match failing.1 {
                    Type::Int => format!("  {0} := 7 / (coalesce({0}, 0) % 2);\n", failing.0),
                    Type::Text => format!("  {0} := ({0}::int + 1)::text;\n", failing.0),
                    _ => String::new(),
                };
                let handled = self.statements(sight, depth - 1, 2);
                let told = match counted.1 {
                    Type::Text => {
                        format!("  GET STACKED DIAGNOSTICS {} = RETURNED_SQLSTATE;\n", counted.0)
                    }
                    _ => "  RAISE NOTICE 'handled %', SQLSTATE;\n".to_owned(),
                };
                let first = [
                    "division_by_zero",
                    "raise_exception OR unique_violation",
                    "SQLSTATE '22P02'",
                    "data_exception",
                ][self.below(4)];
                format!(
                    "  BEGIN\n{body}{fails}  EXCEPTION WHEN {first} THEN\n{told}  WHEN others THEN\n{handled}  END;\n"
                )
            }
            23 | 24 => self.cursor(sight, depth),
            _ => {
                let mut within = sight.clone();
                let declared = self.declared(&mut within, 2);
                let body = self.statements(&mut within, depth - 1, 3);
                let said = self.said(&within);
                format!("  DECLARE\n{declared}  BEGIN\n{body}{said}  END;\n")
            }
        }
    }

    /// A cursor that goes to and fro, and a loop of its rows.
    fn cursor(&mut self, sight: &Sight, depth: usize) -> String {
        let (cursor, value, label) = (self.name("c"), self.name("v"), self.name("l"));
        let ty = self.any_type();
        let query = self.ordered(&[ty], sight);
        let mut within = sight.clone();
        within.variables.push((value.clone(), ty));
        let mut moves = String::new();
        for _ in 0..self.below(4) {
            let way = ["NEXT", "PRIOR", "FIRST", "LAST", "ABSOLUTE 2", "RELATIVE -1", "FORWARD 2"]
                [self.below(7)];
            moves.push_str(&match self.below(3) {
                0 => format!("  MOVE {way} FROM {cursor};\n"),
                // Of several rows FETCH takes none.
                _ if way == "FORWARD 2" => format!("  MOVE {way} FROM {cursor};\n"),
                _ => format!("  FETCH {way} FROM {cursor} INTO {value};\n"),
            });
            if self.below(2) == 0 {
                moves.push_str(&self.said(&within));
            }
        }
        let body = self.within_loop(&within, &label, Vec::new(), depth);
        format!(
            "  DECLARE {cursor} SCROLL CURSOR FOR {query}; {value} {}; BEGIN\n  OPEN {cursor};\n{moves}  <<{label}>> LOOP\n  FETCH {cursor} INTO {value};\n  EXIT WHEN NOT FOUND;\n{body}  END LOOP;\n  CLOSE {cursor};\n  END;\n",
            ty.name()
        )
    }

    /// The body of a loop, which sees what the loop gives it.
    fn within_loop(
        &mut self,
        sight: &Sight,
        label: &str,
        given: Vec<(String, Type)>,
        depth: usize,
    ) -> String {
        let mut within = sight.clone();
        within.others.extend(given);
        within.loops.push(label.to_owned());
        self.statements(&mut within, depth - 1, 3)
    }

    /// A change, and how many rows it has changed.
    fn counted_change(&mut self, sight: &Sight) -> String {
        let bases: Vec<Table> =
            self.tables.iter().filter(|table| table.name.starts_with('t')).cloned().collect();
        let table = bases[self.below(bases.len())].clone();
        let mut scope = sight.scope();
        let own =
            table.columns.iter().map(|(column, ty)| (format!("{}.{column}", table.name), *ty));
        scope.columns.extend(own);
        let condition = self.expression(Type::Bool, &scope, 1);
        let column = table.columns.get(self.below(table.columns.len() - 1) + 1).cloned();
        let change = match column {
            Some((column, ty)) if self.below(3) > 0 => {
                let value = bounded(ty, self.expression(ty, &scope, 1));
                format!("UPDATE {} SET {column} = {value} WHERE {condition}", table.name)
            }
            _ => format!("DELETE FROM {0} WHERE {condition} AND {0}.id % 3 = 1", table.name),
        };
        let count = sight.variables.iter().find(|(_, ty)| *ty == Type::Int);
        let count = count
            .map_or(String::new(), |(name, _)| format!("  GET DIAGNOSTICS {name} = ROW_COUNT;\n"));
        format!("  {change};\n{count}")
    }
}
