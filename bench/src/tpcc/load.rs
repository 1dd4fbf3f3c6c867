//! The loader: each table made and filled by COPY in one transaction, then indexes and ANALYZE; a bar shows how far it is.

use super::Scale;
use super::client::{Client, Failure};
use super::functions;
use super::population::Population;
use super::schema::{INDEXES, TABLES};
use super::statement::Rows;
use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

/// The bar's width in characters.
const BAR: usize = 40;
/// How often it is drawn.
const REDRAW: Duration = Duration::from_millis(100);

/// What is shown of a load.
struct Progress {
    total: usize,
    done: usize,
    started: Instant,
    drawn: Option<Instant>,
}

impl Progress {
    fn draw(&mut self, what: &str, now: Instant) {
        if self.drawn.is_some_and(|drawn| now - drawn < REDRAW) || !std::io::stderr().is_terminal()
        {
            return;
        }
        self.drawn = Some(now);
        let full = self.done * BAR / self.total.max(1);
        let (bar, rest) = ("#".repeat(full), "-".repeat(BAR - full));
        let seconds = (now - self.started).as_secs();
        // A terminal that is gone is no reason to stop.
        let _ = write!(std::io::stderr(), "\r[{bar}{rest}] {seconds:4} s  {what:<12}");
    }

    fn end(&self) {
        if std::io::stderr().is_terminal() {
            let _ = writeln!(std::io::stderr());
        }
    }
}

/// Drops what is there of the tables, and loads them.
///
/// # Errors
/// The server's.
pub fn load(client: &mut dyn Client, scale: Scale, analyze: bool) -> Result<Duration, Failure> {
    let mut rows = Rows::default();
    let started = Instant::now();
    let total = TABLES.iter().map(|(name, _)| Population::of(name, scale).left()).sum();
    let mut progress = Progress { total, done: 0, started, drawn: None };
    functions::drop(client)?;
    for (name, _) in TABLES {
        client.execute(&format!("DROP TABLE IF EXISTS {name}"), &mut rows)?;
    }
    for (name, columns) in TABLES {
        client.execute("BEGIN", &mut rows)?;
        client.execute(&format!("CREATE TABLE {name} ({columns})"), &mut rows)?;
        let mut population = Population::of(name, scale);
        client.copy_in(&format!("COPY {name} FROM STDIN"), &mut |out| {
            progress.draw(name, Instant::now());
            let more = population.next(out);
            progress.done += usize::from(more);
            more
        })?;
        client.execute("COMMIT", &mut rows)?;
    }
    progress.drawn = None;
    progress.draw("indexes", Instant::now());
    for index in INDEXES {
        client.execute(index, &mut rows)?;
    }
    if analyze {
        client.execute("ANALYZE", &mut rows)?;
    }
    progress.end();
    Ok(started.elapsed())
}

/// How many warehouses the database has; none if it has no such table.
///
/// # Errors
/// The server's.
pub fn warehouses(client: &mut dyn Client) -> Result<Option<u32>, Failure> {
    let mut rows = Rows::default();
    match client.execute("SELECT count(*) FROM warehouse", &mut rows) {
        Ok(()) => Ok(Some(rows.int(0, 0) as u32)),
        Err(failure) if failure.sqlstate == "42P01" => Ok(None),
        Err(failure) => Err(failure),
    }
}
