//! What must be true after a restart, and what each client's story says.

use crate::client::{Answer, Client};
use crate::work::{ACCOUNTS, OPENING, Private, Story, own_rows, shown_rows};
use crate::world::TALLY;
use std::collections::{BTreeMap, BTreeSet};

/// Why an audit did not pass.
#[derive(Debug)]
pub enum Finding {
    /// There was no answer: the power went again.
    Silence,
    /// Something is wrong.
    Wrong(String),
}

type Audit<T = ()> = Result<T, Finding>;

fn ask(client: &mut Client, query: &str) -> Audit<Vec<String>> {
    match client.say(query) {
        Answer::Rows(rows) => Ok(rows),
        Answer::Nothing => Err(Finding::Silence),
        Answer::Refused(state, _) if state == "58030" => Err(Finding::Silence),
        Answer::Refused(state, message) => {
            Err(Finding::Wrong(format!("{query}: {state} {message}")))
        }
    }
}

fn expect(client: &mut Client, query: &str, expected: &[&str]) -> Audit {
    let rows = ask(client, query)?;
    if rows == expected {
        return Ok(());
    }
    Err(Finding::Wrong(format!("{query}: {rows:?} instead of {expected:?}")))
}

/// Compares what is there with what may be there, and from now on takes it for known.
pub fn audit(client: &mut Client, stories: &mut [Story]) -> Audit {
    for name in ask(client, "SELECT gid FROM pg_prepared_xacts ORDER BY gid")? {
        // All there or not at all: the client has not been told.
        TALLY.found_prepared.add(1);
        ask(client, &format!("COMMIT PREPARED '{name}'"))?;
    }
    let total = ACCOUNTS * OPENING;
    let sums = format!("{total}|{ACCOUNTS}");
    expect(client, "SELECT sum(balance), count(*) FROM account", &[&sums])?;
    // Each balance is what the journal makes of it.
    let balances = format!(
        "SELECT a.id FROM account a WHERE a.balance <> {OPENING} \
         + (SELECT coalesce(sum(j.amount), 0) FROM journal j WHERE j.target = a.id) \
         - (SELECT coalesce(sum(j.amount), 0) FROM journal j WHERE j.source = a.id)"
    );
    expect(client, &balances, &[])?;
    // So do the triggers.
    let mirrored = format!(
        "SELECT a.id FROM account a WHERE a.balance <> {OPENING} \
         + (SELECT coalesce(sum(m.amount), 0) FROM mirror m WHERE m.account = a.id)"
    );
    expect(client, &mirrored, &[])?;
    for table in ["child", "ward"] {
        let counted = format!(
            "SELECT b.parent, c.parent FROM (SELECT parent, n FROM brood WHERE kind = '{table}') b \
             FULL JOIN (SELECT parent, count(*) AS n FROM {table} GROUP BY parent) c \
             ON c.parent = b.parent WHERE coalesce(b.n, 0) <> coalesce(c.n, 0)"
        );
        expect(client, &counted, &[])?;
    }
    for (table, column) in [("child", "parent"), ("ward", "parent"), ("journal", "source")] {
        let parent = if table == "journal" { "account" } else { "parent" };
        let orphans = format!(
            "SELECT t.* FROM {table} t WHERE NOT EXISTS (SELECT 1 FROM {parent} p WHERE p.id = t.{column})"
        );
        expect(client, &orphans, &[])?;
    }
    expect(client, "SELECT code FROM claim GROUP BY code HAVING count(*) > 1", &[])?;
    journals(client, stories)?;
    numbers(client, stories)?;
    for (me, story) in stories.iter_mut().enumerate() {
        own(client, me, story)?;
    }
    Ok(())
}

/// Every transfer that anybody was told of is there; one more of each client may be.
fn journals(client: &mut Client, stories: &mut [Story]) -> Audit {
    let rows = ask(client, "SELECT client, count(*), max(seq) FROM journal GROUP BY client")?;
    let mut last = BTreeMap::new();
    for row in rows {
        let fields: Vec<u64> = row.split('|').filter_map(|field| field.parse().ok()).collect();
        match fields.as_slice() {
            [who, count, newest] if count == newest => drop(last.insert(*who, *newest)),
            _ => return Err(Finding::Wrong(format!("a gap in a journal: {row}"))),
        }
    }
    let there = |who: u64| last.get(&who).copied().unwrap_or(0);
    for (who, story) in stories.iter_mut().enumerate() {
        let (told, found) = (story.sure, there(who as u64));
        let most = story.transfers + u64::from(story.trying);
        if found < told || found > most {
            let what = format!("client {who} was told of transfer {told}, and {found} is there");
            return Err(Finding::Wrong(what));
        }
        for (other, seen) in &story.seen {
            if there(*other) < *seen {
                let found = there(*other);
                return Err(Finding::Wrong(format!(
                    "client {who} was shown transfer {seen} of client {other}, and {found} is there"
                )));
            }
        }
        (story.transfers, story.sure) = (found, found);
        story.trying = false;
    }
    Ok(())
}

/// No value of the sequence was given twice, nor will be.
fn numbers(client: &mut Client, stories: &[Story]) -> Audit {
    let mut given = BTreeSet::new();
    for number in stories.iter().flat_map(|story| &story.numbers) {
        if !given.insert(*number) {
            return Err(Finding::Wrong(format!("{number} was given twice")));
        }
    }
    let rows = ask(client, "SELECT nextval('number')")?;
    let next = rows.first().and_then(|row| row.parse().ok());
    if next > given.last().copied() {
        return Ok(());
    }
    Err(Finding::Wrong(format!("{rows:?} comes behind {:?}", given.last())))
}

/// A client's own rows and codes: what it knows, or that and the one transaction it was not answered.
fn own(client: &mut Client, me: usize, story: &mut Story) -> Audit {
    let rows = ask(client, &own_rows(me as u64))?;
    let codes = ask(client, &format!("SELECT code FROM claim WHERE holder = {me} ORDER BY code"))?;
    let told = std::iter::once(&story.known).chain(story.pending.as_ref());
    let candidates = told.chain(story.earlier.iter().rev());
    let shown = |state: &Private| {
        let codes: Vec<String> = state.claims.iter().map(ToString::to_string).collect();
        (shown_rows(&state.rows), codes)
    };
    let there = (rows, codes);
    let found = candidates.into_iter().find(|state| shown(state) == there).cloned();
    let Some(found) = found else {
        let known = shown(&story.known);
        let pending = story.pending.as_ref().map(shown);
        return Err(Finding::Wrong(format!(
            "client {me} has {there:?}\nand was told of {known:?}\nor tried {pending:?}"
        )));
    };
    story.known = found;
    story.pending = None;
    story.earlier.clear();
    Ok(())
}
