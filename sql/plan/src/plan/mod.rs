//! Plans: how the rows of a bound statement are made, and the rules that make that cheap.
//!
//! A bound query ([`crate::bind::logical`]) becomes a plan ([`physical`]) in two steps. [`build`] gives every value a home, a [`Var`],
//! that it keeps from the scan to the sink, and turns expressions into [`scalar`]s over homes. Because a scalar says where
//! its values are, and not which column of which input they were, the rules can then move it freely. What is constant
//! is computed on the way ([`fold`]):
//! [`equivalence`] says what follows from equalities, [`pushdown`] brings conditions down to where their values first exist, [`unread`] leaves out what nobody asks for, [`join_order`] orders the others, [`access_path`]
//! picks how a table is read, [`condition_order`] asks what is cheap first, [`order`] drops sorts that an index has done.
//! They weigh by what [`estimate`] makes of ANALYZE's [`figures`]. Each rule has a name and a switch, and is verified
//! ([`rules`], [`verify`]).

pub mod access_path;
mod aggregate;
pub mod build;
pub mod condition_order;
pub mod covering;
pub mod cte;
mod equivalence;
pub mod estimate;
pub mod exists;
pub mod figures;
pub mod fold;
pub mod functions;
pub mod implied;
mod join_order;
mod lateral;
mod locking;
pub mod modify;
pub mod order;
pub mod pattern;
pub mod physical;
pub mod pushdown;
mod recheck;
mod rules;
pub mod scalar;
mod scan;
pub mod set_calls;
mod sublinks;
pub mod subplan;
#[cfg(test)]
mod tests;
pub mod translate;
mod unread;
pub mod vars;
mod verify;
mod window;

pub use build::Planner;
pub use figures::{Facts, Figures};
pub use physical::Plan;
pub use scalar::{Scalar, Var};
