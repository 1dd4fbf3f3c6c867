//! INSERT, UPDATE, DELETE and MERGE by seed: which rows they change, and to what, depends on no order.

use crate::expressions::Scope;
use crate::queries::Maker;
use crate::world::{Table, Type};

impl Maker<'_> {
    /// A statement that changes a table, and its table.
    pub fn change(&mut self, depth: usize) -> (String, String) {
        let bases: Vec<Table> =
            self.tables.iter().filter(|table| !table.name.starts_with('v')).cloned().collect();
        let table = bases[self.below(bases.len())].clone();
        let columns: Vec<(String, Type)> = table
            .columns
            .iter()
            .map(|(column, ty)| (format!("{}.{column}", table.name), *ty))
            .collect();
        let scope = Scope { columns, outer: Vec::new(), rows: Vec::new() };
        let text = match self.below(8) {
            0 | 1 => self.insert(&table, &scope, depth),
            2..=4 => self.update(&table, &scope, depth),
            5 | 6 => self.delete(&table, &scope, depth),
            _ => self.merge(&table, depth),
        };
        let returning = text.contains(" RETURNING ");
        let text = match self.below(5) {
            0 if returning => {
                format!("WITH changed AS ({text}) SELECT count(*), max(changed::text) FROM changed")
            }
            1 if returning => format!(
                "WITH changed AS ({text}) SELECT * FROM changed, (SELECT count(*) FROM {}) was",
                table.name
            ),
            _ => text,
        };
        (text, table.name)
    }

    fn returning(&mut self, scope: &Scope, depth: usize) -> String {
        match self.below(3) {
            0 => String::new(),
            1 => " RETURNING *".to_owned(),
            _ => {
                let values: Vec<String> = self
                    .types(3)
                    .into_iter()
                    .enumerate()
                    .map(|(at, ty)| {
                        format!("{} AS r{at}", self.expression(ty, scope, depth.min(2)))
                    })
                    .collect();
                format!(" RETURNING {}", values.join(", "))
            }
        }
    }

    /// Some columns behind the first, which is the key.
    fn targets(&mut self, table: &Table) -> Vec<(String, Type)> {
        let rest = &table.columns[1..table.columns.len() - table.computed];
        (0..rest.len()).filter(|_| self.below(2) == 0).take(3).map(|at| rest[at].clone()).collect()
    }

    fn insert(&mut self, table: &Table, scope: &Scope, depth: usize) -> String {
        let targets = self.targets(table);
        let types: Vec<Type> = targets.iter().map(|(_, ty)| *ty).chain([Type::Int]).collect();
        let query = self.query(&types, &[], depth);
        let (mut names, mut values) = ("id".to_owned(), String::new());
        for (at, (column, _)) in targets.iter().enumerate() {
            names.push_str(&format!(", {column}"));
            values.push_str(&format!(", q.c{}", at + 1));
        }
        let order: Vec<String> = (1..=types.len()).map(|at| format!("q.c{at}")).collect();
        let mut text = format!(
            "INSERT INTO {} ({names}) SELECT row_number() OVER (ORDER BY {}) + {}{values} FROM ({query}) q",
            table.name,
            order.join(", "),
            self.below(12)
        );
        match self.below(4) {
            0 => text.push_str(" ON CONFLICT DO NOTHING"),
            1 if !targets.is_empty() => {
                let (column, ty) = targets[0].clone();
                let mut seen = scope.clone();
                seen.columns.extend(
                    table.columns.iter().map(|(column, ty)| (format!("excluded.{column}"), *ty)),
                );
                let value = self.expression(ty, &seen, depth.min(2));
                let condition = self.expression(Type::Bool, &seen, depth.min(1));
                text.push_str(&format!(
                    " ON CONFLICT (id) DO UPDATE SET {column} = {value} WHERE {condition}"
                ));
            }
            _ => {}
        }
        text + &self.returning(scope, depth)
    }

    /// What is grouped by a key: at most one row for each.
    fn source(&mut self, name: &str, depth: usize) -> (String, Scope) {
        let query = self.query(&[Type::Int, Type::Text, Type::Int], &[], depth);
        let text = format!(
            "(SELECT c1 AS key, max(c2) AS s, count(c3)::int AS i FROM ({query}) q GROUP BY c1) {name}"
        );
        let columns = [("key", Type::Int), ("s", Type::Text), ("i", Type::Int)];
        let columns =
            columns.iter().map(|(column, ty)| (format!("{name}.{column}"), *ty)).collect();
        (text, Scope { columns, outer: Vec::new(), rows: Vec::new() })
    }

    fn update(&mut self, table: &Table, scope: &Scope, depth: usize) -> String {
        let mut targets = self.targets(table);
        if targets.is_empty() {
            targets.push(("id".to_owned(), Type::Int));
        }
        let (mut seen, mut from) = (scope.clone(), String::new());
        if self.below(3) == 0 {
            let (text, source) = self.source("source", depth);
            from = format!(" FROM {text}");
            seen.columns.extend(source.columns);
        }
        let sets: Vec<String> = targets
            .iter()
            .map(|(column, ty)| match (column.as_str(), self.below(6)) {
                // Keys are moved where nothing is in their way, or stay.
                ("id", _) => format!("id = {}.id + 100", table.name),
                (_, 0) => format!("{column} = DEFAULT"),
                (_, 1) => {
                    let query = self.query(&[*ty], &seen.within(), depth.saturating_sub(1));
                    format!("({column}) = (SELECT q.c1 FROM ({query}) q ORDER BY 1 LIMIT 1)")
                }
                _ => format!("{column} = {}", self.expression(*ty, &seen, depth)),
            })
            .collect();
        let mut text = format!("UPDATE {} SET {}{from}", table.name, sets.join(", "));
        let condition = self.expression(Type::Bool, &seen, depth);
        text.push_str(&match from.is_empty() {
            false => format!(" WHERE {}.id = source.key AND {condition}", table.name),
            true => format!(" WHERE {condition}"),
        });
        text + &self.returning(&seen, depth)
    }

    fn delete(&mut self, table: &Table, scope: &Scope, depth: usize) -> String {
        if self.below(2) == 0 {
            let condition = self.expression(Type::Bool, scope, depth);
            return format!("DELETE FROM {} WHERE {condition}", table.name)
                + &self.returning(scope, depth);
        }
        let (from, mut seen) = self.from(&[], depth);
        seen.columns.extend(scope.columns.clone());
        let condition = self.expression(Type::Bool, &seen, depth);
        let (key, count) = (self.below(3), self.below(12));
        // Of the rows that meet a row any may be the one that is returned with it.
        let returned = self.expression(Type::Text, scope, depth.min(1));
        format!(
            "DELETE FROM {0} USING {from} WHERE {condition} AND {0}.id % 3 <> {key} AND {0}.id < {count} RETURNING {0}.id, {returned}",
            table.name
        )
    }

    fn merge(&mut self, table: &Table, depth: usize) -> String {
        let (source, columns) = self.source("source", depth);
        let mut scope = columns.clone();
        scope
            .columns
            .extend(table.columns.iter().map(|(column, ty)| (format!("target.{column}"), *ty)));
        let mut text =
            format!("MERGE INTO {} target USING {source} ON target.id = source.key", table.name);
        for _ in 0..self.below(3) + 1 {
            let (matched, seen) = match self.below(2) {
                0 => ("MATCHED", &scope),
                _ => ("NOT MATCHED", &columns),
            };
            let condition = self.expression(Type::Bool, seen, depth.min(2));
            let written = table.columns.len() - table.computed;
            let at = if written > 1 { self.below(written - 1) + 1 } else { 0 };
            let (column, ty) = table.columns[at].clone();
            let value = self.expression(ty, seen, depth.min(2));
            let action = match (matched, self.below(4)) {
                (_, 0) => "DO NOTHING".to_owned(),
                ("MATCHED", 1) => "DELETE".to_owned(),
                ("MATCHED", _) => format!("UPDATE SET {column} = {value}"),
                _ => format!("INSERT (id, {column}) VALUES (source.key, {value})"),
            };
            text.push_str(&format!(" WHEN {matched} AND {condition} THEN {action}"));
        }
        text
    }
}
