//! What PostgreSQL 15 has built in: types, functions, operators, casts, aggregates, operator classes, and the system
//! relations with their columns, indexes, constraints, descriptions and view definitions.
//!
//! The data are `data/*.tsv`, written by `generate.py` from a running PostgreSQL 15 and committed; building needs
//! neither. Each file is compiled in as text. Two ways lead to it:
//! - [`relation`] hands out any of them row by row as text, for whoever serves them as relations;
//! - the typed tables ([`types`], [`functions`], [`operators`], ...) are parsed once, when first asked for, and borrow
//!   their strings from the compiled-in text. Binder and planner look things up there.
//!
//! Nothing here changes after it is built, so everything is `'static` and shared by all databases.

mod collations;
pub mod copy_text;
pub mod extensions;
mod index_list;
mod made;
mod operator_classes;
mod operators;
mod orderings;
mod procedures;
mod types;
pub mod well_known;

pub use collations::{collation, collation_named};
pub use copy_text::{Relation, Row, RowIter, decode as unescape, relation, relations};
pub use extensions::is_lasting;
pub use index_list::{index_name, index_named, indexes_of, is_stored};
pub use made::{
    COUNTED_END, array_of_made, counted, domain_oid, element_of_made, enum_oid, is_built_in_domain,
    is_domain, is_enum, is_made, stand_in,
};
pub use operator_classes::{
    OperatorClass, class_of_method, conversion_of, default_class_of, family_of_method,
    is_conversion, operator_class, operator_class_named, strategies_of,
};
pub use operators::{
    Cast, CastContext, CastMethod, Operator, cast, casts, casts_from, operator, operators,
    operators_named,
};
pub use orderings::{Ordering, has_equal_images, is_only_hashed, ordering};
pub use procedures::{
    Aggregate, ArgumentMode, Kind, Made, Procedure, ProcedureOf, Volatility, aggregate,
    aggregate_made_of, function, functions, functions_named, functions_of_code,
};
pub use types::{
    Type, TypeKind, array_type, collation_of, element_type, held_as, type_by_name, type_by_oid,
    types,
};

/// The OID of the schema `pg_catalog`.
pub const PG_CATALOG: u32 = 11;

/// SQL's words as the grammar of PostgreSQL 15 classes them: (word, class `U`, `C`, `T` or `R`, whether it may be a
/// label without AS), in byte order.
pub fn keywords() -> impl Iterator<Item = (&'static str, char, bool)> {
    let relation = relation("keywords").expect("keywords.tsv is compiled in");
    relation.rows().map(|row| {
        let mut fields = row.fields();
        let word = fields.next().flatten().expect("keywords.tsv has three columns");
        let class = fields.next().flatten().and_then(|field| field.chars().next());
        let bare = fields.next().flatten() == Some("t");
        (word, class.expect("keywords.tsv has three columns"), bare)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keywords_are_classed() {
        let all: Vec<_> = keywords().collect();
        assert!(all.contains(&("select", 'R', true)));
        assert!(all.contains(&("between", 'C', true)));
        assert!(all.windows(2).all(|pair| pair[0].0 < pair[1].0));
    }
}
