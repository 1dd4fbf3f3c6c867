//! Which function implements which row of `pg_proc`.
//!
//! Each module lists its own; here they are put together into one table by OID, once. What is not listed is not
//! implemented, and whoever compiles a call of it reports 0A000 with its name.

use super::function::Callable;
use std::sync::LazyLock;

/// All lists.
const LISTS: &[&[(u32, Callable)]] = &[
    super::aggregate::accumulate::FUNCTIONS,
    super::arithmetic::FLOATS,
    super::arithmetic::FLOAT_FUNCTIONS,
    super::arithmetic::INTEGERS,
    super::arithmetic::INTEGER_FUNCTIONS,
    super::array::functions::FUNCTIONS,
    super::array::compare::FUNCTIONS,
    super::bits::FUNCTIONS,
    super::citext::FUNCTIONS,
    super::contrib::cube::FUNCTIONS,
    super::contrib::earthdistance::FUNCTIONS,
    super::contrib::triggers::FUNCTIONS,
    super::contrib::fuzzystrmatch::FUNCTIONS,
    super::contrib::hstore::FUNCTIONS,
    super::contrib::intarray::FUNCTIONS,
    super::contrib::ltree::FUNCTIONS,
    super::contrib::pg_trgm::FUNCTIONS,
    super::contrib::tablefunc::FUNCTIONS,
    super::contrib::unaccent::FUNCTIONS,
    super::crypto::FUNCTIONS,
    super::comparison::FUNCTIONS,
    super::comparison::MORE,
    super::datetime::field::FUNCTIONS,
    super::datetime::from_pattern::FUNCTIONS,
    super::datetime::functions::FUNCTIONS,
    super::datetime::pattern::FUNCTIONS,
    super::datetime::timetz::FUNCTIONS,
    super::enums::FUNCTIONS,
    super::hash::FUNCTIONS,
    super::in_range::FUNCTIONS,
    super::json::access::FUNCTIONS,
    super::json::build::FUNCTIONS,
    super::json::change::FUNCTIONS,
    super::json::populate::FUNCTIONS,
    super::json::sets::FUNCTIONS,
    super::jsonpath::functions::FUNCTIONS,
    super::lsn::FUNCTIONS,
    super::network::FUNCTIONS,
    super::numeric::functions::FUNCTIONS,
    super::numeric::to_char::FUNCTIONS,
    super::numeric::to_number::FUNCTIONS,
    super::record_order::FUNCTIONS,
    super::sample::FUNCTIONS,
    super::series::FUNCTIONS,
    super::session_facts::FUNCTIONS,
    super::catalog_foreign_keys::FUNCTIONS,
    super::session_sets::FUNCTIONS,
    super::sizes::FUNCTIONS,
    super::text::build::FUNCTIONS,
    super::text::bytes::FUNCTIONS,
    super::text::cut::FUNCTIONS,
    super::text::encode::FUNCTIONS,
    super::text::format::FUNCTIONS,
    super::text::encoding::FUNCTIONS,
    super::text::like::FUNCTIONS,
    super::text::normal::FUNCTIONS,
    super::text::occurrences::FUNCTIONS,
    super::text::quote::FUNCTIONS,
    super::text::regular::FUNCTIONS,
    super::trigonometry::FUNCTIONS,
    super::uuid_ossp::FUNCTIONS,
    super::xact::FUNCTIONS,
    super::xml::FUNCTIONS,
    super::xml::xpath::FUNCTIONS,
];

static BY_OID: LazyLock<Box<[(u32, Callable)]>> = LazyLock::new(|| {
    let mut all: Box<[(u32, Callable)]> =
        LISTS.iter().flat_map(|list| list.iter().copied()).collect();
    all.sort_by_key(|(oid, _)| *oid);
    all
});

/// The implementation of the `pg_proc` row with this OID; none: it has none (yet).
#[must_use]
pub fn function(oid: u32) -> Option<Callable> {
    let all = &*BY_OID;
    all.binary_search_by_key(&oid, |(oid, _)| *oid).ok().map(|i| all[i].1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::builtin;

    #[test]
    fn every_function_is_listed_once_and_exists() {
        let all = &*BY_OID;
        for pair in all.windows(2) {
            assert_ne!(pair[0].0, pair[1].0, "listed twice");
        }
        for (oid, callable) in all {
            let procedure =
                builtin::function(*oid).unwrap_or_else(|| panic!("no pg_proc row {oid}"));
            let set = matches!(callable, Callable::Set(_));
            assert_eq!(set, procedure.returns_set, "{} {oid}", procedure.name);
        }
    }
}
