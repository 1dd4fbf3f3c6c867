//! Scripts of locks: one queue by itself, and the locks of tables with the lists of their owners. Owners are letters.
//!
//! `queue row` or `queue table` begins with an empty queue, `tables` with no locks of tables; then owners `ask` for modes, `release` all that
//! they hold, `cancel` their waits, or `pass` who they only stand behind. What is said is who has been granted by it, and how things
//! stand.

use super::mode::{Modes, RowLock, TableLock};
use super::queue::{Kind, LockQueue, Request};
use super::table::TableLocks;
use crate::owner::{OwnerId, Owners};
use crate::sync::lock;
use crate::{TableId, golden};
use std::fmt::Write;

/// How many owners there are.
const OWNERS: u32 = 8;

/// What a script is about.
enum Subject {
    Queue(Kind, LockQueue),
    Tables(Owners, TableLocks),
}

/// The modes of a kind, as scripts call them, in the order of their numbers.
fn modes(kind: Kind) -> Vec<String> {
    let words = |name: &str| {
        let mut words = String::new();
        for letter in
            name.trim_start_matches("For ").trim_end_matches("Lock").replace(' ', "").chars()
        {
            if letter.is_uppercase() && !words.is_empty() {
                words.push('-');
            }
            words.push(letter.to_ascii_lowercase());
        }
        words
    };
    match kind {
        Kind::Row => RowLock::ALL.map(|mode| words(mode.name())).into(),
        Kind::Table => TableLock::ALL.map(|mode| words(mode.name())).into(),
    }
}

fn mode(kind: Kind, word: &str) -> u8 {
    let at = modes(kind).iter().position(|mode| mode == word);
    at.unwrap_or_else(|| panic!("no mode is called {word}")) as u8
}

fn set(kind: Kind, held: Modes) -> String {
    let all = modes(kind).into_iter().enumerate();
    all.filter(|(at, _)| held >> at & 1 == 1).map(|(_, mode)| mode).collect::<Vec<_>>().join(" + ")
}

fn owner(letter: &str) -> OwnerId {
    OwnerId(u32::from(letter.as_bytes()[0] - b'a'))
}

fn letter(owner: OwnerId) -> String {
    char::from(b'a' + owner.0 as u8).to_string()
}

/// How a queue stands.
fn state(kind: Kind, queue: &LockQueue, text: &mut String) {
    let mut holders: Vec<_> = queue.holders().collect();
    holders.sort_by_key(|holder| holder.owner);
    for holder in holders {
        writeln!(text, "  {} holds {}", letter(holder.owner), set(kind, holder.modes)).unwrap();
    }
    for waiter in queue.waiters() {
        let mut blockers = Vec::new();
        queue.blockers(kind, waiter.owner, &mut |owner| blockers.push(letter(owner)));
        blockers.sort();
        let wanted = set(kind, 1 << waiter.mode);
        writeln!(
            text,
            "  {} waits for {wanted}, that is for {}",
            letter(waiter.owner),
            blockers.join(", ")
        )
        .unwrap();
    }
}

impl Subject {
    fn of(words: &[&str]) -> Subject {
        match words {
            ["queue", "row"] => Subject::Queue(Kind::Row, LockQueue::default()),
            ["queue", "table"] => Subject::Queue(Kind::Table, LockQueue::default()),
            ["tables"] => {
                let owners = Owners::new();
                (0..OWNERS).for_each(|_| {
                    owners.register();
                });
                Subject::Tables(owners, TableLocks::new())
            }
            _ => panic!("a script does not begin with {words:?}"),
        }
    }

    fn does(&mut self, words: &[&str]) -> String {
        let mut granted = Vec::new();
        let mut grant = |owner| granted.push(letter(owner));
        let (mut said, mut text) = (String::new(), String::new());
        match (&mut *self, words) {
            (Subject::Queue(kind, queue), ["ask", who, wanted]) => {
                let (who, wanted) = (owner(who), mode(*kind, wanted));
                said = match queue.request(*kind, who, wanted) {
                    Request::Granted(_) => "granted".to_owned(),
                    Request::Blocked => {
                        queue.enqueue(*kind, who, wanted, 0, &mut grant);
                        "waits".to_owned()
                    }
                };
            }
            (Subject::Queue(kind, queue), ["release", who]) => {
                queue.release(*kind, owner(who), 0, &mut grant);
            }
            (Subject::Queue(kind, queue), ["cancel", who]) => {
                if !queue.cancel(*kind, owner(who), &mut grant) {
                    said = "does not wait".to_owned();
                }
            }
            (Subject::Queue(kind, queue), ["pass", who]) => {
                said = if queue.pass(*kind, owner(who)) { "passes" } else { "stays" }.to_owned();
            }
            (Subject::Tables(owners, tables), ["ask", who, table, wanted]) => {
                let (who, table) = (owner(who), TableId(table.parse().unwrap()));
                let wanted = TableLock::ALL[usize::from(mode(Kind::Table, wanted))];
                let asked = tables.request(owners, who, (table, wanted), Some(0), &mut grant);
                said = if asked { "granted" } else { "waits" }.to_owned();
            }
            (Subject::Tables(owners, tables), ["release", who, table, gone]) => {
                let (who, table) = (owner(who), TableId(table.parse().unwrap()));
                let gone = 1 << mode(Kind::Table, gone);
                tables.release(owners, who, table, gone, &mut grant);
            }
            (Subject::Tables(_, tables), ["cancel", who, table, wanted]) => {
                let wanted = TableLock::ALL[usize::from(mode(Kind::Table, wanted))];
                let table = TableId(table.parse().unwrap());
                tables.cancel(owner(who), table, wanted, &mut grant);
            }
            (_, words) => panic!("no command is {words:?}"),
        }
        if !said.is_empty() {
            writeln!(text, "{said}").unwrap();
        }
        if !granted.is_empty() {
            writeln!(text, "granted: {}", granted.join(", ")).unwrap();
        }
        self.tell(&mut text);
        text
    }

    /// How all stands.
    fn tell(&self, text: &mut String) {
        match self {
            Subject::Queue(kind, queue) => {
                if queue.is_idle() {
                    text.push_str("  nobody\n");
                }
                state(*kind, queue, text);
            }
            Subject::Tables(owners, tables) => {
                for who in (0..OWNERS).map(OwnerId) {
                    for (table, held) in &*lock(&owners.get(who).intents) {
                        let held = set(Kind::Table, *held);
                        writeln!(
                            text,
                            "  in the list of {}: table {}, {held}",
                            letter(who),
                            table.0
                        )
                        .unwrap();
                    }
                }
                let mut shared = Vec::new();
                tables.for_each(&mut |table, queue| {
                    let mut text = format!("  in the shared table: table {}\n", table.0);
                    let mut of_queue = String::new();
                    state(Kind::Table, queue, &mut of_queue);
                    of_queue.lines().for_each(|line| writeln!(text, "  {line}").unwrap());
                    shared.push((table, text));
                });
                shared.sort();
                shared.iter().for_each(|(_, of_table)| text.push_str(of_table));
                if text.is_empty() {
                    text.push_str("  no locks\n");
                }
            }
        }
    }
}

#[test]
fn locks_do_what_scripts_say() {
    golden::run("lock", || {
        let mut subject: Option<Subject> = None;
        move |command: &str| {
            let words: Vec<&str> = command.split(' ').collect();
            match &mut subject {
                Some(subject) => subject.does(&words),
                None => {
                    let mut text = String::new();
                    subject.insert(Subject::of(&words)).tell(&mut text);
                    text
                }
            }
        }
    });
}
