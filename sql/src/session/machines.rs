//! Machines that rest: a statement that runs again finds its operators built, whatever has run between.
//!
//! Kept are a few machines of programs that hold no rows, the newest last. A machine pins its program and the handles of
//! its trees, so one whose plan is not good any more goes when others come.

use crate::compile::Program;
use crate::exec::Machine;
use std::sync::Arc;

/// How many machines a session keeps.
const MACHINES_MAX: usize = 16;
/// What a machine, or a row of parameters, may hold at rest, in bytes.
pub(super) const REST_BYTES_MAX: usize = 4096;

/// The machines of a session that rest.
#[derive(Default)]
pub(super) struct Machines(Vec<Machine>);

impl Machines {
    /// A machine of this program, ready to run from the beginning.
    pub fn take(&mut self, program: &Arc<Program>) -> Machine {
        let at = self.0.iter().rposition(|machine| Arc::ptr_eq(machine.program(), program));
        let mut machine = match at {
            Some(at) => self.0.swap_remove(at),
            None => Machine::new(program),
        };
        machine.restart();
        machine
    }

    /// Keeps a machine whose run is over.
    pub fn give(&mut self, machine: Machine) {
        if !machine.program().lean || machine.rest_bytes() > REST_BYTES_MAX {
            return;
        }
        if self.0.len() >= MACHINES_MAX {
            self.0.remove(0);
        }
        self.0.push(machine);
    }
}
