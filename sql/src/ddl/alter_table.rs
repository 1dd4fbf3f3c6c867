//! ALTER TABLE: a relation that is locked is changed step by step.
//!
//! The actions are not done in the order in which they are written but in passes, each with those of its kind in order
//! ([`Pass`], PostgreSQL's `AT_PASS_*`): what goes has gone before a type changes, and what is added may name what another
//! action adds.

use super::create_table::{Parts, columns_max, new_column_name, table_constraint};
use super::dependency::Dependents;
use super::index::tablespace;
use super::resolve::kind_noun;
use super::{Ddl, options, view};
use crate::catalog::Named;
use crate::catalog::relation::{
    ConstraintKind, Deferral, ForeignKey, Index, Relation, RelationKind,
};
use crate::error::{Result, SqlError};
use crate::parse::ast::{
    AlterAction, AlterTable, Ident, ObjectKind, TableConstraint, TableConstraintKind,
};
use crate::sqlstate::SqlState;
use std::sync::Arc;
use txn::TableLock;

/// ALTER TABLE.
///
/// # Errors
/// 42P01, 42703, 42501, 2BP01 and so on.
pub fn alter_table(ddl: &mut Ddl<'_>, alter: &AlterTable) -> Result<&'static str> {
    let tag = match alter.kind {
        ObjectKind::Table => "ALTER TABLE",
        ObjectKind::Index => "ALTER INDEX",
        ObjectKind::View => "ALTER VIEW",
        ObjectKind::MaterializedView => "ALTER MATERIALIZED VIEW",
        ObjectKind::Sequence => "ALTER SEQUENCE",
        _ => return Err(SqlError::unsupported(format!("ALTER {} is", alter.kind.words()))),
    };
    let is_index = |ddl: &mut Ddl<'_>| {
        alter.kind == ObjectKind::Table
            && matches!(ddl.lookup(&alter.name), Ok(Some(Named::Index { .. })))
    };
    if alter.kind == ObjectKind::Index || is_index(ddl) {
        return ddl.alter_index(alter).map(|()| tag);
    }
    let found =
        ddl.lock_table(&alter.name, alter.kind, lock_mode(&alter.actions), alter.if_exists)?;
    let Some(relation) = found else { return Ok(tag) };
    ddl.refuse_active("ALTER TABLE", &relation)?;
    ddl.refuse_pending("ALTER TABLE", &relation)?;
    // New types, and what makes the new values, are those over the relation as the statement finds it.
    let mut retyped = Vec::new();
    for action in &alter.actions {
        let fits = match (&relation.kind, action) {
            (_, AlterAction::Owner(_)) => true,
            (RelationKind::Sequence(_), AlterAction::SetLogged(_)) => true,
            (
                RelationKind::View { .. },
                AlterAction::SetDefault(..)
                | AlterAction::AddIdentity { .. }
                | AlterAction::SetIdentity { .. }
                | AlterAction::DropIdentity { .. }
                | AlterAction::SetOptions(_)
                | AlterAction::ResetOptions(_),
            ) => true,
            (RelationKind::Table { .. }, action) if relation.stored_query.is_some() => matches!(
                action,
                AlterAction::SetColumnProperty(..)
                    | AlterAction::SetStatisticsOf(..)
                    | AlterAction::SetColumnOptions(..)
                    | AlterAction::SetOptions(_)
                    | AlterAction::ResetOptions(_)
                    | AlterAction::SetTablespace(_)
                    | AlterAction::ClusterOn(_)
                    | AlterAction::ReplicaIdentity(_)
            ),
            (kind, _) => matches!(kind, RelationKind::Table { .. }),
        };
        if !fits {
            return Err(not_for(&relation, action));
        }
        if let AlterAction::AlterType { name, ty, collation, using, .. } = action {
            let using = using.as_ref().map(|u| &u.0);
            retyped.push(ddl.prepare_type(&relation, name, (ty, collation.as_ref()), using)?);
        }
    }
    let mut actions: Vec<&AlterAction> = alter.actions.iter().collect();
    actions.sort_by_key(|action| Pass::of(action));
    for action in actions {
        // Each action sees what those before it left.
        let Some(current) = ddl.relation(relation.oid) else { break };
        if matches!(action, AlterAction::AlterType { .. }) {
            // The first one does them all.
            ddl.alter_types(&relation, &current, std::mem::take(&mut retyped))?;
        } else {
            ddl.alter(&current, action)?;
        }
    }
    Ok(tag)
}

/// When an action is done.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Pass {
    /// What goes.
    Drop,
    /// ALTER TYPE.
    AlterType,
    /// ADD COLUMN.
    AddColumn,
    /// SET NOT NULL.
    SetNotNull,
    /// Keys made of indexes that are there.
    AddKeyUsing,
    /// Keys.
    AddKey,
    /// CHECK, FOREIGN KEY, defaults, identity of columns that are there.
    AddConstraint,
    /// Everything else, changes of identity columns too.
    Miscellaneous,
}

impl Pass {
    fn of(action: &AlterAction) -> Pass {
        match action {
            AlterAction::DropColumn { .. }
            | AlterAction::DropConstraint { .. }
            | AlterAction::DropExpression { .. }
            | AlterAction::DropIdentity { .. }
            | AlterAction::SetDefault(_, None)
            | AlterAction::SetNotNull(_, false) => Pass::Drop,
            AlterAction::AlterType { .. } => Pass::AlterType,
            AlterAction::AddColumn { .. } => Pass::AddColumn,
            AlterAction::SetNotNull(_, true) => Pass::SetNotNull,
            AlterAction::AddConstraint(constraint) => match constraint.kind {
                TableConstraintKind::KeyUsing(..) => Pass::AddKeyUsing,
                TableConstraintKind::Key(..) | TableConstraintKind::Exclude => Pass::AddKey,
                TableConstraintKind::Check { .. } | TableConstraintKind::ForeignKey(..) => {
                    Pass::AddConstraint
                }
            },
            AlterAction::SetDefault(_, Some(_)) | AlterAction::AddIdentity { .. } => {
                Pass::AddConstraint
            }
            _ => Pass::Miscellaneous,
        }
    }
}

/// The strongest lock that any of the actions needs (PostgreSQL's `AlterTableGetLockLevel`).
pub(super) fn lock_mode(actions: &[AlterAction]) -> TableLock {
    actions
        .iter()
        .map(|action| match action {
            AlterAction::SetColumnProperty(_, property, _) if &**property == "statistics" => {
                TableLock::ShareUpdateExclusive
            }
            AlterAction::SetStatisticsOf(..)
            | AlterAction::ValidateConstraint(_)
            | AlterAction::SetOptions(_)
            | AlterAction::ResetOptions(_)
            | AlterAction::ClusterOn(_)
            | AlterAction::SetColumnOptions(..) => TableLock::ShareUpdateExclusive,
            AlterAction::ToggleTrigger(..) => TableLock::ShareRowExclusive,
            AlterAction::AddConstraint(TableConstraint {
                kind: TableConstraintKind::ForeignKey(..),
                ..
            }) => TableLock::ShareRowExclusive,
            _ => TableLock::AccessExclusive,
        })
        .max()
        .unwrap_or(TableLock::AccessExclusive)
}

/// 42809: the action is for tables.
fn not_for(relation: &Relation, action: &AlterAction) -> SqlError {
    not_for_kind((&relation.name, kind_noun(relation)), action)
}

/// 42809 for a relation of this name and kind.
pub(super) fn not_for_kind((name, kind): (&str, &str), action: &AlterAction) -> SqlError {
    let plural = if kind.ends_with('x') { "es" } else { "s" };
    let words = match action {
        AlterAction::AddColumn { .. } => "ADD COLUMN",
        AlterAction::DropColumn { .. } => "DROP COLUMN",
        AlterAction::AlterType { .. } => "ALTER COLUMN ... SET DATA TYPE",
        AlterAction::SetDefault(..) => "ALTER COLUMN ... SET DEFAULT",
        AlterAction::SetNotNull(_, true) => "ALTER COLUMN ... SET NOT NULL",
        AlterAction::SetColumnProperty(_, property, _) => match &**property {
            "statistics" => "ALTER COLUMN ... SET STATISTICS",
            "storage" => "ALTER COLUMN ... SET STORAGE",
            _ => "ALTER COLUMN ... SET COMPRESSION",
        },
        AlterAction::SetStatisticsOf(..) => "ALTER COLUMN ... SET STATISTICS",
        AlterAction::SetColumnOptions(_, _, false) => "ALTER COLUMN ... SET",
        AlterAction::SetColumnOptions(_, _, true) => "ALTER COLUMN ... RESET",
        AlterAction::SetNotNull(_, false) => "ALTER COLUMN ... DROP NOT NULL",
        AlterAction::AddConstraint(_) => "ADD CONSTRAINT",
        AlterAction::DropConstraint { .. } => "DROP CONSTRAINT",
        AlterAction::AlterConstraint(..) => "ALTER CONSTRAINT",
        AlterAction::ValidateConstraint(_) => "VALIDATE CONSTRAINT",
        AlterAction::SetLogged(true) => "SET LOGGED",
        AlterAction::SetLogged(false) => "SET UNLOGGED",
        AlterAction::ClusterOn(Some(_)) => "CLUSTER ON",
        AlterAction::ClusterOn(None) => "SET WITHOUT CLUSTER",
        AlterAction::ReplicaIdentity(_) => "REPLICA IDENTITY",
        AlterAction::DropExpression { .. } => "ALTER COLUMN ... DROP EXPRESSION",
        AlterAction::AddIdentity { .. } => "ALTER COLUMN ... ADD IDENTITY",
        AlterAction::SetIdentity { .. } => "ALTER COLUMN ... SET",
        AlterAction::DropIdentity { .. } => "ALTER COLUMN ... DROP IDENTITY",
        AlterAction::ToggleTrigger(enabled, which) => super::trigger::toggle_words(*enabled, which),
        AlterAction::Inheritance(what)
            if kind == "materialized view" && what.starts_with("SET ACCESS METHOD") =>
        {
            return SqlError::unsupported(format!("ALTER MATERIALIZED VIEW {what} is"));
        }
        AlterAction::Inheritance(what) => ["INHERIT", "NO INHERIT", "OF", "SET ACCESS METHOD"]
            .into_iter()
            .find(|words| what.strip_prefix(words).is_some_and(|name| name.starts_with(' ')))
            .unwrap_or("this action"),
        _ => "this action",
    };
    SqlError::new(
        SqlState::WRONG_OBJECT_TYPE,
        format!("ALTER action {words} cannot be performed on relation \"{name}\""),
    )
    .detail(format!("This operation is not supported for {kind}{plural}."))
}

impl Ddl<'_> {
    fn alter(&mut self, relation: &Arc<Relation>, action: &AlterAction) -> Result<()> {
        match action {
            AlterAction::AddColumn { if_not_exists, column } => {
                self.alter_add_column(relation, column, *if_not_exists)
            }
            AlterAction::DropColumn { if_exists, name, cascade } => {
                self.drop_column(relation, name, *if_exists, *cascade)
            }
            // All of a statement are one step of their own.
            AlterAction::AlterType { .. } => Ok(()),
            AlterAction::SetDefault(name, expr) => {
                self.set_default(relation, name, expr.as_ref().map(|expr| &expr.0))
            }
            AlterAction::SetNotNull(name, true) => self.set_not_null(relation, name),
            AlterAction::SetNotNull(name, false) => self.drop_not_null(relation, name),
            AlterAction::DropIdentity { name, if_exists } => {
                self.drop_identity(relation, name, *if_exists)
            }
            AlterAction::AddConstraint(constraint) => self.add_constraint(relation, constraint),
            AlterAction::ValidateConstraint(name) => self.validate_constraint(relation, name),
            AlterAction::DropConstraint { if_exists, name, cascade } => {
                self.drop_constraint(relation, name, *if_exists, *cascade)
            }
            AlterAction::Owner(owner) => self.give_relation(relation, owner),
            AlterAction::SetOptions(given)
                if matches!(relation.kind, RelationKind::View { .. }) =>
            {
                let next = view::with_options(self, relation, given)?;
                self.catalog.put_relation(self.transaction, next)
            }
            AlterAction::SetOptions(given) => {
                let mut next = Relation::clone(relation);
                for (name, value) in options::of_table(given)? {
                    next.options.retain(|option| option.0 != name);
                    next.options.push((name, value));
                }
                self.catalog.put_relation(self.transaction, next)
            }
            AlterAction::ResetOptions(names) => {
                let mut next = Relation::clone(relation);
                next.options.retain(|option| !names.iter().any(|name| **name == *option.0));
                self.catalog.put_relation(self.transaction, next)
            }
            AlterAction::SetLogged(logged) => {
                // All tables are logged alike; what is kept is what pg_class shows.
                let persistence = if *logged { 'p' } else { 'u' };
                if relation.persistence == persistence {
                    return Ok(());
                }
                self.check_persistence(relation, persistence)?;
                let snapshot = self.snapshot();
                let owned = snapshot.owned_sequences(relation.oid).map(|found| found.0);
                for changed in std::iter::once(relation).chain(owned) {
                    let mut next = Relation::clone(changed);
                    next.persistence = persistence;
                    self.catalog.put_relation(self.transaction, next)?;
                }
                Ok(())
            }
            AlterAction::SetTablespace(name) => tablespace(Some(name)),
            AlterAction::ClusterOn(index) => self.set_clustered(relation, index.as_ref()),
            // No table has OIDs.
            AlterAction::Toggle(words) if words == "SET WITHOUT OIDS" => Ok(()),
            AlterAction::DropExpression { name, if_exists } => {
                self.drop_expression(relation, name, *if_exists)
            }
            AlterAction::AddIdentity { name, always, options } => {
                self.add_identity(relation, name, *always, options)
            }
            AlterAction::SetIdentity { name, always, options } => {
                self.set_identity(relation, name, *always, options)
            }
            AlterAction::SetColumnProperty(name, property, value) => {
                self.set_column_property(relation, name, (property, value))
            }
            AlterAction::SetStatisticsOf(..) => Err(SqlError::new(
                SqlState::FEATURE_NOT_SUPPORTED,
                "cannot refer to non-index column by number",
            )),
            AlterAction::SetColumnOptions(name, given, reset) => {
                self.set_column_options(relation, name, (given, *reset))
            }
            AlterAction::AlterConstraint(name, deferral) => {
                self.alter_constraint(relation, name, *deferral)
            }
            AlterAction::ToggleTrigger(enabled, which) => {
                super::trigger::toggle(self, relation, *enabled, which)
            }
            AlterAction::ReplicaIdentity(identity) => self.set_replica_identity(relation, identity),
            AlterAction::Toggle(words) | AlterAction::Inheritance(words) => unsupported(words),
        }
    }

    /// What is logged may refer to nothing that is not; what is temporary stays so (`ATPrepChangePersistence`).
    fn check_persistence(&mut self, relation: &Relation, persistence: char) -> Result<()> {
        let name = &relation.name;
        if relation.persistence == 't' {
            return Err(SqlError::new(
                SqlState::INVALID_TABLE_DEFINITION,
                format!("cannot change logged status of table \"{name}\" because it is temporary"),
            )
            .table(&*relation.schema.1, &**name));
        }
        let snapshot = self.snapshot();
        // The foreign keys at whose other ends a table would be kept otherwise.
        let refused = |child: &Relation, constraint: usize, message: String| {
            Err(SqlError::new(SqlState::INVALID_TABLE_DEFINITION, message)
                .table(&*relation.schema.1, &*relation.name)
                .constraint(&*child.constraints[constraint].name))
        };
        if persistence == 'p' {
            for (at, constraint) in relation.constraints.iter().enumerate() {
                let ConstraintKind::ForeignKey(key) = &constraint.kind else { continue };
                let parent = snapshot.relation(key.references).filter(|it| it.oid != relation.oid);
                if let Some(parent) = parent.filter(|parent| parent.persistence != 'p') {
                    let message = format!(
                        "could not change table \"{name}\" to logged because it references unlogged table \"{}\"",
                        parent.name
                    );
                    return refused(relation, at, message);
                }
            }
            return Ok(());
        }
        for &(oid, at) in relation.referenced_by.iter().filter(|child| child.0 != relation.oid) {
            let child = snapshot.relation(oid).filter(|child| child.persistence == 'p');
            if let Some(child) = child {
                let message = format!(
                    "could not change table \"{name}\" to unlogged because it references logged table \"{}\"",
                    child.name
                );
                return refused(child, at, message);
            }
        }
        Ok(())
    }

    fn add_constraint(
        &mut self,
        relation: &Arc<Relation>,
        constraint: &TableConstraint,
    ) -> Result<()> {
        if let TableConstraintKind::KeyUsing(index, options) = &constraint.kind {
            let next = self.key_using(relation, constraint, index, options)?;
            return self.catalog.put_relation(self.transaction, next);
        }
        let mut parts = Parts::default();
        table_constraint(constraint, &mut parts)?;
        let mut next = Relation::clone(relation);
        for key in &parts.keys {
            next = self.add_key(&next, key)?;
        }
        for new in &parts.checks {
            let check = self.new_check(&next, new).map_err(SqlError::nowhere)?;
            if new.validated {
                self.check_rows(&next, &check)?;
            }
            next.constraints.push(check);
        }
        for (name, columns, references, validated) in &parts.foreign {
            let key =
                self.new_foreign_key(&next, name.as_ref(), columns, references, *validated)?;
            if *validated {
                self.check_references(&next, &key)?;
            }
            next.constraints.push(key);
        }
        self.catalog.put_relation(self.transaction, next)
    }

    fn validate_constraint(&mut self, relation: &Arc<Relation>, name: &Ident) -> Result<()> {
        let at = relation.constraints.iter().position(|constraint| constraint.name == *name);
        let Some(at) = at else {
            let of_index =
                |index: &Index| index.constraint.as_ref().is_some_and(|it| it.1 == *name);
            if !relation.indexes.iter().any(of_index) {
                return Err(undefined_constraint(relation, name));
            }
            let message = format!(
                "constraint \"{name}\" of relation \"{}\" is not a foreign key or check constraint",
                relation.name
            );
            return Err(SqlError::new(SqlState::WRONG_OBJECT_TYPE, message));
        };
        if relation.constraints[at].validated {
            return Ok(());
        }
        match relation.constraints[at].kind {
            ConstraintKind::Check { .. } => self.check_rows(relation, &relation.constraints[at])?,
            ConstraintKind::ForeignKey(_) => {
                self.check_references(relation, &relation.constraints[at])?;
            }
        }
        let mut next = Relation::clone(relation);
        next.constraints[at].validated = true;
        self.catalog.put_relation(self.transaction, next)
    }

    /// ALTER CONSTRAINT: when a foreign key is checked.
    fn alter_constraint(
        &mut self,
        relation: &Arc<Relation>,
        name: &Ident,
        deferral: Deferral,
    ) -> Result<()> {
        let at = relation.constraints.iter().position(|constraint| constraint.name == *name);
        let is_key = at.is_some_and(|at| {
            matches!(relation.constraints[at].kind, ConstraintKind::ForeignKey(_))
        });
        let Some(at) = at.filter(|_| is_key) else {
            if !super::name::has_constraint(relation, name) {
                return Err(undefined_constraint(relation, name));
            }
            return Err(SqlError::new(
                SqlState::WRONG_OBJECT_TYPE,
                format!(
                    "constraint \"{name}\" of relation \"{}\" is not a foreign key constraint",
                    relation.name
                ),
            ));
        };
        if relation.constraints[at].deferral == deferral {
            return Ok(());
        }
        let mut next = Relation::clone(relation);
        next.constraints[at].deferral = deferral;
        self.catalog.put_relation(self.transaction, next)
    }

    fn drop_constraint(
        &mut self,
        relation: &Arc<Relation>,
        name: &Ident,
        if_exists: bool,
        cascade: bool,
    ) -> Result<()> {
        let mut next = Relation::clone(relation);
        if let Some(at) = next.constraints.iter().position(|constraint| constraint.name == *name) {
            if let ConstraintKind::ForeignKey(key) = &next.constraints[at].kind
                && let Some(parent) = self.relation(key.references)
            {
                self.refuse_active("ALTER TABLE", &parent)?;
                self.refuse_pending("ALTER TABLE", &parent)?;
            }
            next.constraints.remove(at);
            return self.put_without(relation, next);
        }
        let key = next.indexes.iter().position(|index| {
            index.constraint.as_ref().is_some_and(|constraint| constraint.1 == *name)
        });
        let Some(at) = key else {
            if if_exists {
                let message = format!(
                    "constraint \"{name}\" of relation \"{}\" does not exist, skipping",
                    relation.name
                );
                self.notice(SqlState::SUCCESSFUL_COMPLETION, message);
                return Ok(());
            }
            return Err(undefined_constraint(relation, name));
        };
        let oid = next.indexes[at].oid;
        let shown = self.display(relation);
        let what = format!("constraint {name} on table {shown}");
        let on = format!("index {}", self.display_index(relation, &next.indexes[at]));
        let dependents = loop {
            let mut found = Dependents::default();
            let through = |_, key: &ForeignKey| key.index == oid;
            self.collect_references(relation, &[], &through, &on, &mut found);
            if let Some((key, _)) = &next.indexes[at].constraint {
                self.collect_key_views(*key, &what, &mut found);
            }
            if self.hold(&found, &[])? {
                break found;
            }
        };
        self.drop_dependents(&dependents, cascade, &what)?;
        // A foreign key of this very table may have gone with it.
        let current = self.relation(relation.oid);
        let mut next = current.map_or(next, |relation| Relation::clone(&relation));
        let before = next.clone();
        let index = next.indexes.remove(at);
        if index.holds_rows() {
            self.uncluster(relation, &mut next)?;
        } else {
            self.catalog.drop_tree(index.tree);
        }
        self.put_without(&before, next)
    }

    /// A table without a primary key keeps its rows under hidden row ids. Its columns stay NOT NULL.
    fn uncluster(&mut self, old: &Relation, next: &mut Relation) -> Result<()> {
        let mut rewrite =
            super::build::Rewrite { columns: Vec::new(), not_null: Vec::new(), checks: Vec::new() };
        self.rewrite(old, next, &mut rewrite)
    }

    /// Checks that a table may get one more column of that name; false if it has it and that is allowed.
    pub(super) fn may_add_column(
        &mut self,
        relation: &Relation,
        name: &Ident,
        if_not_exists: bool,
    ) -> Result<bool> {
        if relation.column(name).is_some() {
            let message =
                format!("column \"{name}\" of relation \"{}\" already exists", relation.name);
            if if_not_exists {
                self.notice(SqlState::DUPLICATE_COLUMN, format!("{message}, skipping"));
                return Ok(false);
            }
            return Err(SqlError::new(SqlState::DUPLICATE_COLUMN, message));
        }
        new_column_name(name)?;
        columns_max(relation.columns.len() + 1)?;
        Ok(true)
    }

    /// Drops the sequence that a column owns.
    pub(super) fn drop_owned_sequence(&mut self, relation: &Relation, column: usize) -> Result<()> {
        let snapshot = self.snapshot();
        let owned: Vec<Arc<Relation>> = snapshot
            .owned_sequences(relation.oid)
            .filter(|found| found.1 == column)
            .map(|found| Arc::clone(found.0))
            .collect();
        for sequence in owned {
            self.remove_relation(&sequence)?;
        }
        Ok(())
    }
}

fn unsupported(words: &str) -> Result<()> {
    Err(SqlError::unsupported(format!("ALTER TABLE {words} is")))
}

fn undefined_constraint(relation: &Relation, name: &str) -> SqlError {
    SqlError::new(
        SqlState::UNDEFINED_OBJECT,
        format!("constraint \"{name}\" of relation \"{}\" does not exist", relation.name),
    )
}
