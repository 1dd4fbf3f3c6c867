//! MERGE: a join of the source with the target, and what is done with each of its rows (`transformMergeStmt`).

use crate::bind::Binder;
use crate::bind::clause::MERGE_WHEN;
use crate::bind::dml::stands_for_several;
use crate::bind::expression::Place;
use crate::bind::from::own_ctes;
use crate::bind::join::shifted;
use crate::bind::logical::{JoinKind, MergeAction, MergeChange, Modify, ModifyKind, Node, TARGET};
use crate::bind::query::Outside;
use crate::bind::scope::{Scope, ScopeItem};
use crate::bind::typed::conjuncts;
use crate::bind::with::CteScope;
use crate::catalog::acl::Privileges;
use crate::catalog::system::is_served_view;
use crate::catalog::{Relation, RelationKind};
use crate::error::{Result, SqlError};
use crate::parse::ast::{self, FromItem};
use crate::sqlstate::SqlState;
use std::sync::Arc;

/// The names that a MERGE's expressions may use.
struct Names<'m> {
    /// Those of the source alone, around which the target's are known, but hidden.
    source: Scope<'m>,
    /// The source's and the target's; the target is the first item.
    both: Scope<'m>,
    ctes: &'m CteScope<'m>,
}

impl Binder<'_> {
    pub(super) fn merge_statement(&self, merge: &ast::Merge) -> Result<Modify> {
        if merge.with.as_ref().is_some_and(|with| with.recursive) {
            return Err(SqlError::new(
                SqlState::SYNTAX_ERROR,
                "WITH RECURSIVE is not supported for MERGE statement",
            ));
        }
        let scope = own_ctes(None);
        let ctes = self.with(merge.with.as_ref(), Outside::NOTHING, &scope)?;
        check_reachable(&merge.clauses)?;
        let relation = self.merge_target(&merge.table)?;
        for clause in &merge.clauses {
            match clause.action {
                // PostgreSQL asks for it here alone: else the columns that are named say what is read.
                ast::MergeAction::Nothing => self.require(relation.oid, Privileges::SELECT),
                ast::MergeAction::Update(_) => self.require(relation.oid, Privileges::UPDATE),
                ast::MergeAction::Delete => self.require(relation.oid, Privileges::DELETE),
                ast::MergeAction::Insert { .. } => self.require(relation.oid, Privileges::INSERT),
            }
        }
        let alias = merge.alias.clone().map(|name| ast::Alias { name, columns: Vec::new() });
        let target = self.scan(&relation, alias.as_ref(), TARGET, &self.system_columns())?;
        let hidden = Scope::hiding(target.items.clone());
        let outside = Outside { scope: Some(&hidden), sees_lateral: false, ..Outside::NOTHING };
        let source = self.bind_list(std::slice::from_ref(&merge.source), outside, &scope)?;
        check_names(&merge.source, &target.items[0], &source.items)?;
        let items = shifted(target.items, source.width);
        let hidden = Scope::hiding(items.clone());
        let mut names =
            Names { source: Scope::beside(&hidden), both: Scope::new(None, 0), ctes: &scope };
        names.source.items.clone_from(&source.items);
        names.both.items = items;
        names.both.items.extend(source.items);
        let place = Place::plain(&names.both, Some(&scope), "JOIN conditions");
        let on = conjuncts(self.condition(&merge.on, &place, "JOIN/ON")?);
        let mut actions = Vec::new();
        for clause in &merge.clauses {
            actions.push(self.merge_action(clause, &relation, &names)?);
        }
        let inserts = actions.iter().any(|action| matches!(action.change, MergeChange::Insert(_)));
        let join = Node::Join {
            kind: if inserts { JoinKind::Left } else { JoinKind::Inner },
            left: Box::new(source.node),
            right: Box::new(target.node),
            on: on.clone(),
            lateral: false,
        };
        let mut set_off = Vec::new();
        for action in &actions {
            match &action.change {
                MergeChange::Nothing => {}
                MergeChange::Insert(_) => self.hold_parents(&relation, None),
                MergeChange::Update(assignments) => {
                    set_off.extend(self.actions_of_update(&relation, assignments)?);
                }
                MergeChange::Delete => set_off.extend(self.actions_of_delete(&relation)?),
            }
        }
        Ok(Modify {
            named: self.written_columns(relation.oid),
            alias: merge.alias.clone().unwrap_or_else(|| relation.name.clone()),
            kind: ModifyKind::Merge { source: Box::new(join), on, actions },
            returning: None,
            ctes,
            checks: self.checks(&relation)?,
            view_checks: Vec::new(),
            generated: self.generated_columns(&relation)?,
            computed: self.computed_indexes(&relation)?,
            actions: set_off,
            relation,
        })
    }

    fn merge_target(&self, name: &ast::ObjectName) -> Result<Arc<Relation>> {
        let relation = self.relation(name)?;
        let kinds = match &relation.kind {
            RelationKind::Table { .. } if relation.stored_query.is_some() => "materialized views",
            RelationKind::View { .. } => "views",
            RelationKind::System if is_served_view(&relation) => "views",
            RelationKind::Sequence(_) => "sequences",
            RelationKind::Table { .. } | RelationKind::System | RelationKind::Composite => {
                return self.target_table(relation);
            }
        };
        Err(SqlError::new(
            SqlState::FEATURE_NOT_SUPPORTED,
            format!("cannot execute MERGE on relation \"{}\"", relation.name),
        )
        .detail(format!("This operation is not supported for {kinds}.")))
    }

    fn merge_action(
        &self,
        clause: &ast::MergeWhen,
        relation: &Arc<Relation>,
        names: &Names<'_>,
    ) -> Result<MergeAction> {
        let scope = if clause.matched { &names.both } else { &names.source };
        let place = |clause| Place::plain(scope, Some(names.ctes), clause);
        let conditions = match &clause.condition {
            Some(condition) => conjuncts(self.condition(condition, &place(MERGE_WHEN), "WHEN")?),
            None => Vec::new(),
        };
        let change = match &clause.action {
            ast::MergeAction::Nothing => MergeChange::Nothing,
            ast::MergeAction::Delete => MergeChange::Delete,
            ast::MergeAction::Update(assignments) => {
                let target = (&**relation, None);
                MergeChange::Update(self.assignments(assignments, target, &place("UPDATE"))?)
            }
            ast::MergeAction::Insert { columns, overriding, values } => {
                let target = self.insert_target((relation, None), columns, *overriding)?;
                MergeChange::Insert(match values {
                    None => self.default_row(&target)?,
                    Some(values) => {
                        // One that stands for several gives values for who knows how many.
                        let all = values.iter().any(stands_for_several);
                        let given = if all { target.columns.len() } else { values.len() };
                        self.require_insert(&target, given);
                        self.insert_row(
                            values,
                            (&target, &target.live),
                            &place("VALUES"),
                            names.ctes,
                        )?
                    }
                })
            }
        };
        Ok(MergeAction { matched: clause.matched, conditions, change })
    }
}

/// Behind a WHEN without a condition no other of its kind is ever reached.
fn check_reachable(clauses: &[ast::MergeWhen]) -> Result<()> {
    for (at, clause) in clauses.iter().enumerate() {
        let ends = |earlier: &ast::MergeWhen| {
            earlier.matched == clause.matched && earlier.condition.is_none()
        };
        if clauses[..at].iter().any(ends) {
            return Err(SqlError::new(
                SqlState::SYNTAX_ERROR,
                "unreachable WHEN clause specified after unconditional WHEN clause",
            ));
        }
    }
    Ok(())
}

/// The source must not have the target's name. A join without an alias has none.
fn check_names(source: &FromItem, target: &ScopeItem, items: &[ScopeItem]) -> Result<()> {
    if matches!(source, FromItem::Join { alias: None, .. }) {
        return Ok(());
    }
    let clash = items.iter().any(|item| item.name_visible && item.name == target.name);
    match target.name.as_ref().filter(|_| clash) {
        None => Ok(()),
        Some(name) => Err(SqlError::new(
            SqlState::DUPLICATE_ALIAS,
            format!("name \"{name}\" specified more than once"),
        )
        .detail("The name is used both as MERGE target table and data source.")),
    }
}
