//! What users made that stands on functions and types and is no routine itself: operators, casts, event triggers,
//! operator classes and families, conversions.
//!
//! PostgreSQL has a catalog for each (`pg_operator`, `pg_cast`, `pg_event_trigger`) and finds what stands on what by
//! `pg_depend`. Here each says itself what it needs ([`Attachment::needs`]), so that DROP, `pg_depend` and what a role
//! owns treat all kinds alike.

use crate::builtin::{self, CastContext, CastMethod};
use crate::definition::Edge;
use crate::object::{Class, Object, well_known};
use crate::operator_class::{Conversion, OperatorFamily, UserOperatorClass};
use crate::snapshot::CatalogSnapshot;
use sql_types::Oid;
use std::borrow::Cow;
use std::sync::Arc;

/// An operator: a row of `pg_operator`. One without a function is a shell: others have named it.
#[derive(Clone, Debug, PartialEq)]
pub struct UserOperator {
    /// Its OID.
    pub oid: Oid,
    /// Its schema.
    pub schema: Oid,
    /// Its name.
    pub name: Arc<str>,
    /// Its owner.
    pub owner: Oid,
    /// LEFTARG; 0 where it stands in front of its one operand.
    pub left: Oid,
    /// RIGHTARG.
    pub right: Oid,
    /// The type of its result.
    pub result: Oid,
    /// COMMUTATOR.
    pub commutator: Oid,
    /// NEGATOR.
    pub negator: Oid,
    /// FUNCTION.
    pub function: Oid,
    /// RESTRICT.
    pub restrict: Oid,
    /// JOIN.
    pub join: Oid,
    /// MERGES.
    pub can_merge: bool,
    /// HASHES.
    pub can_hash: bool,
}

/// A cast: a row of `pg_cast`.
#[derive(Clone, Debug, PartialEq)]
pub struct UserCast {
    /// Its OID.
    pub oid: Oid,
    /// From.
    pub source: Oid,
    /// To.
    pub target: Oid,
    /// WITH FUNCTION; 0 if it needs none.
    pub function: Oid,
    /// `castcontext`: i, a or e.
    pub context: u8,
    /// `castmethod`: f, i or b.
    pub method: u8,
}

/// A cast, built in or users', as who looks for a way asks it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CastOf {
    /// The function, 0 if it needs none.
    pub function: Oid,
    /// Where it may be made.
    pub context: CastContext,
    /// How it is made.
    pub method: CastMethod,
}

/// An event trigger: a row of `pg_event_trigger`.
#[derive(Clone, Debug, PartialEq)]
pub struct EventTrigger {
    /// Its OID.
    pub oid: Oid,
    /// Its name.
    pub name: Arc<str>,
    /// Its owner.
    pub owner: Oid,
    /// `evtevent`: `ddl_command_start` and its kin.
    pub event: Arc<str>,
    /// EXECUTE FUNCTION.
    pub function: Oid,
    /// WHEN TAG IN; none for every command.
    pub tags: Vec<String>,
    /// `evtenabled`: O, D, R or A.
    pub enabled: u8,
}

/// One of them.
#[derive(Clone, Debug)]
pub enum Attachment {
    /// An operator.
    Operator(Arc<UserOperator>),
    /// A cast.
    Cast(Arc<UserCast>),
    /// An event trigger.
    EventTrigger(Arc<EventTrigger>),
    /// An operator class.
    Class(Arc<UserOperatorClass>),
    /// An operator family.
    Family(Arc<OperatorFamily>),
    /// A conversion.
    Conversion(Arc<Conversion>),
}

impl Attachment {
    /// Its class.
    #[must_use]
    pub fn class(&self) -> Class {
        match self {
            Attachment::Operator(_) => Class::Operator,
            Attachment::Cast(_) => Class::Cast,
            Attachment::EventTrigger(_) => Class::EventTrigger,
            Attachment::Class(_) => Class::OperatorClass,
            Attachment::Family(_) => Class::OperatorFamily,
            Attachment::Conversion(_) => Class::Conversion,
        }
    }

    /// The system table that it stands in.
    #[must_use]
    pub fn table(&self) -> Oid {
        Oid(match self {
            Attachment::Operator(_) => 2617,
            Attachment::Cast(_) => 2605,
            Attachment::EventTrigger(_) => 3466,
            Attachment::Class(_) => 2616,
            Attachment::Family(_) => 2753,
            Attachment::Conversion(_) => 2607,
        })
    }

    /// Its OID.
    #[must_use]
    pub fn oid(&self) -> Oid {
        match self {
            Attachment::Operator(operator) => operator.oid,
            Attachment::Cast(cast) => cast.oid,
            Attachment::EventTrigger(trigger) => trigger.oid,
            Attachment::Class(class) => class.oid,
            Attachment::Family(family) => family.oid,
            Attachment::Conversion(conversion) => conversion.oid,
        }
    }

    /// Its schema, if it is in one.
    #[must_use]
    pub fn schema(&self) -> Option<Oid> {
        match self {
            Attachment::Operator(operator) => Some(operator.schema),
            Attachment::Class(class) => Some(class.schema),
            Attachment::Family(family) => Some(family.schema),
            Attachment::Conversion(conversion) => Some(conversion.schema),
            Attachment::Cast(_) | Attachment::EventTrigger(_) => None,
        }
    }

    /// Its name, if it has one.
    #[must_use]
    pub fn name(&self) -> Option<&Arc<str>> {
        match self {
            Attachment::Operator(operator) => Some(&operator.name),
            Attachment::Cast(_) => None,
            Attachment::EventTrigger(trigger) => Some(&trigger.name),
            Attachment::Class(class) => Some(&class.name),
            Attachment::Family(family) => Some(&family.name),
            Attachment::Conversion(conversion) => Some(&conversion.name),
        }
    }

    /// An operator class or family in another schema, or under another name.
    #[must_use]
    pub fn renamed(&self, schema: Oid, name: &Arc<str>) -> Attachment {
        let name = Arc::clone(name);
        match self {
            Attachment::Class(class) => Attachment::Class(Arc::new(UserOperatorClass {
                schema,
                name,
                ..UserOperatorClass::clone(class)
            })),
            Attachment::Family(family) => Attachment::Family(Arc::new(OperatorFamily {
                schema,
                name,
                ..OperatorFamily::clone(family)
            })),
            other => other.clone(),
        }
    }

    /// Its owner, if it has one.
    #[must_use]
    pub fn owner(&self) -> Option<Oid> {
        match self {
            Attachment::Operator(operator) => Some(operator.owner),
            Attachment::Cast(_) => None,
            Attachment::EventTrigger(trigger) => Some(trigger.owner),
            Attachment::Class(class) => Some(class.owner),
            Attachment::Family(family) => Some(family.owner),
            Attachment::Conversion(conversion) => Some(conversion.owner),
        }
    }

    /// The same as another's.
    #[must_use]
    pub fn with_owner(&self, owner: Oid) -> Attachment {
        match self {
            Attachment::Operator(operator) => Attachment::Operator(Arc::new(UserOperator {
                owner,
                ..UserOperator::clone(operator)
            })),
            Attachment::Cast(cast) => Attachment::Cast(Arc::clone(cast)),
            Attachment::EventTrigger(trigger) => Attachment::EventTrigger(Arc::new(EventTrigger {
                owner,
                ..EventTrigger::clone(trigger)
            })),
            Attachment::Class(class) => Attachment::Class(Arc::new(UserOperatorClass {
                owner,
                ..UserOperatorClass::clone(class)
            })),
            Attachment::Family(family) => Attachment::Family(Arc::new(OperatorFamily {
                owner,
                ..OperatorFamily::clone(family)
            })),
            Attachment::Conversion(conversion) => Attachment::Conversion(Arc::new(Conversion {
                owner,
                ..Conversion::clone(conversion)
            })),
        }
    }

    /// It as the catalog keeps it.
    #[must_use]
    pub fn object(&self) -> Object {
        match self {
            Attachment::Operator(operator) => Object::Operator(Arc::clone(operator)),
            Attachment::Cast(cast) => Object::Cast(Arc::clone(cast)),
            Attachment::EventTrigger(trigger) => Object::EventTrigger(Arc::clone(trigger)),
            Attachment::Class(class) => Object::OperatorClass(Arc::clone(class)),
            Attachment::Family(family) => Object::OperatorFamily(Arc::clone(family)),
            Attachment::Conversion(conversion) => Object::Conversion(Arc::clone(conversion)),
        }
    }

    /// What it stands on, each once: what is built in and stays for good is left out.
    #[must_use]
    pub fn needs(&self) -> Vec<Edge> {
        let mut operators = Vec::new();
        let (types, functions) = match self {
            Attachment::Operator(one) => {
                (vec![one.left, one.right, one.result], vec![one.function, one.restrict, one.join])
            }
            Attachment::Cast(cast) => (vec![cast.source, cast.target], vec![cast.function]),
            Attachment::EventTrigger(trigger) => (Vec::new(), vec![trigger.function]),
            Attachment::Class(class) => {
                let (functions, own): (Vec<_>, Vec<_>) =
                    class.members.iter().filter(|one| one.hard).partition(|one| one.is_function);
                operators.extend(own.iter().map(|one| one.object));
                let functions = functions.iter().map(|one| one.object).collect();
                (vec![class.input, class.storage], functions)
            }
            Attachment::Family(_) => (Vec::new(), Vec::new()),
            Attachment::Conversion(conversion) => (Vec::new(), vec![conversion.function]),
        };
        let lasts = |oid: Oid| oid.0 < well_known::FIRST_NORMAL;
        let types = types.into_iter().filter(|ty| ty.0 != 0 && !builtin::is_lasting(ty.0));
        let functions = functions.into_iter().filter(|oid| !lasts(*oid));
        let operators = operators.into_iter().filter(|oid| !lasts(*oid)).map(Edge::Operator);
        let mut needs: Vec<Edge> =
            types.map(Edge::Type).chain(functions.map(Edge::Function)).chain(operators).collect();
        needs.sort();
        needs.dedup();
        needs
    }

    /// How others lead to it.
    #[must_use]
    pub fn edge(&self) -> Option<Edge> {
        match self {
            Attachment::Operator(operator) => Some(Edge::Operator(operator.oid)),
            Attachment::Cast(cast) => Some(Edge::Cast(cast.oid)),
            Attachment::EventTrigger(_)
            | Attachment::Class(_)
            | Attachment::Family(_)
            | Attachment::Conversion(_) => None,
        }
    }
}

/// An operator, built in or users'.
#[derive(Clone, Copy, Debug)]
pub struct OperatorOf<'n> {
    /// Its OID.
    pub oid: Oid,
    /// Its schema.
    pub schema: Oid,
    /// Its name.
    pub name: &'n str,
    /// The types of its operands; the left one is 0 where it stands in front of its one operand.
    pub left: u32,
    /// The right one.
    pub right: u32,
    /// The type of its result.
    pub result: u32,
    /// Its function, 0 of a shell.
    pub function: Oid,
    /// The same with its operands exchanged, 0 if none.
    pub commutator: Oid,
    /// Its negation, 0 if none.
    pub negator: Oid,
    /// Whether a user made it.
    pub made: bool,
}

impl<'n> OperatorOf<'n> {
    fn built_in(found: &'static builtin::Operator, schema: Oid) -> OperatorOf<'n> {
        OperatorOf {
            oid: Oid(found.oid),
            schema,
            name: found.name,
            left: found.left,
            right: found.right,
            result: found.result,
            function: Oid(found.function),
            commutator: Oid(found.commutator),
            negator: Oid(found.negator),
            made: false,
        }
    }

    fn user(found: &'n UserOperator) -> OperatorOf<'n> {
        OperatorOf {
            oid: found.oid,
            schema: found.schema,
            name: &found.name,
            left: found.left.0,
            right: found.right.0,
            result: found.result.0,
            function: found.function,
            commutator: found.commutator,
            negator: found.negator,
            made: true,
        }
    }

    /// Whether it stands in front of its one operand.
    #[must_use]
    pub fn is_prefix(&self) -> bool {
        self.left == 0
    }
}

impl CatalogSnapshot {
    /// An operator.
    #[must_use]
    pub fn operator(&self, oid: Oid) -> Option<OperatorOf<'_>> {
        match builtin::operator(oid.0) {
            Some(found) => {
                Some(OperatorOf::built_in(found, self.member_schema(oid.0).unwrap_or(Oid(0))))
            }
            None => self.user_operator(oid).map(|found| OperatorOf::user(found)),
        }
    }

    /// The operators of a name that this database has, in whatever schema: those in front of one operand, or between two.
    #[must_use]
    pub fn operators_named(&self, name: &str, prefix: bool) -> Vec<OperatorOf<'_>> {
        let built_in = builtin::operators_named(name, prefix).iter();
        let built_in = built_in
            .filter_map(|found| Some(OperatorOf::built_in(found, self.member_schema(found.oid)?)));
        let made = self.user_operators_named(name).into_iter();
        let made = made.map(|found| OperatorOf::user(found));
        built_in.chain(made.filter(|found| found.is_prefix() == prefix)).collect()
    }

    /// The operators of a name along a path, the first schema's first; one hides those of later schemas that take the same.
    #[must_use]
    pub fn operators_along(&self, path: &[Oid], name: &str, prefix: bool) -> Vec<OperatorOf<'_>> {
        // What is built in is found before all others, unless the path says otherwise.
        let place = |schema: Oid| match path.iter().position(|known| *known == schema) {
            Some(at) => Some(at + 1),
            None => (schema == well_known::PG_CATALOG).then_some(0),
        };
        let mut found = self.operators_named(name, prefix);
        found.retain(|one| place(one.schema).is_some() && !self.is_temporary_schema(one.schema));
        if found.iter().any(|one| one.schema != well_known::PG_CATALOG) {
            found.sort_by_key(|one| place(one.schema));
            let mut seen = Vec::with_capacity(found.len());
            found.retain(|one| {
                let takes = (one.left, one.right);
                let new = !seen.contains(&takes);
                seen.push(takes);
                new
            });
        }
        found
    }

    /// The cast from one type to another.
    #[must_use]
    pub fn cast(&self, source: Oid, target: Oid) -> Option<CastOf> {
        if let Some(found) = builtin::cast(source.0, target.0) {
            let (function, context, method) = (Oid(found.function), found.context, found.method);
            return Some(CastOf { function, context, method });
        }
        let found = self.user_cast(source, target)?;
        Some(CastOf {
            function: found.function,
            context: match found.context {
                b'i' => CastContext::Implicit,
                b'a' => CastContext::Assignment,
                _ => CastContext::Explicit,
            },
            method: match found.method {
                b'b' => CastMethod::Binary,
                b'i' => CastMethod::InOut,
                _ => CastMethod::Function,
            },
        })
    }

    /// An operator as messages about objects name it, by its name and operands: `===(boolean,boolean)`.
    #[must_use]
    pub fn operator_shown(
        &self,
        path: &[Oid],
        found: &OperatorOf<'_>,
        shown: &dyn Fn(Oid) -> String,
    ) -> String {
        let side = |ty: u32| if ty == 0 { "NONE".to_owned() } else { shown(Oid(ty)) };
        let name = self.operator_name(path, found);
        format!("{name}({},{})", side(found.left), side(found.right))
    }

    /// An operator's name, behind its schema where the path does not find it.
    #[must_use]
    pub fn operator_name<'n>(&self, path: &[Oid], found: &OperatorOf<'n>) -> Cow<'n, str> {
        let along = self.operators_along(path, found.name, found.is_prefix());
        let hidden = !along.iter().any(|one| one.oid == found.oid);
        match self.schema_by_oid(found.schema).filter(|_| hidden) {
            Some(schema) => {
                Cow::Owned(format!("{}.{}", crate::quote::identifier(&schema.name), found.name))
            }
            None => Cow::Borrowed(found.name),
        }
    }

    /// What users made of this edge: what needs it.
    #[must_use]
    pub fn attached_to(&self, edge: Edge) -> Vec<Attachment> {
        self.attachments().filter(|one| one.needs().contains(&edge)).collect()
    }
}
