//! Words of SQL that mean the same in syntax, in the catalog and in plans: each is said once, here, so that neither has to
//! know the others.

/// A keyword that is a value: the session or the transaction knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CurrentValue {
    /// CURRENT_DATE.
    Date,
    /// CURRENT_TIME, with a precision.
    Time(Option<u8>),
    /// CURRENT_TIMESTAMP.
    Timestamp(Option<u8>),
    /// LOCALTIME.
    LocalTime(Option<u8>),
    /// LOCALTIMESTAMP.
    LocalTimestamp(Option<u8>),
    /// CURRENT_USER.
    User,
    /// CURRENT_ROLE: the same.
    Role,
    /// USER: the same.
    PlainUser,
    /// SESSION_USER.
    SessionUser,
    /// CURRENT_CATALOG.
    Catalog,
    /// CURRENT_SCHEMA.
    Schema,
}

/// The kind of a join.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JoinKind {
    /// INNER, CROSS.
    Inner,
    /// LEFT.
    Left,
    /// RIGHT.
    Right,
    /// FULL.
    Full,
    /// EXISTS or IN made a join: left rows that have a match, once.
    Semi,
    /// NOT EXISTS made a join: left rows that have none.
    Anti,
}

impl JoinKind {
    /// Whether a left row goes out alone when nothing has matched it.
    #[must_use]
    pub fn keeps_left(self) -> bool {
        matches!(self, JoinKind::Left | JoinKind::Full | JoinKind::Anti)
    }

    /// Whether a right row goes out alone when nothing has matched it.
    #[must_use]
    pub fn keeps_right(self) -> bool {
        matches!(self, JoinKind::Right | JoinKind::Full)
    }
}

/// A set operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SetKind {
    /// UNION.
    Union,
    /// INTERSECT.
    Intersect,
    /// EXCEPT.
    Except,
}

/// The unit of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameUnit {
    /// Rows.
    Rows,
    /// Values.
    Range,
    /// Peer groups.
    Groups,
}

/// EXCLUDE of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameExclude {
    /// NO OTHERS.
    NoOthers,
    /// CURRENT ROW.
    CurrentRow,
    /// GROUP.
    Group,
    /// TIES.
    Ties,
}

/// Which conditions a view's new rows must meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckOption {
    /// LOCAL: its own.
    Local,
    /// CASCADED: also those of the views that it reads.
    Cascaded,
}

/// When a constraint is checked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Deferral {
    /// NOT DEFERRABLE: a key with each row, a foreign key no later than with the statement's end.
    #[default]
    Never,
    /// DEFERRABLE INITIALLY IMMEDIATE: at the statement's end, unless SET CONSTRAINTS says otherwise.
    Immediate,
    /// DEFERRABLE INITIALLY DEFERRED: before the commit, unless SET CONSTRAINTS says otherwise.
    Deferred,
}

impl Deferral {
    /// DEFERRABLE.
    #[must_use]
    pub fn is_deferrable(self) -> bool {
        self != Deferral::Never
    }

    /// INITIALLY DEFERRED.
    #[must_use]
    pub fn is_deferred(self) -> bool {
        self == Deferral::Deferred
    }
}

/// MATCH of a foreign key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MatchType {
    /// Any NULL passes.
    Simple,
    /// All NULL, or none.
    Full,
}

/// What a foreign key does when its parent goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// NO ACTION: checked at the statement's end.
    NoAction,
    /// RESTRICT: checked at once.
    Restrict,
    /// CASCADE.
    Cascade,
    /// SET NULL.
    SetNull,
    /// SET DEFAULT.
    SetDefault,
}

/// What happens to a temporary table at commit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnCommit {
    /// PRESERVE ROWS.
    #[default]
    Preserve,
    /// DELETE ROWS.
    Delete,
    /// DROP.
    Drop,
}
