//! What programs promise.
//!
//! Jumps lead forward and within the program, but for those that end a turn of a loop: these lead back to where the list's
//! next element is taken, of which there are ever fewer. So a program ends. A register is written before it is read on every way
//! that leads there, a list is made before it is used, and what a step does is there and of its kind.

use super::Code;
use super::step::{Operand, Step};
use std::collections::HashMap;

/// A program that is larger than this, its registers times its steps, is believed.
const SIZE_MAX: usize = 1 << 24;

/// What is written, and which lists are made.
#[derive(Clone, Debug)]
struct Known {
    registers: Box<[u64]>,
    lists: Box<[bool]>,
}

impl Known {
    fn writes(&mut self, register: u32) {
        self.registers[register as usize / 64] |= 1 << (register % 64);
    }

    fn has(&self, register: u32) -> bool {
        self.registers[register as usize / 64] >> (register % 64) & 1 == 1
    }

    /// What is known on two ways.
    fn meet(&mut self, other: &Known) {
        self.registers.iter_mut().zip(&other.registers).for_each(|(own, other)| *own &= other);
        self.lists.iter_mut().zip(&other.lists).for_each(|(own, other)| *own &= other);
    }
}

/// Whether a program keeps them.
pub(super) fn holds(code: &Code) -> bool {
    let count = code.steps.len();
    if count.saturating_mul(code.registers as usize) > SIZE_MAX {
        return true;
    }
    let words = (code.registers as usize).div_ceil(64).max(1);
    let start =
        Known { registers: vec![0; words].into(), lists: vec![false; code.lists as usize].into() };
    // What is known where steps jump to, until they are come to.
    let mut landings: HashMap<usize, Known> = HashMap::new();
    let mut here = Some(start);
    for (at, step) in code.steps.iter().enumerate() {
        here = merged(here, landings.remove(&at));
        let Some(known) = &mut here else { return false };
        let effect = step.effect();
        let many = match effect.many {
            None => &[],
            Some(many) => {
                let end = many.first as usize + many.count as usize;
                if end > code.operands.len() {
                    return false;
                }
                code.list(many)
            }
        };
        let fits =
            effect.reads.iter().flatten().chain(many).all(|operand| is_there(code, operand, known))
                && effect.writes.is_none_or(|to| to < code.registers)
                && effect.needs.is_none_or(|list| known.lists.get(list as usize) == Some(&true))
                && effect.makes.is_none_or(|list| list < code.lists)
                && effect.knows.is_none_or(|(number, is_of_kind)| {
                    code.operations.get(number as usize).is_some_and(is_of_kind)
                })
                && match step {
                    Step::Again { head } => leads_back(code, at, *head as usize),
                    Step::Retain { head, .. } => {
                        matches!(code.steps[..at].get(*head as usize), Some(Step::Recall { .. }))
                    }
                    _ => true,
                };
        if !fits {
            return false;
        }
        if let Some((end, alone)) = effect.jump {
            let (end, mut landing) = (end as usize, known.clone());
            if end <= at || end > count || alone.is_some_and(|to| to >= code.registers) {
                return false;
            }
            alone.into_iter().for_each(|to| landing.writes(to));
            let landing = merged(landings.remove(&end), Some(landing));
            landings.extend(landing.map(|landing| (end, landing)));
        }
        effect.writes.into_iter().for_each(|to| known.writes(to));
        if let Some(list) = effect.makes {
            known.lists[list as usize] = true;
        }
        if !effect.falls {
            here = None;
        }
    }
    let known = merged(here, landings.remove(&count));
    known.is_some_and(|known| code.results.iter().all(|one| is_there(code, one, &known)))
}

fn merged(one: Option<Known>, other: Option<Known>) -> Option<Known> {
    match (one, other) {
        (Some(mut one), Some(other)) => {
            one.meet(&other);
            Some(one)
        }
        (one, other) => one.or(other),
    }
}

fn is_there(code: &Code, operand: &Operand, known: &Known) -> bool {
    match operand {
        Operand::Register(number) => *number < code.registers && known.has(*number),
        Operand::Constant(number) => (*number as usize) < code.constants.len(),
        Operand::Var(_) | Operand::Parameter(_) | Operand::Integer(_) => true,
    }
}

/// Whether a loop's end leads to where its next element is taken, and nothing in between sets its counter back.
fn leads_back(code: &Code, at: usize, head: usize) -> bool {
    let Some(Step::Next { at: counter, .. }) = code.steps.get(head).filter(|_| head < at) else {
        return false;
    };
    code.steps[head..at].iter().all(|step| step.effect().writes != Some(*counter))
}
