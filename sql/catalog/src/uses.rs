//! What a plan was made from: each question that was asked of the catalog while it was made, with the answer.
//!
//! The plan is good as long as the answers are the same. A change of anything else, be it a table that nobody asked about, a
//! comment, a role, a temporary table of the session, makes nothing anew. PostgreSQL has the same as lists of OIDs that
//! invalidation messages are held against (`plancache.c`); it invalidates a plan with each change of a relation in it, and
//! all plans with each change of some catalogs. Names that were looked up are answers too: a table that comes to stand
//! before another one in the search path makes the plan anew, and one that stands behind it does not.
//!
//! Recording is the snapshot's: one that binder and planner are given notes what it is asked ([`CatalogSnapshot::recording`]).
//! A question that has no place here counts as all that there is: the plan is good for that state only.

use crate::acl::Acl;
use crate::attachment::{UserCast, UserOperator};
use crate::codec;
use crate::extension::Extension;
use crate::object::{Object, well_known};
use crate::operator_class::{OperatorFamily, UserOperatorClass};
use crate::relation::Relation;
use crate::routine::Routine;
use crate::snapshot::{CatalogSnapshot, Named};
use crate::statistics::TableStatistics;
use crate::user_type::UserType;
use rustc_hash::FxHashMap;
use sql_types::Oid;
use std::sync::Arc;
use txn::sync::{Mutex, lock, rank};

/// A question.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Question {
    /// A relation by OID.
    Relation(Oid),
    /// A type that users made, by OID.
    Type(Oid),
    /// What ANALYZE found out about a table.
    Statistics(Oid),
    /// A schema by OID, or by name: which one it is, and what it is called.
    Schema(Oid),
    SchemaNamed(Box<str>),
    /// What a name stands for along the search path.
    Found(Box<str>),
    /// What a name stands for in a schema, as a relation or as a type.
    Named(Oid, Box<str>),
    TypeNamed(Oid, Box<str>),
    /// The relation of a row type.
    RowType(Oid),
    /// Who may do what with an object that has no list of its own.
    Acl(Oid, u32),
    /// The routines of a name.
    Routines(Box<str>),
    /// An operator by OID, and those of a name.
    Operator(Oid),
    Operators(Box<str>),
    /// The casts that users made.
    Casts,
    /// The operator classes that users made.
    OperatorClasses,
    /// The operator families that users made.
    OperatorFamilies,
    /// The extension of a name: whether its members are there, and in which schema.
    Extension(Box<str>),
}

/// An answer.
#[derive(Clone, Debug)]
enum Answer {
    Relation(Option<Arc<Relation>>),
    Type(Option<Arc<UserType>>),
    Statistics(Option<Arc<TableStatistics>>),
    Schema(Option<(Oid, Arc<str>)>),
    Named(Option<Named>),
    Oid(Option<Oid>),
    Acl(Option<Arc<Acl>>),
    Routines(Vec<Arc<Routine>>),
    Operators(Vec<Arc<UserOperator>>),
    Casts(Vec<Arc<UserCast>>),
    OperatorClasses(Vec<Arc<UserOperatorClass>>),
    OperatorFamilies(Vec<Arc<OperatorFamily>>),
    Extension(Option<Arc<Extension>>),
}

/// Whether two are there and `same`, or neither is.
fn both<T>(one: Option<&Arc<T>>, other: Option<&Arc<T>>, same: impl Fn(&T, &T) -> bool) -> bool {
    match (one, other) {
        (None, None) => true,
        (Some(one), Some(other)) => Arc::ptr_eq(one, other) || same(one, other),
        _ => false,
    }
}

/// Whether relations are the same but for who may do what with them, which is asked when a plan runs.
fn alike(one: &Relation, other: &Relation) -> bool {
    let own = |relation: &Relation| {
        let own = Relation { acl: None, indexes: Vec::new(), ..relation.clone() };
        codec::encode(&Object::Relation(Arc::new(own)))
    };
    one.schema == other.schema
        && one.lock == other.lock
        && one.row_estimate.to_bits() == other.row_estimate.to_bits()
        && one.referenced_by == other.referenced_by
        && one.indexes == other.indexes
        && own(one) == own(other)
}

impl Answer {
    fn same(&self, other: &Answer) -> bool {
        match (self, other) {
            (Answer::Relation(one), Answer::Relation(other)) => {
                both(one.as_ref(), other.as_ref(), alike)
            }
            (Answer::Type(one), Answer::Type(other)) => {
                both(one.as_ref(), other.as_ref(), |one, other| one == other)
            }
            (Answer::Statistics(one), Answer::Statistics(other)) => {
                both(one.as_ref(), other.as_ref(), |_, _| false)
            }
            (Answer::Schema(one), Answer::Schema(other)) => one == other,
            (Answer::Named(one), Answer::Named(other)) => one == other,
            (Answer::Oid(one), Answer::Oid(other)) => one == other,
            (Answer::Acl(one), Answer::Acl(other)) => one == other,
            (Answer::Routines(one), Answer::Routines(other)) => one == other,
            (Answer::Operators(one), Answer::Operators(other)) => one == other,
            (Answer::Casts(one), Answer::Casts(other)) => one == other,
            (Answer::OperatorClasses(one), Answer::OperatorClasses(other)) => one == other,
            (Answer::OperatorFamilies(one), Answer::OperatorFamilies(other)) => one == other,
            (Answer::Extension(one), Answer::Extension(other)) => one == other,
            _ => false,
        }
    }
}

impl Question {
    fn ask(&self, snapshot: &CatalogSnapshot, path: &[Oid]) -> Answer {
        match self {
            Question::Relation(oid) => Answer::Relation(snapshot.relation(*oid).cloned()),
            Question::Type(oid) => Answer::Type(snapshot.user_type(*oid).cloned()),
            Question::Statistics(oid) => Answer::Statistics(snapshot.statistics(*oid).cloned()),
            Question::Schema(oid) => {
                let found = snapshot.schema_by_oid(*oid);
                Answer::Schema(found.map(|found| (found.oid, Arc::clone(&found.name))))
            }
            Question::SchemaNamed(name) => {
                let found = snapshot.schema(name);
                Answer::Schema(found.map(|found| (found.oid, Arc::clone(&found.name))))
            }
            Question::Found(name) => Answer::Named(snapshot.find(path, name)),
            Question::Named(schema, name) => Answer::Named(snapshot.named(*schema, name)),
            Question::TypeNamed(schema, name) => Answer::Oid(snapshot.type_named(*schema, name)),
            Question::Acl(oid, sub) => Answer::Acl(snapshot.acl(*oid, *sub).cloned()),
            Question::Routines(name) => Answer::Routines(snapshot.routines_named(name)),
            Question::Operator(oid) => {
                Answer::Operators(snapshot.user_operator(*oid).cloned().into_iter().collect())
            }
            Question::Operators(name) => {
                let named = snapshot.user_operators_named(name);
                Answer::Operators(named.into_iter().cloned().collect())
            }
            Question::Casts => Answer::Casts(snapshot.user_casts().cloned().collect()),
            Question::OperatorClasses => {
                Answer::OperatorClasses(snapshot.user_operator_classes().cloned().collect())
            }
            Question::OperatorFamilies => {
                Answer::OperatorFamilies(snapshot.operator_families().cloned().collect())
            }
            Question::Extension(name) => Answer::Extension(snapshot.extension(name).cloned()),
            Question::RowType(ty) => Answer::Oid(snapshot.row_type(*ty).map(|found| found.oid)),
        }
    }

    /// The name that it asks about along the search path, or that may have been one of those asked there.
    fn name(&self) -> Option<&str> {
        match self {
            Question::Found(name) | Question::Named(_, name) | Question::TypeNamed(_, name) => {
                Some(name)
            }
            _ => None,
        }
    }
}

/// Notes what a snapshot is asked.
#[derive(Debug)]
pub(super) struct Recorder {
    path: Arc<[Oid]>,
    read: Mutex<ReadSet, { rank::PLANS }>,
}

/// What has been read of it: the questions that were answered.
#[derive(Debug, Default)]
struct ReadSet {
    questions: FxHashMap<Question, ()>,
    /// Something that depends on all objects of the database.
    objects: bool,
    /// Something that depends on what all databases share.
    shared: bool,
}

impl Recorder {
    pub(super) fn new(path: Arc<[Oid]>) -> Recorder {
        Recorder { path, read: Mutex::default() }
    }

    /// Whether these are the schemas of the search path.
    pub(super) fn is_path(&self, schemas: &[Oid]) -> bool {
        *self.path == *schemas
    }

    pub(super) fn note(&self, question: Question) {
        lock(&self.read).questions.insert(question, ());
    }

    pub(super) fn note_objects(&self) {
        lock(&self.read).objects = true;
    }

    pub(super) fn note_shared(&self) {
        lock(&self.read).shared = true;
    }
}

/// What a plan was made from.
#[derive(Debug, Default)]
pub struct Uses {
    answers: Vec<(Question, Answer)>,
    /// The state of the database's objects, or of what all databases share, where all of it counts.
    objects: Option<u64>,
    shared: Option<u64>,
    path: Arc<[Oid]>,
}

impl Uses {
    /// What has been asked of a snapshot that records it.
    #[must_use]
    pub fn of(snapshot: &CatalogSnapshot) -> Uses {
        let Some(recorder) = snapshot.recorder() else {
            let (objects, shared) = snapshot.version();
            return Uses { objects: Some(objects), shared: Some(shared), ..Uses::default() };
        };
        let read = std::mem::take(&mut *lock(&recorder.read));
        let plain = snapshot.plain();
        let answers = read.questions.into_keys().map(|question| {
            let answer = question.ask(&plain, &recorder.path);
            (question, answer)
        });
        let (objects, shared) = snapshot.version();
        Uses {
            answers: answers.collect(),
            objects: read.objects.then_some(objects),
            shared: read.shared.then_some(shared),
            path: Arc::clone(&recorder.path),
        }
    }

    /// Whether a snapshot gives the same answers, names being looked up along `path`.
    #[must_use]
    pub fn hold(&self, snapshot: &CatalogSnapshot, path: &[Oid]) -> bool {
        let (objects, shared) = snapshot.version();
        self.objects.is_none_or(|state| state == objects)
            && self.shared.is_none_or(|state| state == shared)
            && self.allow(snapshot, path)
            && self
                .answers
                .iter()
                .all(|(question, answer)| answer.same(&question.ask(snapshot, path)))
    }

    /// Whether names mean the same along another path: it may have a schema of temporary objects that has none of them, or
    /// lack one.
    fn allow(&self, snapshot: &CatalogSnapshot, path: &[Oid]) -> bool {
        if *self.path == *path {
            return true;
        }
        let lasting = |schema: &&Oid| {
            let temporary = snapshot.temporary_schema().is_some_and(|found| found.oid == **schema);
            !temporary
                && (schema.0 < well_known::FIRST_NORMAL
                    || snapshot.schema_by_oid(**schema).is_some())
        };
        let names_are_free = |schema: Oid| {
            let mut names = self.answers.iter().filter_map(|(question, _)| question.name());
            names.all(|name| {
                snapshot.named(schema, name).is_none()
                    && snapshot.type_named(schema, name).is_none()
            })
        };
        self.path.iter().filter(lasting).eq(path.iter().filter(lasting))
            && snapshot
                .temporary_schema()
                .is_none_or(|schema| self.path.contains(&schema.oid) || names_are_free(schema.oid))
    }
}
