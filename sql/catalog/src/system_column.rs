//! The columns that every table has and no definition names (manual, section 5.5).

use sql_types::Oid;

/// A column that every table has.
#[derive(Clone, Copy, Debug)]
pub struct SystemColumn {
    /// Its `attnum`: below 0.
    pub number: i16,
    /// Its name, which no other column of a table may have.
    pub name: &'static str,
    /// Its type.
    pub ty: Oid,
}

/// The `attnum` of `xmin`.
pub const XMIN: i16 = -2;

/// The `attnum` of `tableoid`.
pub const TABLE_OID: i16 = -6;

/// All of them.
pub const SYSTEM_COLUMNS: [SystemColumn; 6] = [
    SystemColumn { number: -1, name: "ctid", ty: Oid(27) },
    SystemColumn { number: -2, name: "xmin", ty: Oid(28) },
    SystemColumn { number: -3, name: "cmin", ty: Oid(29) },
    SystemColumn { number: -4, name: "xmax", ty: Oid(28) },
    SystemColumn { number: -5, name: "cmax", ty: Oid(29) },
    SystemColumn { number: TABLE_OID, name: "tableoid", ty: Oid(26) },
];

/// The one with this `attnum`.
///
/// # Panics
/// There is none.
#[must_use]
pub fn system_column(number: i16) -> SystemColumn {
    let found = SYSTEM_COLUMNS.iter().find(|column| column.number == number);
    *found.unwrap_or_else(|| panic!("no system column has the number {number}"))
}

/// The `attnum` of the one of this name.
#[must_use]
pub fn system_number(name: &str) -> Option<i16> {
    SYSTEM_COLUMNS.iter().find(|column| column.name == name).map(|column| column.number)
}

/// Whether a name is one of theirs.
#[must_use]
pub fn is_system_column(name: &str) -> bool {
    system_number(name).is_some()
}
