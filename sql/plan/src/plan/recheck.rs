//! What is asked and computed again of a row that was waited for, once somebody else has changed it (`EvalPlanQual`).

use super::physical::{Again, Plan};
use super::scalar::Scalar;
use crate::bind::logical::JoinKind;

/// All conditions of a block's inner joins, filters and scans: what a changed row must still meet.
pub(super) fn conditions(plan: &Plan) -> Vec<Scalar> {
    let conditions = again(plan).into_iter().filter_map(|step| match step {
        Again::Meet(conditions) => Some(conditions),
        Again::Compute(..) => None,
    });
    conditions.flatten().collect()
}

/// What is done with a block's rows below its locks, from the scans upwards.
pub(super) fn again(plan: &Plan) -> Vec<Again> {
    let mut all = Vec::new();
    collect(plan, &mut all);
    all
}

fn collect(plan: &Plan, all: &mut Vec<Again>) {
    let meet = |conjuncts: &[Scalar], all: &mut Vec<Again>| {
        if !conjuncts.is_empty() {
            all.push(Again::Meet(conjuncts.to_vec()));
        }
    };
    match plan {
        Plan::Filter(input, conjuncts) => {
            collect(input, all);
            meet(conjuncts, all);
        }
        // Its own come first here too: what leaks is not asked of a row that it shows no longer.
        Plan::Barrier(input, _) => collect(input, all),
        Plan::Scan(scan) => meet(&scan.filter, all),
        Plan::Join(join) if join.kind == JoinKind::Inner => {
            collect(&join.left, all);
            collect(&join.right, all);
            meet(&join.on, all);
        }
        // The row that a semi join has met stands in its homes.
        Plan::Join(join) if join.kind == JoinKind::Semi => {
            collect(&join.left, all);
            meet(&join.on, all);
        }
        Plan::Join(join) if matches!(join.kind, JoinKind::Left | JoinKind::Anti) => {
            collect(&join.left, all);
        }
        Plan::Join(join) if join.kind == JoinKind::Right => collect(&join.right, all),
        Plan::Project(input, slot, columns) => {
            collect(input, all);
            all.push(Again::Compute(*slot, columns.clone()));
        }
        Plan::Sort(sort) => collect(&sort.input, all),
        _ => {}
    }
}
