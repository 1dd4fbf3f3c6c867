//! What the homes of a program are called: a column by its relation's name in the query, anything else by what fills it.
//!
//! Names are made unlike each other as PostgreSQL does it (`select_rtable_names_for_explain`): the second `t` is `t_1`.

use crate::bind::Quantifier;
use crate::catalog::builtin;
use crate::catalog::quote::identifier;
use crate::catalog::system_column::system_column;
use crate::compile::Program;
use crate::plan::physical::{
    Aggregate, AggregateStep, CteScan, FunctionScan, Modify, ModifyKind, Plan, ScanColumn, SetCall,
    SetColumn, SetOperation, Window, WindowFunction, WindowStep,
};
use crate::plan::subplan::SubplanKind;
use crate::plan::{Scalar, Var, vars};
use crate::types::SqlType;
use std::collections::{BTreeMap, HashMap, HashSet};

/// What fills a slot.
enum Rows<'p> {
    Table(&'p crate::catalog::Relation, &'p [ScanColumn]),
    Function(&'p FunctionScan),
    Values(&'p [Vec<Scalar>]),
    Constants,
    Cte(&'p CteScan),
    Project(&'p [Scalar]),
    ProjectSet(&'p [SetColumn]),
    Aggregate(&'p Aggregate),
    Window(&'p Window),
    Set(&'p SetOperation),
    /// The new row of a modification.
    New(&'p Modify),
}

/// What a home holds.
pub(super) enum Home<'p> {
    /// A column: its relation's name in the query, its own, its type.
    Column(String, String, SqlType),
    /// What a scalar computes.
    Value(&'p Scalar),
    /// What a set-returning call gives.
    Set(&'p SetCall),
    /// A group's key.
    Key(&'p Scalar),
    /// An aggregate.
    Aggregate(&'p AggregateStep),
    /// A window function.
    Window(&'p WindowStep),
    /// What another home holds.
    Through(Var),
    /// A value of the machinery's own.
    Hidden,
}

/// The names of a program's homes.
pub(super) struct Names<'p> {
    program: &'p Program,
    slots: HashMap<u32, Rows<'p>>,
    aliases: HashMap<u32, String>,
}

impl<'p> Names<'p> {
    pub fn of(program: &'p Program) -> Names<'p> {
        let mut names = Names { program, slots: HashMap::new(), aliases: HashMap::new() };
        let mut taken = HashSet::new();
        // The statement's own relations are named before those of its subqueries.
        names.enter(&program.plan, &mut taken);
        for cte in &program.ctes {
            cte.body.parts().into_iter().for_each(|(plan, _)| names.enter(plan, &mut taken));
        }
        for subplan in &program.subplans {
            names.enter(&subplan.plan, &mut taken);
        }
        names
    }

    fn enter(&mut self, plan: &'p Plan, taken: &mut HashSet<String>) {
        // A slot's number follows the place of its relation in the text.
        let mut found: BTreeMap<u32, &'p str> = BTreeMap::new();
        let mut target: Option<(u32, &'p str)> = None;
        each(plan, &mut |node| {
            let (slot, rows) = match node {
                Plan::Scan(scan) => {
                    found.insert(scan.slot, &scan.alias);
                    (scan.slot, Rows::Table(&scan.relation, &scan.outputs))
                }
                Plan::System(scan) => {
                    found.insert(scan.slot, &scan.alias);
                    (scan.slot, Rows::Table(&scan.relation, &scan.outputs))
                }
                Plan::Function(scan) => {
                    found.insert(scan.slot, &scan.alias);
                    (scan.slot, Rows::Function(scan))
                }
                Plan::Values(slot, rows) => {
                    if rows.len() > 1 {
                        found.insert(*slot, "*VALUES*");
                    }
                    (*slot, Rows::Values(rows))
                }
                Plan::Constants(slot, _) => {
                    found.insert(*slot, "*VALUES*");
                    (*slot, Rows::Constants)
                }
                Plan::Cte(scan) => {
                    found.insert(scan.slot, &scan.alias);
                    (scan.slot, Rows::Cte(scan))
                }
                Plan::Project(_, slot, columns) => (*slot, Rows::Project(columns)),
                Plan::ProjectSet(_, slot, columns) => (*slot, Rows::ProjectSet(columns)),
                Plan::Aggregate(aggregate) => (aggregate.slot, Rows::Aggregate(aggregate)),
                Plan::Window(window) => (window.slot, Rows::Window(window)),
                Plan::SetOperation(set) => (set.slot, Rows::Set(set)),
                Plan::Modify(modify) => {
                    if let ModifyKind::Insert { on_conflict, .. } = &modify.kind {
                        target = Some((modify.new_slot, &modify.table.relation.name));
                        let update = on_conflict.as_ref().and_then(|it| it.update.as_ref());
                        if let Some(existing) = update.map(|update| &update.existing) {
                            let rows = Rows::Table(&existing.relation, &existing.outputs);
                            self.slots.insert(existing.slot, rows);
                            let name = existing.relation.name.to_string();
                            self.aliases.insert(existing.slot, name);
                        }
                    }
                    if let ModifyKind::Instead { .. } = &modify.kind {
                        target = Some((modify.new_slot, &modify.table.relation.name));
                    }
                    if let Some((slot, columns)) = &modify.returning {
                        self.slots.insert(*slot, Rows::Project(columns));
                    }
                    (modify.new_slot, Rows::New(modify))
                }
                _ => return,
            };
            self.slots.insert(slot, rows);
        });
        for (slot, name) in target.into_iter().chain(found) {
            let mut free = name.to_owned();
            let mut number = 0;
            while !taken.insert(free.clone()) {
                number += 1;
                free = format!("{name}_{number}");
            }
            self.aliases.insert(slot, free);
        }
    }

    /// The name of the relation whose rows fill a slot, as it is now.
    pub fn alias(&self, slot: u32) -> &str {
        self.aliases.get(&slot).map_or("", String::as_str)
    }

    /// What a home holds.
    pub fn home(&self, var: Var) -> Home<'p> {
        let at = var.column as usize;
        let alias = || self.alias(var.slot).to_owned();
        match self.slots.get(&var.slot) {
            Some(Rows::Table(relation, outputs)) => match outputs.get(at) {
                Some(ScanColumn::Column(column)) => {
                    let column = &relation.columns[*column];
                    Home::Column(alias(), column.name.to_string(), column.ty)
                }
                Some(ScanColumn::System(number)) => {
                    let column = system_column(*number);
                    let ty = SqlType::plain(column.ty.0);
                    Home::Column(alias(), column.name.to_owned(), ty)
                }
                Some(ScanColumn::Key) => {
                    Home::Column(alias(), "ctid".to_owned(), SqlType::plain(27))
                }
                None => Home::Hidden,
            },
            Some(Rows::Function(scan)) => {
                let number = SqlType::plain(20);
                let ty = scan.types.get(at).copied().unwrap_or(number);
                let name = scan.shown.get(at).map(ToString::to_string).unwrap_or_default();
                Home::Column(alias(), name, ty)
            }
            Some(Rows::Values(rows)) if rows.len() == 1 => {
                rows[0].get(at).map_or(Home::Hidden, Home::Value)
            }
            Some(Rows::Values(rows)) => {
                let first = rows.first().and_then(|row| row.get(at));
                let ty = first.and_then(|value| self.type_of(value));
                let ty = ty.unwrap_or(SqlType::plain(25));
                Home::Column(identifier("*VALUES*"), format!("column{}", at + 1), ty)
            }
            Some(Rows::Constants) => {
                let name = format!("column{}", at + 1);
                Home::Column(identifier("*VALUES*"), name, SqlType::plain(25))
            }
            Some(Rows::Cte(scan)) => match scan.columns.get(at) {
                Some((name, ty)) => Home::Column(alias(), name.to_string(), *ty),
                None => Home::Hidden,
            },
            Some(Rows::Project(columns)) => columns.get(at).map_or(Home::Hidden, Home::Value),
            Some(Rows::ProjectSet(columns)) => match columns.get(at) {
                Some(SetColumn::One(scalar)) => Home::Value(scalar),
                Some(SetColumn::Set(call, _)) => Home::Set(call),
                None => Home::Hidden,
            },
            Some(Rows::Aggregate(aggregate)) => {
                let keys = aggregate.keys.len();
                match aggregate.keys.get(at) {
                    Some((key, _)) => Home::Key(key),
                    None => aggregate.calls.get(at - keys).map_or(Home::Hidden, Home::Aggregate),
                }
            }
            Some(Rows::Window(window)) => window.calls.get(at).map_or(Home::Hidden, Home::Window),
            Some(Rows::Set(set)) => {
                set.left.1.get(at).map_or(Home::Hidden, |var| Home::Through(*var))
            }
            Some(Rows::New(modify)) => match modify.table.live.get(at) {
                Some(column) => {
                    let column = &modify.table.relation.columns[*column];
                    let name = match &modify.kind {
                        ModifyKind::Insert { .. } | ModifyKind::Instead { .. } => alias(),
                        ModifyKind::Update { target, .. }
                        | ModifyKind::Delete { target, .. }
                        | ModifyKind::Merge { target, .. } => self.alias(target.slot).to_owned(),
                    };
                    Home::Column(name, column.name.to_string(), column.ty)
                }
                None => Home::Hidden,
            },
            None => Home::Hidden,
        }
    }

    /// The type of a scalar's value; none where the plan does not say.
    pub fn type_of(&self, scalar: &Scalar) -> Option<SqlType> {
        const BOOL: SqlType = SqlType::plain(16);
        Some(match scalar {
            Scalar::Constant(_, ty) | Scalar::ViaText(_, _, ty) => *ty,
            Scalar::Var(var) => match self.home(*var) {
                Home::Column(_, _, ty) => ty,
                Home::Value(scalar) | Home::Key(scalar) => self.type_of(scalar)?,
                Home::Aggregate(step) => step.types.result,
                Home::Set(SetCall::Series(_, int4)) => SqlType::plain(if *int4 { 23 } else { 20 }),
                Home::Set(
                    SetCall::Set(_, _, _, types, _)
                    | SetCall::Routine(_, types, _)
                    | SetCall::Querying(_, types, _),
                ) => types.result,
                Home::Set(SetCall::XmlTable(..)) => return None,
                Home::Set(SetCall::Scalar(scalar, _)) => self.type_of(scalar)?,
                Home::Through(var) => self.type_of(&Scalar::Var(var))?,
                Home::Window(step) => match &step.function {
                    WindowFunction::Aggregate(step) => step.types.result,
                    _ => return None,
                },
                Home::Hidden => return None,
            },
            Scalar::Call { callee, arguments, .. } => {
                let procedure = builtin::function(callee.oid)?;
                let pseudo = builtin::type_by_oid(procedure.result)
                    .is_some_and(|ty| ty.kind == builtin::TypeKind::Pseudo);
                if pseudo {
                    return arguments.first().and_then(|argument| self.type_of(argument));
                }
                SqlType::plain(procedure.result)
            }
            Scalar::And(_)
            | Scalar::Or(_)
            | Scalar::Not(_)
            | Scalar::IsNull(..)
            | Scalar::IsBool(..)
            | Scalar::IsDistinct(..)
            | Scalar::ScalarArray { .. } => BOOL,
            Scalar::Case { branches, .. } => self.type_of(&branches.first()?.1)?,
            Scalar::Coalesce(all) => self.type_of(all.first()?)?,
            Scalar::NullIf(one, ..) => self.type_of(one)?,
            Scalar::Extreme(_, comparator, _) => SqlType::plain(comparator.ty),
            Scalar::Xml(_, call) => call.ty(),
            Scalar::ArrayCast { to, .. } => SqlType::plain(builtin::array_type(to.0)),
            Scalar::Array(_, ty, _) => SqlType { oid: *ty, typmod: -1 },
            Scalar::Subscript { ty, slice, .. } => {
                let ty = if *slice { ty.0 } else { builtin::element_type(ty.0)? };
                SqlType::plain(ty)
            }
            Scalar::Assign(parts, _) => self.type_of(parts.first()?)?,
            Scalar::Row(..) => SqlType::plain(2249),
            Scalar::Subquery(number) => match &self.program.subplans[*number as usize].kind {
                SubplanKind::Scalar(var) => self.type_of(&Scalar::Var(*var))?,
                SubplanKind::Exists
                | SubplanKind::Hashed(_)
                | SubplanKind::Quantified(_, Quantifier::Any | Quantifier::All) => BOOL,
                SubplanKind::Array(_, element, _) => SqlType::plain(builtin::array_type(element.0)),
            },
            Scalar::Parameter(number) => {
                SqlType { oid: *self.program.parameters.get(*number as usize)?, typmod: -1 }
            }
            Scalar::Field(..) | Scalar::CurrentValue(_) => return None,
        })
    }
}

/// Visits the nodes of a plan for as long as the plan lives.
fn each<'p>(plan: &'p Plan, visit: &mut dyn FnMut(&'p Plan)) {
    for input in vars::inputs(plan) {
        each(input, visit);
    }
    visit(plan);
}
