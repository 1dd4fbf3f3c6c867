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
use std::collections::BTreeSet;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

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
    /// All columns of a relation: they are counted or merged by name, or stand for its row, so that one more or one less, of
    /// any name, may make the text say something else. PostgreSQL's trees have no such need either.
    Columns(Oid),
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
            Edge::Relation(oid, _) | Edge::Columns(oid) => oid.0 >= well_known::FIRST_NORMAL,
            Edge::Type(oid) => !builtin::is_lasting(oid.0),
        }
    }
}

/// A definition.
#[derive(Clone, PartialEq, Eq)]
pub struct Definition {
    text: Arc<str>,
    /// Each once: columns of its own relation as they come up (`conkey` shows them so), then the others in order.
    edges: Arc<[Edge]>,
}

impl Definition {
    /// A definition that says this and depends on that.
    #[must_use]
    pub fn new(text: Arc<str>, edges: Vec<Edge>) -> Definition {
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
        Definition { text, edges: kept.into() }
    }

    /// What it says, as PostgreSQL would print it, names qualified where they have to be.
    #[must_use]
    pub fn text(&self) -> &Arc<str> {
        &self.text
    }

    /// The same in other words: what it depends on stays.
    #[must_use]
    pub fn reworded(&self, text: Arc<str>) -> Definition {
        Definition { text, edges: Arc::clone(&self.edges) }
    }

    /// What it depends on, each once: columns of its own relation as they come up, then the others in order.
    #[must_use]
    pub fn edges(&self) -> &[Edge] {
        &self.edges
    }

    /// The same over a relation in which the columns of its own have other places, by index.
    #[must_use]
    pub fn over_copy(&self, place: &dyn Fn(usize) -> usize) -> Definition {
        let moved = self.edges.iter().map(|edge| match edge {
            Edge::Own(number @ 1..) => Edge::Own(place(*number as usize - 1) as i16 + 1),
            edge => *edge,
        });
        Definition::new(Arc::clone(&self.text), moved.collect())
    }

    /// Whether it depends on this.
    #[must_use]
    pub fn leads_to(&self, edge: Edge) -> bool {
        self.edges.contains(&edge)
    }

    /// The columns of the relation that it is over, by `attnum`, system columns and (as 0) the whole row too.
    #[must_use]
    pub fn own(&self) -> Vec<i16> {
        let own = self.edges.iter().filter_map(|edge| match edge {
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
    pub fn without_attribute(&self, ty: Oid, dropped: i16) -> Definition {
        let moved = self.edges.iter().map(|edge| match *edge {
            Edge::Relation(oid, number) if oid == ty && number > dropped => {
                Edge::Relation(oid, number - 1)
            }
            edge => edge,
        });
        Definition::new(Arc::clone(&self.text), moved.collect())
    }

    /// The columns by index of the relation that it is over.
    pub fn own_columns(&self) -> impl Iterator<Item = usize> {
        self.edges.iter().filter_map(|edge| match edge {
            Edge::Own(number) => usize::try_from(number - 1).ok(),
            _ => None,
        })
    }

    /// Whether it names the whole row of the relation that it is over.
    #[must_use]
    pub fn names_whole_row(&self) -> bool {
        self.edges.contains(&Edge::Own(0))
    }

    /// Whether it names a column, by index, of the relation that it is over.
    #[must_use]
    pub fn names_column(&self, column: usize) -> bool {
        self.own_columns().any(|own| own == column)
    }

    /// The columns of a relation, by `attnum`, that it reads; none if it does not depend on the relation.
    #[must_use]
    pub fn columns_read(&self, relation: Oid) -> Option<Vec<i16>> {
        let mut read = self.edges.iter().filter_map(|edge| match edge {
            Edge::Relation(oid, column) if *oid == relation => Some(*column),
            _ => None,
        });
        let first = read.next()?;
        Some(std::iter::once(first).chain(read).collect())
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
        write!(f, "{:?} on {:?}", self.text, self.edges)
    }
}

impl Index {
    /// What it computes, and its predicate.
    pub fn definitions(&self) -> impl Iterator<Item = &Definition> {
        self.expressions.iter().map(|made| &made.text).chain(&self.filter)
    }
}

impl Relation {
    /// All definitions of it: its query, its defaults, its CHECKs, what its indexes compute, and conditions of its triggers.
    pub fn definitions(&self) -> impl Iterator<Item = &Definition> {
        let defaults = self.columns.iter().filter_map(|column| column.default.as_ref());
        let checks = self.constraints.iter().filter_map(|constraint| match &constraint.kind {
            ConstraintKind::Check { text, .. } => Some(text),
            ConstraintKind::ForeignKey(_) => None,
        });
        let computed = self.indexes.iter().flat_map(Index::definitions);
        let conditions = self.triggers.iter().filter_map(|trigger| trigger.when.as_ref());
        self.query().into_iter().chain(defaults).chain(checks).chain(computed).chain(conditions)
    }
}

impl UserType {
    /// All definitions of a domain: its default and its CHECKs.
    pub fn definitions(&self) -> impl Iterator<Item = &Definition> {
        let domain = self.domain().into_iter();
        domain.flat_map(|domain| {
            domain.default.iter().chain(domain.checks.iter().map(|check| &check.text))
        })
    }
}
