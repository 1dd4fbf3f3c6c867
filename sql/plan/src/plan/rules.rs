//! The driver of the planner's rules. Which there are says [`crate::settings::rule`].
//!
//! The planner goes over a plan once, from its root to its scans and back, and comes to each rule where the part of the plan
//! is at hand that it changes: nothing is tried again until nothing changes, as in a rewriter, and no rule is looked for.
//! Whoever has such a part asks here: [`Planner::apply`] leaves it as it is where the rule is switched off, and in builds
//! with assertions verifies what has become of it ([`super::verify`]): it reads nothing that it has not read before, and
//! whoever stands above it finds all that was there. A rule that weighs several plans asks [`Planner::allows`] whether it
//! may take its own, and has that verified by [`Planner::before`] and [`Planner::after`].

use super::build::Planner;
use super::physical::{Join, Plan, Scan};
use super::scalar::Scalar;
use super::verify::{Interface, Verifier};
use crate::settings::{Rule, RuleSet};

/// A part of a plan that a rule makes anew.
pub(super) trait Part {
    /// What stands around it sees of it.
    fn interface(&self, verifier: &mut Verifier<'_>) -> Interface;
}

impl Part for Plan {
    fn interface(&self, verifier: &mut Verifier<'_>) -> Interface {
        verifier.plan(self)
    }
}

impl Part for Join {
    fn interface(&self, verifier: &mut Verifier<'_>) -> Interface {
        verifier.join(self)
    }
}

/// A plan and conditions that are asked of its rows.
impl Part for (Plan, Vec<Scalar>) {
    fn interface(&self, verifier: &mut Verifier<'_>) -> Interface {
        let below = verifier.plan(&self.0);
        verifier.under(below, &self.1)
    }
}

/// A join and conditions that are asked of its rows.
impl<const N: usize> Part for (&Join, [&[Scalar]; N]) {
    fn interface(&self, verifier: &mut Verifier<'_>) -> Interface {
        let below = verifier.join(self.0);
        self.1.iter().fold(below, |below, conditions| verifier.under(below, conditions))
    }
}

/// A scan and conditions that are asked of its rows.
impl Part for (&Scan, &[Scalar]) {
    fn interface(&self, verifier: &mut Verifier<'_>) -> Interface {
        let below = verifier.scan(self.0);
        verifier.under(below, self.1)
    }
}

/// What a part was before a rule was applied to it; nothing in builds without assertions.
#[must_use]
pub(super) struct Before(Option<(Rule, Interface)>);

impl Planner<'_> {
    /// Whether a rule may be applied.
    #[inline]
    pub(super) fn allows(&self, rule: Rule) -> bool {
        self.rules.has(rule)
    }

    /// Plans as if these rules were switched on, where a statement is refused without them.
    pub(super) fn with_rules<T>(&mut self, rules: &[Rule], plan: impl FnOnce(&mut Self) -> T) -> T {
        let on = rules.iter().fold(self.rules, |all, rule| all.with(*rule));
        let own: RuleSet = std::mem::replace(&mut self.rules, on);
        let planned = plan(self);
        self.rules = own;
        planned
    }

    /// What a rule makes of a part.
    ///
    /// # Errors
    /// The part as it is, where the rule is switched off.
    #[inline]
    pub(super) fn apply<P: Part, Q: Part>(
        &mut self,
        rule: Rule,
        part: P,
        rewrite: impl FnOnce(&mut Self, P) -> Q,
    ) -> Result<Q, P> {
        if !self.allows(rule) {
            return Err(part);
        }
        let before = self.before(rule, &part);
        let part = rewrite(self, part);
        self.after(before, &part);
        Ok(part)
    }

    /// Looks at a part that a rule is about to be applied to.
    #[inline]
    pub(super) fn before(&self, rule: Rule, part: &impl Part) -> Before {
        Before(cfg!(debug_assertions).then(|| (rule, part.interface(&mut self.verifier()))))
    }

    /// Verifies what the rule has made of it.
    ///
    /// # Panics
    /// In builds with assertions, where it is not what it was for whoever stands around it.
    #[inline]
    pub(super) fn after(&self, before: Before, part: &impl Part) {
        if let Before(Some((rule, before))) = before {
            let after = part.interface(&mut self.verifier());
            let around = self.levels.iter().flatten();
            if let Err(fault) = before.stands_for(&after, around) {
                panic!("the rule {} has made a wrong plan: {fault}", rule.name());
            }
        }
    }

    /// Verifies a whole plan whose rows have these homes.
    ///
    /// # Panics
    /// In builds with assertions, where it reads what nobody fills.
    pub fn verify(&self, plan: &Plan, output: &[super::Var]) {
        if cfg!(debug_assertions) {
            let mut verifier = self.verifier();
            let whole = verifier.plan(plan);
            if let Err(fault) = whole.is_whole(output) {
                panic!("the planner has made a wrong plan: {fault}");
            }
        }
    }

    fn verifier(&self) -> Verifier<'_> {
        Verifier::new(&self.widths, &self.subplans, &self.ctes)
    }
}
