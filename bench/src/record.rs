//! Rows of the pgbench table as they were measured, run by run: `results/pgbench.tsv`, from which the page is written.
//!
//! The whole table takes an hour and a half, so rows may be taken at several times: a row that is measured again replaces
//! what stood there, the others stay, and each says under which conditions it was measured.

use crate::matrix::{Row, floor_rows, rows};
use crate::report;
use crate::sample::Sample;
use anyhow::{Context, Result, ensure};
use std::fmt::Write;
use std::path::Path;

/// The columns of the file.
const HEADER: &str = "row\tserver\tper_second\tcpu_us\tsystem_us\tconditions";

/// A row, and what it was measured on and how: commit, versions, machine, pairs and seconds.
#[derive(Clone, Debug)]
pub struct Recorded {
    /// The row.
    pub row: Row,
    /// The conditions.
    pub conditions: String,
}

/// All rows that have been measured, in the table's order.
#[derive(Clone, Debug, Default)]
pub struct Record {
    /// The rows.
    pub rows: Vec<Recorded>,
}

/// The rows of the table and of the floor, without samples.
fn table() -> Vec<Row> {
    rows()
        .into_iter()
        .chain(floor_rows())
        .map(|(load, synchronous)| Row {
            load,
            synchronous,
            atoll: vec![],
            postgres: vec![],
            null: vec![],
        })
        .collect()
}

impl Record {
    /// Reads what has been kept; nothing if there is no file. A row that the table no longer has is forgotten.
    ///
    /// # Errors
    /// The file cannot be read, or is no such file.
    pub fn read(path: &Path) -> Result<Record> {
        if !path.exists() {
            return Ok(Record::default());
        }
        Record::parse(&std::fs::read_to_string(path)?)
    }

    fn parse(text: &str) -> Result<Record> {
        let mut lines = text.lines();
        ensure!(lines.next() == Some(HEADER), "the first line names other columns than these");
        let mut record = Record::default();
        let table = table();
        for line in lines {
            let fields: Vec<&str> = line.split('\t').collect();
            let [name, server, per_second, cpu_us, system_us, conditions] = fields[..] else {
                anyhow::bail!("not six fields: {line}");
            };
            let Some(empty) = table.iter().find(|row| report::name(row) == name) else { continue };
            if record.rows.last().is_none_or(|last| report::name(&last.row) != name) {
                let conditions = conditions.to_owned();
                record.rows.push(Recorded { row: empty.clone(), conditions });
            }
            let row = &mut record.rows.last_mut().expect("one was pushed").row;
            let samples = match server {
                "atoll" => &mut row.atoll,
                "postgres" => &mut row.postgres,
                "null" => &mut row.null,
                other => anyhow::bail!("there is no server \"{other}\": {line}"),
            };
            let number = |text: &str| text.parse::<f64>().with_context(|| line.to_owned());
            samples.push(Sample {
                per_second: number(per_second)?,
                cpu_us: number(cpu_us)?,
                system_us: number(system_us)?,
            });
        }
        Ok(record)
    }

    /// Takes a row in, in place of what was known of it.
    pub fn put(&mut self, row: Row, conditions: String) {
        self.rows.retain(|kept| report::name(&kept.row) != report::name(&row));
        self.rows.push(Recorded { row, conditions });
        let order: Vec<String> = table().iter().map(report::name).collect();
        self.rows
            .sort_by_key(|kept| order.iter().position(|name| *name == report::name(&kept.row)));
    }

    /// The rows alone.
    #[must_use]
    pub fn measured(&self) -> Vec<Row> {
        self.rows.iter().map(|kept| kept.row.clone()).collect()
    }

    /// The file's text.
    #[must_use]
    pub fn text(&self) -> String {
        let mut out = format!("{HEADER}\n");
        for Recorded { row, conditions } in &self.rows {
            let name = report::name(row);
            let servers = [("atoll", &row.atoll), ("postgres", &row.postgres), ("null", &row.null)];
            for (server, samples) in servers {
                for Sample { per_second, cpu_us, system_us } in samples {
                    writeln!(
                        out,
                        "{name}\t{server}\t{per_second:.1}\t{cpu_us:.3}\t{system_us:.3}\t{conditions}"
                    )
                    .expect("a string grows");
                }
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::{Record, table};
    use crate::report;
    use crate::sample::Sample;

    #[test]
    fn what_is_kept_is_read_again_and_a_row_replaces_itself() {
        let sample = |per_second| Sample { per_second, cpu_us: 10.5, system_us: 2.25 };
        let mut record = Record::default();
        let mut rows = table();
        rows.truncate(2);
        for (at, mut row) in rows.into_iter().enumerate().rev() {
            row.atoll = vec![sample(1.0), sample(2.0)];
            row.postgres = vec![sample(3.0)];
            record.put(row, format!("conditions {at}"));
        }
        let mut read = Record::parse(&record.text()).expect("it was written so");
        assert_eq!(read.text(), record.text());
        assert_eq!(read.rows[0].conditions, "conditions 0");
        let mut again = read.rows[1].row.clone();
        again.null = vec![sample(4.0)];
        read.put(again, "later".to_owned());
        assert_eq!((read.rows.len(), read.rows[1].row.null.len()), (2, 1));
        let page = report::markdown(&read);
        assert!(page.contains("\n\n(a) conditions 0\n\n(b) later\n\nCPU "), "{page}");
        assert!(Record::parse("other\n").is_err());
    }
}
