//! Machines that rest: a statement that runs again finds its operators built, whatever has run between. One that comes by
//! Bind finds its portal as well, with its machine in it.
//!
//! Kept are a few machines that hold little, the newest last: what they have sorted or grouped of a few rows is no more than
//! their own memory. A machine pins its program and the handles of its trees, so one whose plan is not good any more goes when
//! others come.

use super::portal::Portal;
use crate::compile::Program;
use crate::exec::Machine;
use crate::prepared::Prepared;
use std::sync::Arc;

/// How many machines, and how many portals, a session keeps: an application's transactions have some dozens of statements
/// (TPC-C's five have thirty), which come in no order.
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

    /// Keeps a machine of which nobody wants more rows.
    pub fn give(&mut self, machine: Box<Machine>) {
        if machine.rest_bytes().is_none_or(|bytes| bytes > REST_BYTES_MAX) {
            return;
        }
        if self.0.len() >= MACHINES_MAX {
            self.0.remove(0);
        }
        self.0.push(Resting { address: address(machine.program()), machine });
    }
}

/// The portals without a name that rest, each the last of its statement.
#[derive(Default)]
pub(super) struct Portals(Vec<(usize, Box<Portal>)>);

impl Portals {
    /// The portal of this statement.
    pub fn take(&mut self, prepared: &Arc<Prepared>) -> Option<Box<Portal>> {
        let address = Arc::as_ptr(prepared).addr();
        let at = self.0.iter().rposition(|resting| resting.0 == address)?;
        Some(self.0.swap_remove(at).1)
    }

    /// Keeps a portal, or gives it back where it is not one that the next run of its statement can use as it is.
    pub fn give(&mut self, portal: Box<Portal>) -> Option<Box<Portal>> {
        if !portal.may_rest() {
            return Some(portal);
        }
        if self.0.len() >= MACHINES_MAX {
            self.0.remove(0);
        }
        self.0.push((Arc::as_ptr(&portal.prepared).addr(), portal));
        None
    }
}

#[cfg(test)]
mod tests {
    use crate::session::tests::{bound, engine, say, session, session_of};

    #[test]
    fn a_machine_that_has_sorted_or_grouped_little_is_kept() {
        let engine = engine();
        let mut session = session(&engine);
        say(&mut session, "create table t (a int primary key, b text)");
        say(&mut session, "insert into t select g, 'row ' || g from generate_series(1, 500) g");
        for (query, kept) in [
            ("b from t where a < 4", 1),
            ("b from t where a < 4 order by b", 1),
            ("b from t where a < 400 order by b", 0),
            ("count(*), string_agg(b, ',') from t where a < 4", 1),
            ("string_agg(b, ',') from t", 0),
            ("max(b) from t where a < 400 group by a", 0),
            ("distinct a % 2 from t where a < 9", 1),
            ("distinct b from t order by b", 0),
            ("b from t where a = (select max(a) from t where a < 9) limit 1", 1),
            ("p.b from t p join t q on q.a = p.a + 1 where p.a < 4", 1),
            ("p.b from t p, t q where p.a < 4 and q.a < 4 and p.b || 1 = q.b", 1),
            ("p.b from t p join t q on q.b = p.b", 0),
            ("b from t where a < 4 union select b from t where a < 5", 1),
            ("with r as materialized (select b from t where a < 4) select p.b from r p, r q", 1),
            ("n from unnest(array[1, 2]) as n", 1),
            ("unnest(array[1, 2])", 1),
        ] {
            let before = session.machines.0.len();
            let select = if query.starts_with("with ") { "" } else { "select " };
            let body = format!("declare x record; begin {select}{query} into x; end");
            say(&mut session, &format!("do $$ {body} $$"));
            assert_eq!(session.machines.0.len() - before, kept, "{query}");
        }
    }

    #[test]
    fn statements_that_take_turns_find_their_portals() {
        let engine = engine();
        let mut session = session(&engine);
        let mut other = session_of(&engine, 2);
        say(&mut session, "create table t (a int primary key, b int)");
        say(&mut session, "insert into t select g, g from generate_series(1, 3) g");
        session.parse("reads", "select b from t where a = 2", &[]).unwrap();
        session.parse("writes", "update t set b = b + 1 where a = 2", &[]).unwrap();
        session.parse("begins", "begin", &[]).unwrap();
        session.parse("commits", "commit", &[]).unwrap();
        session.sync().unwrap();
        let mut expected = 2;
        // What others make of the table between two transactions shows, and so does what they did before.
        for change in
            ["select 1", "alter table t add c text", "truncate t", "insert into t values (2, 7)"]
        {
            bound(&mut session, "begins", true);
            for _ in 0..3 {
                let rows = bound(&mut session, "reads", true);
                assert!(rows.is_empty() || rows == [expected.to_string()], "{change}: {rows:?}");
                bound(&mut session, "writes", true);
                expected += i32::from(!rows.is_empty());
            }
            if change == "select 1" {
                assert_eq!(session.resting_portals.0.len(), 1, "the other one is the last");
            }
            bound(&mut session, "commits", true);
            say(&mut other, change);
            expected = if change.starts_with("insert") { 7 } else { expected };
        }
        assert_eq!(bound(&mut session, "reads", true), ["7"]);
        session.sync().unwrap();
        // A plan that is not good any more, and what rests of it, go when others come.
        for at in 0..2 * super::MACHINES_MAX {
            session.parse("", &format!("select b from t where a = {at}"), &[]).unwrap();
            bound(&mut session, "", true);
            session.sync().unwrap();
        }
        assert_eq!(session.resting_portals.0.len(), super::MACHINES_MAX);
    }

    /// A plan that changes a setting, a role or the catalog by a function is one that others are asked about anew.
    #[test]
    fn what_a_query_has_set_counts_for_a_statement_that_runs_again_in_its_transaction() {
        let engine = engine();
        let mut session = session(&engine);
        say(&mut session, "create schema a; create schema b; create role somebody");
        say(
            &mut session,
            "create table a.t as select 'a' as x; create table b.t as select 'b' as x",
        );
        say(&mut session, "set search_path = a");
        session.parse("reads", "select x from t", &[]).unwrap();
        session.parse("path", "select set_config('search_path', 'b', true)", &[]).unwrap();
        session.parse("zone", "select set_config('timezone', 'Asia/Tokyo', true)", &[]).unwrap();
        session.parse("shows", "select timestamptz '2020-01-01 00:00+00' :: text", &[]).unwrap();
        session.parse("role", "select set_config('role', 'somebody', true)", &[]).unwrap();
        session.parse("whoever", "select current_user", &[]).unwrap();
        session.parse("begins", "begin", &[]).unwrap();
        session.parse("ends", "rollback", &[]).unwrap();
        session.sync().unwrap();
        for (statement, setter, expected) in [
            ("reads", "path", ["a", "b"]),
            ("shows", "zone", ["2020-01-01 00:00:00+00", "2020-01-01 09:00:00+09"]),
            ("whoever", "role", ["postgres", "somebody"]),
        ] {
            bound(&mut session, "begins", true);
            for _ in 0..3 {
                assert_eq!(bound(&mut session, statement, true), [expected[0]]);
            }
            bound(&mut session, setter, true);
            for _ in 0..3 {
                assert_eq!(bound(&mut session, statement, true), [expected[1]]);
            }
            bound(&mut session, "ends", true);
            session.sync().unwrap();
            assert_eq!(bound(&mut session, statement, true), [expected[0]]);
            session.sync().unwrap();
        }
    }
}
