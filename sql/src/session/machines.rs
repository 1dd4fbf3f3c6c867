//! Machines that rest: a statement that runs again finds its operators built, whatever has run between.
//!
//! Kept are a few machines of programs that hold no rows, the newest last. A machine pins its program and the handles of
//! its trees, so one whose plan is not good any more goes when others come.

use crate::compile::Program;
use crate::exec::Machine;
use std::sync::Arc;

/// How many machines a session keeps: an application's transactions have some dozens of statements (TPC-C's five have
/// thirty), which come in no order.
const MACHINES_MAX: usize = 64;
/// What a machine, or a row of parameters, may hold at rest, in bytes.
pub(super) const REST_BYTES_MAX: usize = 4096;

/// The machines of a session that rest.
#[derive(Default)]
pub(super) struct Machines(Vec<Resting>);

/// A machine and where its program is, so that those of other programs need not be looked at.
struct Resting {
    address: usize,
    machine: Box<Machine>,
}

fn address(program: &Arc<Program>) -> usize {
    Arc::as_ptr(program).addr()
}

impl Machines {
    /// A machine of this program, ready to run from the beginning.
    pub fn take(&mut self, program: &Arc<Program>) -> Box<Machine> {
        // A machine holds its program, so no other one has come to lie there.
        let at = self.0.iter().rposition(|resting| resting.address == address(program));
        let mut machine = match at {
            Some(at) => self.0.swap_remove(at).machine,
            None => Box::new(Machine::new(program)),
        };
        machine.restart();
        machine
    }

    /// Keeps a machine whose run is over.
    pub fn give(&mut self, machine: Box<Machine>) {
        if !machine.program().lean || machine.rest_bytes() > REST_BYTES_MAX {
            return;
        }
        if self.0.len() >= MACHINES_MAX {
            self.0.remove(0);
        }
        self.0.push(Resting { address: address(machine.program()), machine });
    }
}
