//! Definitions: what a view, a default, a CHECK, a generated column, an index's expression or predicate, or a domain's
//! condition says, with what it depends on.
//!
//! The edges are taken from the bound tree when the definition is made, and are kept with it. They name objects by OID and
//! columns by number, so that a rename changes none of them, and DROP, ALTER and `pg_depend` walk them instead of reading
//! texts. PostgreSQL writes the same edges to `pg_depend` (`recordDependencyOnExpr`, `recordDependencyOnSingleRelExpr`).

use crate::builtin;
use crate::object::well_known;
use crate::relation::{ConstraintKind, Index, Relation};
use crate::user_type::UserType;
use sql_types::Oid;
use std::any::Any;
use std::collections::BTreeSet;
use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

/// What a definition depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Edge {
    /// A column, by `attnum`, of the relation whose definition it is; 0 is the whole row.
    Own(i16),
    /// A relation, or a column of it by `attnum`: 0 is the whole.
    Relation(Oid, i16),
    /// A type: one that users or extensions made, that of a relation's rows, or arrays of such.
    Type(Oid),
    /// A constraint: the primary key that lets a query leave columns out of its GROUP BY.
    Constraint(Oid),
    /// A function of an extension, or a routine.
    Function(Oid),
    /// An operator that a user made.
    Operator(Oid),
    /// A cast that a user made. PostgreSQL keeps trees, which stay as they are without it; a text needs it.
    Cast(Oid),
}

impl Edge {
    /// Whether what it leads to can be dropped: what is built in cannot.
    #[must_use]
    pub fn leads_to_made(self) -> bool {
        match self {
            Edge::Own(_)
            | Edge::Function(_)
            | Edge::Operator(_)
            | Edge::Cast(_)
            | Edge::Constraint(_) => true,
            Edge::Relation(oid, _) => oid.0 >= well_known::FIRST_NORMAL,
            Edge::Type(oid) => !builtin::is_lasting(oid.0),
        }
    }
}

/// What a definition depends on, each once: columns of its own relation as they come up (`conkey` shows them so), then the
/// others in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edges(Arc<[Edge]>);

impl Edges {
    /// These, but for those that lead to what is built in.
    #[must_use]
    pub fn new(edges: Vec<Edge>) -> Edges {
        let (mut kept, mut others) = (Vec::new(), BTreeSet::new());
        for edge in edges {
            match edge {
                Edge::Own(_) if !kept.contains(&edge) => kept.push(edge),
                Edge::Own(_) => {}
                _ if edge.leads_to_made() => drop(others.insert(edge)),
                _ => {}
            }
        }
        kept.extend(others);
        Edges(kept.into())
    }

    /// The same over a relation in which the columns of its own have other places, by index.
    #[must_use]
    fn over_copy(&self, place: &dyn Fn(usize) -> usize) -> Edges {
        let moved = self.iter().map(|edge| match edge {
            Edge::Own(number @ 1..) => Edge::Own(place(*number as usize - 1) as i16 + 1),
            edge => *edge,
        });
        Edges::new(moved.collect())
    }

    /// Whether one of them is this.
    #[must_use]
    pub fn leads_to(&self, edge: Edge) -> bool {
        self.contains(&edge)
    }

    /// The columns of the relation that the definition is over, by `attnum`, system columns and (as 0) the whole row too.
    #[must_use]
    pub fn own(&self) -> Vec<i16> {
        let own = self.iter().filter_map(|edge| match edge {
            Edge::Own(number) => Some(*number),
            _ => None,
        });
        own.collect()
    }

    /// The same, the whole row only if no column is named.
    #[must_use]
    pub fn own_numbers(&self) -> Vec<i16> {
        let mut own = self.own();
        if own.len() > 1 {
            own.retain(|number| *number != 0);
        }
        own
    }

    /// The same where a composite type has lost the attribute of this number: those behind it have moved up.
    #[must_use]
    fn without_attribute(&self, ty: Oid, dropped: i16) -> Edges {
        let moved = self.iter().map(|edge| match *edge {
            Edge::Relation(oid, number) if oid == ty && number > dropped => {
                Edge::Relation(oid, number - 1)
            }
            edge => edge,
        });
        Edges::new(moved.collect())
    }

    /// The columns by index of the relation that the definition is over.
    pub fn own_columns(&self) -> impl Iterator<Item = usize> {
        self.iter().filter_map(|edge| match edge {
            Edge::Own(number) => usize::try_from(number - 1).ok(),
            _ => None,
        })
    }

    /// Whether the definition names the whole row of the relation that it is over.
    #[must_use]
    pub fn names_whole_row(&self) -> bool {
        self.contains(&Edge::Own(0))
    }

    /// Whether it names a column, by index, of the relation that it is over.
    #[must_use]
    pub fn names_column(&self, column: usize) -> bool {
        self.own_columns().any(|own| own == column)
    }

    /// The columns of a relation, by `attnum`, that it reads; none if it does not depend on the relation.
    #[must_use]
    pub fn columns_read(&self, relation: Oid) -> Option<Vec<i16>> {
        let mut read = self.iter().filter_map(|edge| match edge {
            Edge::Relation(oid, column) if *oid == relation => Some(*column),
            _ => None,
        });
        let first = read.next()?;
        Some(std::iter::once(first).chain(read).collect())
    }
}

impl Deref for Edges {
    type Target = [Edge];

    fn deref(&self) -> &[Edge] {
        &self.0
    }
}

/// A definition that is kept as text: a query of PostgreSQL's own views, the body of a routine, and what an expression has not
/// been made of yet.
#[derive(Clone, PartialEq, Eq)]
pub struct Definition {
    text: Arc<str>,
    edges: Edges,
}

impl Definition {
    /// A definition that says this and depends on that.
    #[must_use]
    pub fn new(text: Arc<str>, edges: Vec<Edge>) -> Definition {
        Definition { text, edges: Edges::new(edges) }
    }

    /// What it says, as PostgreSQL would print it, names qualified where they have to be.
    #[must_use]
    pub fn text(&self) -> &Arc<str> {
        &self.text
    }

    /// The same in other words: what it depends on stays.
    #[must_use]
    pub fn reworded(&self, text: Arc<str>) -> Definition {
        Definition { text, edges: self.edges.clone() }
    }

    /// What it depends on.
    #[must_use]
    pub fn edges(&self) -> &Edges {
        &self.edges
    }

    /// The same over a relation in which the columns of its own have other places, by index.
    #[must_use]
    pub fn over_copy(&self, place: &dyn Fn(usize) -> usize) -> Definition {
        Definition { text: Arc::clone(&self.text), edges: self.edges.over_copy(place) }
    }

    /// The same where a composite type has lost the attribute of this number: those behind it have moved up.
    #[must_use]
    pub fn without_attribute(&self, ty: Oid, dropped: i16) -> Definition {
        let edges = self.edges.without_attribute(ty, dropped);
        Definition { text: Arc::clone(&self.text), edges }
    }
}

impl Deref for Definition {
    type Target = str;

    fn deref(&self) -> &str {
        &self.text
    }
}

impl fmt::Display for Definition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Debug for Definition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} on {:?}", self.text, &*self.edges)
    }
}

/// A definition that is kept as a bound tree, in the stored form that the binder gives it: it names objects by OID and the
/// columns of its relation by `attnum`, so that no rename touches it.
///
/// What the tree is, is not known here. Who reads it leaves what it has become with it, for all who have the same version of
/// the relation or the type: a copy begins without, since it may be changed into another version.
pub struct Expression {
    tree: Arc<[u8]>,
    edges: Edges,
    opened: OnceLock<Opened>,
}

/// What a tree has become in memory.
type Opened = Arc<dyn Any + Send + Sync>;

impl Expression {
    /// An expression of this tree, which depends on that.
    #[must_use]
    pub fn new(tree: Arc<[u8]>, edges: Edges) -> Expression {
        Expression { tree, edges, opened: OnceLock::new() }
    }

    /// The tree in its stored form.
    #[must_use]
    pub fn tree(&self) -> &[u8] {
        &self.tree
    }

    /// What it depends on.
    #[must_use]
    pub fn edges(&self) -> &Edges {
        &self.edges
    }

    /// The same over a relation in which the columns of its own have other places, by index: this is its tree there.
    #[must_use]
    pub fn over_copy(&self, tree: Arc<[u8]>, place: &dyn Fn(usize) -> usize) -> Expression {
        Expression::new(tree, self.edges.over_copy(place))
    }

    /// The same where a composite type has lost the attribute of this number: this is its tree now.
    #[must_use]
    pub fn without_attribute(&self, tree: Arc<[u8]>, ty: Oid, dropped: i16) -> Expression {
        Expression::new(tree, self.edges.without_attribute(ty, dropped))
    }

    /// What somebody has left here.
    #[must_use]
    pub fn opened<T: Any + Send + Sync>(&self) -> Option<Arc<T>> {
        Arc::clone(self.opened.get()?).downcast().ok()
    }

    /// Leaves what the tree has become; what somebody else has left in the meantime stays.
    pub fn leave<T: Any + Send + Sync>(&self, opened: Arc<T>) {
        drop(self.opened.set(opened));
    }
}

impl Clone for Expression {
    fn clone(&self) -> Expression {
        Expression::new(Arc::clone(&self.tree), self.edges.clone())
    }
}

impl PartialEq for Expression {
    fn eq(&self, other: &Expression) -> bool {
        self.tree == other.tree && self.edges == other.edges
    }
}

impl Eq for Expression {}

impl fmt::Debug for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes on {:?}", self.tree.len(), &*self.edges)
    }
}

/// The query of a view.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ViewQuery {
    /// The text of one of the system's views, which depends on nothing that could change.
    Text(Definition),
    /// The tree of any other.
    Tree(Expression),
}

impl ViewQuery {
    /// What it depends on.
    #[must_use]
    pub fn edges(&self) -> &Edges {
        match self {
            ViewQuery::Text(text) => text.edges(),
            ViewQuery::Tree(tree) => tree.edges(),
        }
    }

    /// The tree, to be changed.
    pub fn tree_mut(&mut self) -> Option<&mut Expression> {
        match self {
            ViewQuery::Text(_) => None,
            ViewQuery::Tree(tree) => Some(tree),
        }
    }
}

impl Index {
    /// What all that it computes depends on.
    pub fn definitions(&self) -> impl Iterator<Item = &Edges> {
        self.trees().map(Expression::edges)
    }
}

impl Relation {
    /// What all definitions of it depend on: its query, its defaults, its CHECKs, what its indexes compute, and conditions of
    /// its triggers.
    pub fn definitions(&self) -> impl Iterator<Item = &Edges> {
        let query = self.query().map(ViewQuery::edges);
        let made = self.conditions().chain(self.expressions());
        query.into_iter().chain(made.map(Expression::edges))
    }

    /// Those of them that are over the rows `old` and `new`: the conditions of its triggers.
    pub fn conditions(&self) -> impl Iterator<Item = &Expression> {
        self.triggers.iter().filter_map(|trigger| trigger.when.as_ref())
    }

    /// Those of them that are expressions over its row, or over none.
    pub fn expressions(&self) -> impl Iterator<Item = &Expression> {
        let defaults = self.columns.iter().filter_map(|column| column.default.as_ref());
        let checks = self.constraints.iter().filter_map(|constraint| match &constraint.kind {
            ConstraintKind::Check { condition, .. } => Some(condition),
            ConstraintKind::ForeignKey(_) => None,
        });
        defaults.chain(checks).chain(self.indexes.iter().flat_map(Index::trees))
    }
}

impl UserType {
    /// What all definitions of a domain depend on: its default and its CHECKs.
    pub fn definitions(&self) -> impl Iterator<Item = &Edges> {
        self.expressions().map(Expression::edges)
    }

    /// All these.
    pub fn expressions(&self) -> impl Iterator<Item = &Expression> {
        let domain = self.domain().into_iter();
        domain.flat_map(|domain| {
            domain.default.iter().chain(domain.checks.iter().map(|check| &check.condition))
        })
    }
}
