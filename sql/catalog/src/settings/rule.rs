//! The rules of the planner: what each promises, where PostgreSQL has it, and the setting that switches it off.
//!
//! A rule makes another plan of a part of one, or lets a method be chosen, and a statement gives the same rows without it.
//! All of them can be off at once. What a statement has no plan or another answer without is no rule and is not listed:
//!
//! - the methods that are weighed by what they cost (`enable_seqscan`, `enable_indexscan`, `enable_nestloop`,
//!   `enable_hashjoin`, `enable_sort`: [`super::Methods`]), of which one has to be taken;
//! - the computing of constants, which decides what fails before there is a row;
//! - a right join as a left one from the other side, AND and OR made flat, a query in FROM without WITH as a part of the plan
//!   around it: forms that all rules begin with;
//! - leaving out columns that nobody reads, which decides what is computed and so what may fail.
//!
//! The planner applies each by its driver (`plan::rules`), which verifies what it has made in builds with assertions.
//! Another rule is another row of the table; its place is where EXPLAIN (STAGES) switches it on.

use super::definition::{Context, Definition, Kind};

/// A rule of the planner.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Rule {
    /// Bodies of SQL functions stand in place of their calls.
    InlineFunctions,
    /// WITH queries that are named once stand where they are named.
    MergeCtes,
    /// EXISTS asks for a row and not for what is in it.
    SimplifyExists,
    /// EXISTS and IN as semi joins, NOT EXISTS as an anti join.
    PullUpSublinks,
    /// What a LATERAL query asks of its rows by the values of another row is a condition of the join.
    PullUpLaterals,
    /// Left joins that add no row and of which nothing is read are left out, and windows.
    RemoveUnread,
    /// Conditions go down to where their values first exist.
    PushDownConditions,
    /// An outer join whose missing rows a condition drops is an inner one.
    ReduceOuterJoins,
    /// Conditions that no row has a part in are asked once.
    OneTimeFilters,
    /// Columns that hold subqueries are computed above the joins.
    PostponeSubqueries,
    /// Columns of inner joins that are equal to one that has a value are compared with that.
    ImplyEqualities,
    /// Inner joins in the cheapest order.
    OrderJoins,
    /// A semi join as an inner join with the different rows of its right side.
    UniqueSemijoins,
    /// The sides of an OR through a key each.
    UnionsOfKeys,
    /// An index alone, where it holds all that is asked for.
    IndexOnlyScans,
    /// The rows of a subquery in a hash table.
    HashSubplans,
    /// An EXISTS that is asked often as a membership.
    ExistsAsAny,
    /// Rows that are read again and again are kept.
    Materialize,
    /// No sort of rows that a key has in order.
    AvoidSorts,
    /// Rows that shall differ are sorted once, below the DISTINCT.
    SortBelowDistinct,
    /// A sort below a LIMIT keeps the first rows only.
    BoundSorts,
    /// Rows that a key has in the order of the first columns are sorted by the others, part by part.
    IncrementalSorts,
    /// Joins as they give the first rows soonest, below a LIMIT.
    PlanForFirstRows,
    /// The least and the greatest value by a key.
    ExtremesByKey,
    /// What is cheap to ask is asked first.
    OrderConditions,
}

/// What is said of a rule.
#[derive(Debug)]
pub struct Description {
    /// The rule.
    pub rule: Rule,
    /// Its name.
    pub name: &'static str,
    /// The setting that switches it off: PostgreSQL's where it has one.
    pub setting: &'static str,
    /// What the setting does, in the words of PostgreSQL's `enable_*`.
    pub description: &'static str,
    /// Where PostgreSQL has it: its file, and the function in it.
    pub origin: (&'static str, &'static str),
}

const fn rule(
    rule: Rule,
    (name, setting): (&'static str, &'static str),
    description: &'static str,
    origin: (&'static str, &'static str),
) -> Description {
    Description { rule, name, setting, description, origin }
}

/// The rules, in the order of [`Rule`].
pub static RULES: [Description; 25] = [
    rule(
        Rule::InlineFunctions,
        ("inline_functions", "atoll.enable_inline_functions"),
        "Enables the planner to put the bodies of SQL functions in place of their calls.",
        ("optimizer/util/clauses.c", "inline_function"),
    ),
    rule(
        Rule::MergeCtes,
        ("merge_ctes", "atoll.enable_merge_ctes"),
        "Enables the planner to put WITH queries in the place of their only name.",
        ("optimizer/plan/subselect.c", "inline_cte"),
    ),
    rule(
        Rule::SimplifyExists,
        ("simplify_exists", "atoll.enable_simplify_exists"),
        "Enables the planner to leave out of EXISTS what does not decide whether there is a row.",
        ("optimizer/plan/subselect.c", "simplify_EXISTS_query"),
    ),
    rule(
        Rule::PullUpSublinks,
        ("pull_up_sublinks", "atoll.enable_pull_up_sublinks"),
        "Enables the planner to make joins of EXISTS and IN.",
        ("optimizer/prep/prepjointree.c", "pull_up_sublinks"),
    ),
    rule(
        Rule::PullUpLaterals,
        ("pull_up_laterals", "atoll.enable_pull_up_laterals"),
        "Enables the planner to join LATERAL queries by what they ask of other rows.",
        ("optimizer/prep/prepjointree.c", "pull_up_subqueries"),
    ),
    rule(
        Rule::RemoveUnread,
        ("remove_unread", "atoll.enable_remove_unread"),
        "Enables the planner to leave out left joins and window functions that nobody reads.",
        ("optimizer/plan/analyzejoins.c", "remove_useless_joins"),
    ),
    rule(
        Rule::PushDownConditions,
        ("push_down_conditions", "atoll.enable_push_down_conditions"),
        "Enables the planner to ask conditions below joins and queries in FROM.",
        ("optimizer/plan/initsplan.c", "distribute_qual_to_rels"),
    ),
    rule(
        Rule::ReduceOuterJoins,
        ("reduce_outer_joins", "atoll.enable_reduce_outer_joins"),
        "Enables the planner to make inner joins of outer joins whose missing rows are dropped.",
        ("optimizer/prep/prepjointree.c", "reduce_outer_joins"),
    ),
    rule(
        Rule::OneTimeFilters,
        ("one_time_filters", "atoll.enable_one_time_filters"),
        "Enables the planner to ask conditions once that are the same for all rows.",
        ("optimizer/plan/createplan.c", "create_gating_plan"),
    ),
    rule(
        Rule::PostponeSubqueries,
        ("postpone_subqueries", "atoll.enable_postpone_subqueries"),
        "Enables the planner to compute columns that hold subqueries above joins.",
        ("optimizer/prep/prepjointree.c", "pull_up_simple_subquery"),
    ),
    rule(
        Rule::ImplyEqualities,
        ("imply_equalities", "atoll.enable_imply_equalities"),
        "Enables the planner to compare columns with a value that are joined with a column which is equal to it.",
        ("optimizer/path/equivclass.c", "generate_base_implied_equalities"),
    ),
    rule(
        Rule::OrderJoins,
        ("order_joins", "atoll.enable_order_joins"),
        "Enables the planner to join in another order than the written one.",
        ("optimizer/path/allpaths.c", "standard_join_search"),
    ),
    rule(
        Rule::UniqueSemijoins,
        ("unique_semijoins", "atoll.enable_unique_semijoins"),
        "Enables the planner to begin a semi join with the different rows of its right side.",
        ("optimizer/util/pathnode.c", "create_unique_path"),
    ),
    rule(
        Rule::UnionsOfKeys,
        ("unions_of_keys", "enable_bitmapscan"),
        "",
        ("optimizer/path/indxpath.c", "generate_bitmap_or_paths"),
    ),
    rule(
        Rule::IndexOnlyScans,
        ("index_only_scans", "enable_indexonlyscan"),
        "",
        ("optimizer/path/indxpath.c", "check_index_only"),
    ),
    rule(
        Rule::HashSubplans,
        ("hash_subplans", "atoll.enable_hash_subplans"),
        "Enables the planner to keep the rows of IN (SELECT ...) in a hash table.",
        ("optimizer/plan/subselect.c", "subplan_is_hashable"),
    ),
    rule(
        Rule::ExistsAsAny,
        ("exists_as_any", "atoll.enable_exists_as_any"),
        "Enables the planner to keep the rows of EXISTS in a hash table.",
        ("optimizer/plan/subselect.c", "convert_EXISTS_to_ANY"),
    ),
    rule(
        Rule::Materialize,
        ("materialize", "enable_material"),
        "",
        ("optimizer/path/joinpath.c", "match_unsorted_outer"),
    ),
    rule(
        Rule::AvoidSorts,
        ("avoid_sorts", "atoll.enable_avoid_sorts"),
        "Enables the planner to leave out sorts of rows that a key has in order.",
        ("optimizer/path/pathkeys.c", "pathkeys_contained_in"),
    ),
    rule(
        Rule::SortBelowDistinct,
        ("sort_below_distinct", "atoll.enable_sort_below_distinct"),
        "Enables the planner to sort the rows of DISTINCT for ORDER BY before it drops any.",
        ("optimizer/plan/planner.c", "create_final_distinct_paths"),
    ),
    rule(
        Rule::BoundSorts,
        ("bound_sorts", "atoll.enable_bound_sorts"),
        "Enables the planner to have sorts keep no more rows than LIMIT lets through.",
        ("executor/execProcnode.c", "ExecSetTupleBound"),
    ),
    rule(
        Rule::IncrementalSorts,
        ("incremental_sorts", "enable_incremental_sort"),
        "",
        ("optimizer/path/costsize.c", "cost_incremental_sort"),
    ),
    rule(
        Rule::PlanForFirstRows,
        ("plan_for_first_rows", "atoll.enable_plan_for_first_rows"),
        "Enables the planner to join for the first rows where a LIMIT wants no more.",
        ("optimizer/plan/planner.c", "preprocess_limit"),
    ),
    rule(
        Rule::ExtremesByKey,
        ("extremes_by_key", "atoll.enable_extremes_by_key"),
        "Enables the planner to read min and max from where a key begins and ends.",
        ("optimizer/plan/planagg.c", "preprocess_minmax_aggregates"),
    ),
    rule(
        Rule::OrderConditions,
        ("order_conditions", "atoll.enable_order_conditions"),
        "Enables the planner to ask conditions in the order of what they cost.",
        ("optimizer/plan/createplan.c", "order_qual_clauses"),
    ),
];

impl Rule {
    /// What is said of it.
    #[must_use]
    pub fn description(self) -> &'static Description {
        &RULES[self as usize]
    }

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.description().name
    }

    const fn bit(self) -> u32 {
        1 << self as u8
    }
}

/// Rules that may be applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RuleSet(u32);

impl RuleSet {
    /// All of them.
    pub const ALL: RuleSet = RuleSet((1 << RULES.len()) - 1);
    /// None of them.
    pub const NONE: RuleSet = RuleSet(0);

    /// Whether a rule is among them.
    #[must_use]
    #[inline]
    pub const fn has(self, rule: Rule) -> bool {
        self.0 & rule.bit() != 0
    }

    /// These and one more.
    #[must_use]
    pub const fn with(self, rule: Rule) -> RuleSet {
        RuleSet(self.0 | rule.bit())
    }

    /// These but one.
    #[must_use]
    pub const fn without(self, rule: Rule) -> RuleSet {
        RuleSet(self.0 & !rule.bit())
    }
}

impl Default for RuleSet {
    fn default() -> Self {
        RuleSet::ALL
    }
}

/// The settings of those rules that PostgreSQL has none for.
pub(super) fn definitions() -> impl Iterator<Item = Definition> {
    RULES.iter().filter(|rule| rule.setting.starts_with("atoll.")).map(|rule| Definition {
        name: rule.setting,
        unit: None,
        category: "Query Tuning / Planner Method Configuration",
        short_description: rule.description,
        extra_description: None,
        context: Context::User,
        kind: Kind::Bool,
        boot: "on",
        followed: true,
        hidden: false,
        no_reset_all: false,
        flags: "EXPLAIN",
        list: None,
        library: None,
        guarded: false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::definition::definition;

    #[test]
    fn the_table_is_in_the_order_of_the_rules() {
        for (at, rule) in RULES.iter().enumerate() {
            assert_eq!(rule.rule as usize, at, "{}", rule.name);
            assert!(RuleSet::ALL.has(rule.rule) && !RuleSet::NONE.has(rule.rule));
            assert_eq!(RuleSet::NONE.with(rule.rule).without(rule.rule), RuleSet::NONE);
        }
    }

    #[test]
    fn each_rule_has_a_setting_that_is_on() {
        for rule in &RULES {
            let setting = definition(rule.setting).expect(rule.setting);
            assert_eq!((&setting.kind, setting.boot), (&Kind::Bool, "on"), "{}", rule.name);
            assert!(setting.followed, "{}", rule.name);
            let own = format!("atoll.enable_{}", rule.name);
            assert!(!rule.setting.starts_with("atoll.") || rule.setting == own, "{}", rule.name);
        }
    }
}
