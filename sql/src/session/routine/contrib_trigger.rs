//! Functions of extensions that triggers call: `moddatetime`, `insert_username`, `autoinc` and `refint` (PostgreSQL's
//! `contrib/spi`), and `tcn`.
//!
//! PostgreSQL's are written in C over SPI. What they have run by the server is run here by the session, with the texts that
//! theirs have, so that what fails in them says the same.

use super::trigger::event_of;
use crate::catalog::quote::constant;
use crate::catalog::relation::Relation;
use crate::catalog::trigger::{self, NativeTrigger};
use crate::error::{Result, SqlError};
use crate::exec::trigger::Firing;
use crate::notify::checked;
use crate::session::Session;
use crate::sqlstate::SqlState;
use crate::tuple::RowBuf;
use crate::types::{Datum, Oid, SqlType, oids, read_text, text_of};

/// XX000: what a function says of how it is called.
fn misused(message: impl Into<String>) -> SqlError {
    SqlError::new(SqlState::INTERNAL_ERROR, message)
}

/// 09000.
fn exception(message: String) -> SqlError {
    SqlError::new(SqlState::TRIGGERED_ACTION_EXCEPTION, message)
}

/// The live column of a name, by index.
fn column(relation: &Relation, name: &str) -> Option<usize> {
    relation.columns.iter().position(|column| !column.dropped && *column.name == *name)
}

/// The column that an argument names, which has to be of one of these types.
fn column_of_type(relation: &Relation, name: &str, types: &[u32], said: &str) -> Result<usize> {
    let table = &relation.name;
    let at = column(relation, name)
        .ok_or_else(|| exception(format!("\"{table}\" has no attribute \"{name}\"")))?;
    if !types.contains(&relation.columns[at].ty.oid.0) {
        let message = format!("attribute \"{name}\" of \"{table}\" must be type {said}");
        return Err(exception(message));
    }
    Ok(at)
}

/// The row that a trigger before INSERT or UPDATE may change.
fn row_before<'f>(firing: &Firing<'f>, prefix: &str, inserts: bool) -> Result<&'f RowBuf> {
    if !firing.trigger.is_row() {
        return Err(misused(format!("{prefix}must be fired for row")));
    }
    if firing.trigger.kind & trigger::TIMING != trigger::BEFORE {
        return Err(misused(format!("{prefix}must be fired before event")));
    }
    match (firing.event, firing.new) {
        (trigger::INSERT, Some(new)) if inserts => Ok(new),
        (trigger::UPDATE, Some(new)) => Ok(new),
        (trigger::INSERT, _) => Err(misused(format!("{prefix}cannot process INSERT events"))),
        _ => Err(misused(format!("{prefix}cannot process DELETE events"))),
    }
}

/// A row with the value of one column.
fn with(row: &RowBuf, at: usize, value: Datum<'_>) -> RowBuf {
    let mut changed = row.clone();
    changed.set(at, value);
    changed
}

/// Appends a text in quotes, those in it doubled.
fn push_quoted(text: &mut String, part: &str, quote: char) {
    text.push(quote);
    for character in part.chars() {
        if character == quote {
            text.push(quote);
        }
        text.push(character);
    }
    text.push(quote);
}

/// The values of a key with their types, as a statement takes them.
#[derive(Default)]
struct KeyValues {
    types: Vec<Oid>,
    row: RowBuf,
}

impl KeyValues {
    /// The values of these columns; none if one of them is NULL.
    fn of(relation: &Relation, row: &RowBuf, names: &[&str]) -> Result<Option<KeyValues>> {
        let mut key = KeyValues::default();
        for name in names {
            let at = column(relation, name).ok_or_else(|| {
                let table = &relation.name;
                let message = format!("there is no attribute \"{name}\" in relation \"{table}\"");
                SqlError::new(SqlState::UNDEFINED_COLUMN, message)
            })?;
            if row.get(at).is_null() {
                return Ok(None);
            }
            key.types.push(relation.columns[at].ty.oid);
            key.row.push(row.get(at));
        }
        Ok(Some(key))
    }
}

/// `a = $1 and b = $2 `.
fn condition(columns: &[&str]) -> String {
    let one = |(at, column): (usize, &&str)| format!("{column} = ${} ", at + 1);
    columns.iter().enumerate().map(one).collect::<Vec<_>>().join("and ")
}

impl Session {
    /// Fires a trigger that calls a function of the server's own: the row that it returns.
    pub(super) fn fire_native(
        &mut self,
        native: NativeTrigger,
        firing: &Firing<'_>,
    ) -> Result<Option<RowBuf>> {
        match native {
            NativeTrigger::SuppressRedundantUpdates => super::trigger::suppress_redundant(firing),
            NativeTrigger::ModDateTime => self.moddatetime(firing),
            NativeTrigger::InsertUsername => self.insert_username(firing),
            NativeTrigger::AutoInc => self.autoinc(firing),
            NativeTrigger::ChangeNotification => self.notify_of_change(firing),
            NativeTrigger::CheckPrimaryKey => self.check_primary_key(firing),
            NativeTrigger::CheckForeignKey => self.check_foreign_key(firing),
        }
    }

    /// A column of an updated row becomes the time of the transaction.
    fn moddatetime(&mut self, firing: &Firing<'_>) -> Result<Option<RowBuf>> {
        let (row, relation) = (row_before(firing, "moddatetime: ", false)?, firing.relation);
        let [name] = &firing.trigger.arguments[..] else {
            let table = &relation.name;
            let message = format!("moddatetime ({table}): A single argument was expected");
            return Err(misused(message));
        };
        let types = [oids::TIMESTAMP, oids::TIMESTAMPTZ];
        let at = column_of_type(relation, name, &types, "TIMESTAMP or TIMESTAMPTZ")?;
        let ty = SqlType { typmod: -1, ..relation.columns[at].ty };
        self.with_context(|context| Ok(Some(with(row, at, read_text(context, ty, "now")?))))
    }

    /// A column of a new row becomes the name of who writes it.
    fn insert_username(&mut self, firing: &Firing<'_>) -> Result<Option<RowBuf>> {
        let (row, relation) = (row_before(firing, "insert_username: ", true)?, firing.relation);
        let [name] = &firing.trigger.arguments[..] else {
            let table = &relation.name;
            return Err(misused(format!("insert_username ({table}): one argument was expected")));
        };
        let at = column_of_type(relation, name, &[oids::TEXT], "TEXT")?;
        Ok(Some(with(row, at, Datum::Text(&self.identity.user_name))))
    }

    /// Columns of a new row that are NULL or 0 get the next values of sequences.
    fn autoinc(&mut self, firing: &Firing<'_>) -> Result<Option<RowBuf>> {
        let (row, relation) = (row_before(firing, "", true)?, firing.relation);
        let arguments = &firing.trigger.arguments;
        if arguments.is_empty() || !arguments.len().is_multiple_of(2) {
            let table = &relation.name;
            let wanted = "even number gt 0 of arguments was expected";
            return Err(misused(format!("autoinc ({table}): {wanted}")));
        }
        let mut changed = row.clone();
        for pair in arguments.chunks_exact(2) {
            let at = column_of_type(relation, &pair[0], &[oids::INT4], "INT4")?;
            if !matches!(row.get(at), Datum::Null | Datum::Int4(0)) {
                continue;
            }
            let mut next = self.next_of(&pair[1])?;
            if next == 0 {
                next = self.next_of(&pair[1])?;
            }
            changed.set(at, Datum::Int4(next));
        }
        Ok(Some(changed))
    }

    /// The next value of a sequence, as much of it as an integer has.
    fn next_of(&mut self, sequence: &str) -> Result<i32> {
        let query = format!("SELECT nextval({})", constant(sequence));
        let answer = self.answer(&query, KeyValues::default().parts());
        // Theirs calls the function, without a query around it.
        let answer =
            answer.map_err(|error| SqlError::new(error.state(), error.fields().message.clone()))?;
        let mut rows = answer.rows;
        let next = rows.pop().and_then(|mut row| row.pop().flatten());
        Ok(next.and_then(|next| next.parse::<i64>().ok()).unwrap_or_default() as i32)
    }

    /// Who listens is told of the primary key of a row that has changed.
    fn notify_of_change(&mut self, firing: &Firing<'_>) -> Result<Option<RowBuf>> {
        let refused = |what: &str| {
            let message = format!("triggered_change_notification: must {what}");
            SqlError::new(SqlState::TRIGGER_PROTOCOL_VIOLATED, message)
        };
        if firing.trigger.kind & trigger::TIMING != 0 {
            return Err(refused("be called after the change"));
        }
        let (true, Some(row)) = (firing.trigger.is_row(), firing.old.or(firing.new)) else {
            return Err(refused("be called for each row"));
        };
        let channel = match &firing.trigger.arguments[..] {
            [] => "tcn",
            [channel] => channel,
            _ => return Err(refused("not be called with more than one parameter")),
        };
        let relation = firing.relation;
        let key = relation.indexes.iter().find(|index| index.primary && index.is_valid());
        let key = key.ok_or_else(|| refused("be called on a table with a primary key"))?;
        let operation = event_of(firing.event).chars().next().unwrap_or_default();
        let mut payload = String::new();
        push_quoted(&mut payload, &relation.name, '"');
        payload.push(',');
        payload.push(operation);
        for part in &key.columns {
            let column = &relation.columns[part.column];
            payload.push(',');
            push_quoted(&mut payload, &column.name, '"');
            payload.push('=');
            let value = row.get(part.column);
            let text =
                self.with_context(|context| Ok(text_of(context, column.ty, &value)?.to_owned()))?;
            push_quoted(&mut payload, &text, '\'');
        }
        let said = checked(channel, &payload)?;
        self.said.get_mut().keep(said);
        Ok(None)
    }

    /// A row refers to one that is there.
    fn check_primary_key(&mut self, firing: &Firing<'_>) -> Result<Option<RowBuf>> {
        let refused = |what: &str| misused(format!("check_primary_key: {what}"));
        let row = match (firing.trigger.is_row(), firing.new) {
            (false, _) => return Err(refused("must be fired for row")),
            (true, None) => return Err(refused("cannot process DELETE events")),
            (true, Some(row)) => row,
        };
        let arguments: Vec<&str> = firing.trigger.arguments.iter().map(|one| &**one).collect();
        if arguments.len() % 2 != 1 {
            return Err(refused("odd number of arguments should be specified"));
        }
        let (names, rest) = arguments.split_at(arguments.len() / 2);
        let (table, keys) = (rest[0], &rest[1..]);
        let Some(key) = KeyValues::of(firing.relation, row, names)? else {
            return Ok(Some(row.clone()));
        };
        let query = format!("select 1 from {table} where {}", condition(keys));
        if self.answer(&query, key.parts())?.rows.is_empty() {
            let name = &firing.trigger.name;
            return Err(exception("tuple references non-existent key".to_owned()).detail(format!(
                "Trigger \"{name}\" found tuple referencing non-existent key in \"{table}\"."
            )));
        }
        Ok(Some(row.clone()))
    }

    /// Rows that refer to one that goes, or to its old key, forbid that, go with it or lose the reference.
    fn check_foreign_key(&mut self, firing: &Firing<'_>) -> Result<Option<RowBuf>> {
        let refused = |what: String| misused(format!("check_foreign_key: {what}"));
        let row = match (firing.trigger.is_row(), firing.old) {
            (false, _) => return Err(refused("must be fired for row".to_owned())),
            (true, None) => return Err(refused("cannot process INSERT events".to_owned())),
            (true, Some(row)) => row,
        };
        let arguments: Vec<&str> = firing.trigger.arguments.iter().map(|one| &**one).collect();
        let (count, relation) = (arguments.len(), firing.relation);
        if count < 5 {
            return Err(refused(format!("too short {count} (< 5) list of arguments")));
        }
        let references = self.with_context(|context| {
            let read = read_text(context, SqlType::plain(oids::INT4), arguments[0])?;
            Ok(if let Datum::Int4(number) = read { number } else { 0 })
        })?;
        if references < 1 {
            let message = format!("{references} (< 1) number of references specified");
            return Err(refused(message));
        }
        let action = arguments[1].chars().next().unwrap_or_default().to_ascii_lowercase();
        if !['r', 'c', 's'].contains(&action) {
            return Err(refused(format!("invalid action {}", arguments[1])));
        }
        let (references, given) = (references as usize, &arguments[2..]);
        let width = given.len().saturating_sub(references) / (references + 1);
        if width == 0 || given.len() != references + width * (references + 1) {
            let message =
                format!("invalid number of arguments {count} for {references} references");
            return Err(refused(message));
        }
        let (names, others) = given.split_at(width);
        let returned = Some(firing.new.unwrap_or(row).clone());
        let Some(key) = KeyValues::of(relation, row, names)? else { return Ok(returned) };
        let mut changed = Vec::new();
        if let Some(new) = firing.new {
            let mut same = true;
            for name in names {
                let Some(at) = column(relation, name) else { continue };
                let ty = relation.columns[at].ty;
                let (was, is) = self.with_context(|context| {
                    let text = |row: &RowBuf| match row.get(at) {
                        Datum::Null => Ok(None),
                        value => text_of(context, ty, &value).map(|text| Some(text.to_owned())),
                    };
                    Ok((text(row)?, text(new)?))
                })?;
                same &= was == is;
                changed.push(is);
            }
            if same {
                return Ok(returned);
            }
        }
        for reference in others.chunks_exact(width + 1) {
            let (table, columns) = (reference[0], &reference[1..]);
            let condition = condition(columns);
            let list = |value: &dyn Fn(usize, &str) -> String| {
                let one = |(at, column): (usize, &&str)| value(at, column);
                columns.iter().enumerate().map(one).collect::<Vec<_>>().join(", ")
            };
            let query = match action {
                'r' => format!("select 1 from {table} where {condition}"),
                's' => {
                    let nulls = list(&|_, column| format!("{column} = null"));
                    format!("update {table} set {nulls} where {condition}")
                }
                _ if firing.new.is_some() => {
                    let values = list(&|at, column| {
                        let value = changed[at].as_deref().map(constant);
                        format!(" {column} = {} ", value.as_deref().unwrap_or("null"))
                    });
                    format!("update {table} set {values} where {condition}")
                }
                _ => format!("delete from {table} where {condition}"),
            };
            let name = &firing.trigger.name;
            if action != 'r' {
                let count = self.change(&query, key.parts())?;
                let done = if action == 'c' { "deleted" } else { "set to null" };
                let message = format!("{name}: {count} tuple(s) of {table} are {done}");
                self.notices.get_mut().push(SqlError::notice(message));
            } else if !self.answer(&query, key.parts())?.rows.is_empty() {
                let message = format!("\"{name}\": tuple is referenced in \"{table}\"");
                return Err(exception(message));
            }
        }
        Ok(returned)
    }
}

impl KeyValues {
    /// Their types, and the values, as a statement is given them.
    fn parts(&self) -> (&[Oid], RowBuf) {
        (&self.types, self.row.clone())
    }
}
