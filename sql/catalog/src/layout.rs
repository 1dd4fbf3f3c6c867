//! How a relation's rows and the keys of its trees are laid out: what the catalog knows, in the terms of [`sql_types::tuple`].

use super::{Index, Relation, RelationKind};
use sql_types::numeric;
use sql_types::tuple::{Form, KeyColumn, KeyLayout, RowLayout, row_id};
use txn::{ColumnEnd, FirstColumn, Placement, TreeId};

/// How a column ends at the front of a key; none where that is not known.
fn first_column(column: &KeyColumn) -> Option<FirstColumn> {
    let end = match column.form {
        Form::Text => ColumnEnd::Zero,
        Form::Bytea => ColumnEnd::TwoZeros,
        Form::Numeric => ColumnEnd::At(numeric::key::length),
        form => ColumnEnd::Fixed(form.width()? as u8),
    };
    Some(FirstColumn { marker: u8::from(column.nullable), end })
}

impl Relation {
    /// The layout of its rows.
    #[must_use]
    pub fn row_layout(&self) -> RowLayout {
        RowLayout::new(
            self.columns.iter().map(|column| (Form::of(column.ty.oid), column.missing.clone())),
        )
    }

    /// The key of the tree that holds its rows: these columns.
    #[must_use]
    pub fn key_layout(&self, key: &[usize]) -> KeyLayout {
        let columns = key
            .iter()
            .map(|&column| {
                let ty = self.columns[column].ty.oid;
                KeyColumn {
                    column,
                    ty,
                    form: Form::of(ty),
                    descending: false,
                    nulls_first: false,
                    nullable: false,
                }
            })
            .collect();
        KeyLayout { columns }
    }

    /// In which partition the entries of its trees are, of those of which that can be said: the first column of the primary key
    /// says it of a row, and its block where it has a row id.
    #[must_use]
    pub fn placements(&self) -> Vec<(TreeId, Placement)> {
        let RelationKind::Table { tree, key, long_values } = &self.kind else { return Vec::new() };
        if self.persistence == 't' {
            return self.trees().map(|tree| (tree, Placement::BehindRows)).collect();
        }
        let mut all = vec![(*long_values, Placement::BehindRows)];
        let column = match self.key_layout(key).columns.first() {
            Some(column) => first_column(column),
            None => Some(FirstColumn { marker: 0, end: ColumnEnd::Fixed(row_id::BLOCK_BYTES) }),
        };
        let Some(column) = column else { return all };
        all.push((*tree, Placement::ByKey(column)));
        for index in self.indexes.iter().filter(|index| !index.holds_rows()) {
            let columns = self.index_layout(index).columns;
            let same = columns
                .first()
                .filter(|first| key.first() == Some(&first.column) && !first.descending);
            let placement = same.and_then(first_column).map(Placement::ByKey);
            all.push((index.tree, placement.unwrap_or(Placement::WithRows)));
        }
        all
    }

    /// The key columns of an index. The primary key's is that of the rows.
    #[must_use]
    pub fn index_layout(&self, index: &Index) -> KeyLayout {
        let columns = index
            .columns
            .iter()
            .map(|key| {
                let ty = self.key_type(index, key).oid;
                KeyColumn {
                    column: key.column,
                    ty,
                    form: Form::of(ty),
                    descending: key.descending && !index.holds_rows(),
                    nulls_first: key.nulls_first,
                    nullable: !index.holds_rows(),
                }
            })
            .collect();
        KeyLayout { columns }
    }
}
