//! How a relation's rows and the keys of its trees are laid out: what the catalog knows, in the terms of [`sql_types::tuple`].

use super::{Index, Relation};
use sql_types::tuple::{Form, KeyColumn, KeyLayout, RowLayout};

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
