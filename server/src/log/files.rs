//! The collector's files: a directory, names by the time, a new file after an age or a size (`syslogger.c`).
//!
//! There is no process that collects: who writes an event writes it into the file, behind one lock.

use crate::config::Config;
use jiff::Zoned;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// A form of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `stderr`.
    Text,
    /// `csvlog`.
    Csv,
    /// `jsonlog`.
    Json,
}

impl Kind {
    /// By the word of `log_destination`.
    pub fn named(word: &str) -> Option<Kind> {
        [Kind::Text, Kind::Csv, Kind::Json]
            .into_iter()
            .find(|kind| kind.word().eq_ignore_ascii_case(word))
    }

    fn word(self) -> &'static str {
        match self {
            Kind::Text => "stderr",
            Kind::Csv => "csvlog",
            Kind::Json => "jsonlog",
        }
    }

    fn suffix(self) -> Option<&'static str> {
        match self {
            Kind::Text => None,
            Kind::Csv => Some(".csv"),
            Kind::Json => Some(".json"),
        }
    }
}

/// Where files go, and for how long.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// `log_directory`, as it is shown, and where it is.
    shown: String,
    directory: PathBuf,
    pattern: String,
    mode: u32,
    truncate: bool,
    /// `log_rotation_age`, in seconds; 0 is never.
    age: i64,
    /// `log_rotation_size`, in bytes; 0 is never.
    size: u64,
    kinds: Vec<Kind>,
}

impl Place {
    /// As a configuration says.
    pub fn of(config: &Config, data: &Path) -> Place {
        let shown = config.text("log_directory").to_owned();
        let kinds =
            config.list("log_destination").iter().filter_map(|word| Kind::named(word)).collect();
        Place {
            directory: data.join(&shown),
            shown,
            pattern: config.text("log_filename").to_owned(),
            mode: config.integer("log_file_mode") as u32,
            truncate: config.is_on("log_truncate_on_rotation"),
            age: config.integer("log_rotation_age") * 60,
            size: config.integer("log_rotation_size").unsigned_abs() << 10,
            kinds,
        }
    }

    /// The name of a file that begins now.
    fn name(&self, kind: Kind, now: &Zoned) -> String {
        let name = jiff::fmt::strtime::format(&self.pattern, now);
        let name = name.unwrap_or_else(|_| self.pattern.clone());
        match kind.suffix() {
            None => name,
            Some(suffix) => name.strip_suffix(".log").unwrap_or(&name).to_owned() + suffix,
        }
    }

    /// When the next file begins: ages are counted from midnight of the log's zone.
    fn next(&self, now: &Zoned) -> Option<i64> {
        if self.age == 0 {
            return None;
        }
        let offset = i64::from(now.offset().seconds());
        let local = now.timestamp().as_second() + offset;
        Some(local - local.rem_euclid(self.age) + self.age - offset)
    }
}

#[derive(Debug)]
struct Open {
    kind: Kind,
    name: String,
    file: File,
    bytes: u64,
}

/// The files that are open.
#[derive(Debug)]
pub struct Files {
    place: Place,
    data: PathBuf,
    open: Vec<Open>,
    next: Option<i64>,
    asked: bool,
}

impl Files {
    /// Makes the directory if it is not there, and opens the first files.
    ///
    /// # Errors
    /// The system's.
    pub fn open(place: Place, data: &Path, now: &Zoned) -> io::Result<Files> {
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&place.directory)?;
        let next = place.next(now);
        let mut files =
            Files { place, data: data.to_owned(), open: Vec::new(), next, asked: false };
        // PostgreSQL has a file of text in any case.
        files.file(Kind::Text, now)?;
        for kind in files.place.kinds.clone() {
            files.file(kind, now)?;
        }
        files.tell_names();
        Ok(files)
    }

    /// Another place from now on: new files, if it is another one.
    pub fn set_place(&mut self, place: Place) {
        if self.place != place {
            // A directory that cannot be made is told of when a file in it cannot be.
            let _ = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&place.directory);
            self.place = place;
            self.asked = true;
        }
    }

    /// New files at the next event.
    pub fn ask_rotation(&mut self) {
        self.asked = true;
    }

    /// Writes an event.
    ///
    /// # Errors
    /// The system's.
    pub fn write(&mut self, kind: Kind, text: &str, now: &Zoned) -> io::Result<()> {
        self.rotate_if_due(now)?;
        let file = self.file(kind, now)?;
        file.bytes += text.len() as u64;
        file.file.write_all(text.as_bytes())
    }

    /// Where an open file is, as `log_directory` says it: of a format, or the first.
    pub fn current(&self, format: Option<&str>) -> Option<String> {
        let found = self.open.iter().find(|open| format.is_none_or(|it| it == open.kind.word()))?;
        Some(format!("{}/{}", self.place.shown, found.name))
    }

    /// Begins new files where the time has come, somebody has asked, or they have become too long.
    ///
    /// # Errors
    /// The system's.
    pub fn rotate_if_due(&mut self, now: &Zoned) -> io::Result<()> {
        let by_time = self.next.is_some_and(|next| now.timestamp().as_second() >= next);
        if by_time || self.asked {
            self.rotate(|_| true, by_time, now)?;
            self.next = self.place.next(now);
            self.asked = false;
        }
        let size = self.place.size;
        if size > 0 && self.open.iter().any(|open| open.bytes >= size) {
            self.rotate(|open| open.bytes >= size, false, now)?;
        }
        Ok(())
    }

    fn file(&mut self, kind: Kind, now: &Zoned) -> io::Result<&mut Open> {
        if let Some(at) = self.open.iter().position(|open| open.kind == kind) {
            return Ok(&mut self.open[at]);
        }
        let made = self.begin(kind, false, now)?;
        self.open.push(made);
        Ok(self.open.last_mut().expect("it has just been pushed"))
    }

    fn begin(&self, kind: Kind, truncate: bool, now: &Zoned) -> io::Result<Open> {
        let name = self.place.name(kind, now);
        let path = self.place.directory.join(&name);
        let mut options = OpenOptions::new();
        options.create(true).mode(self.place.mode);
        let file = match truncate {
            true => options.write(true).truncate(true).open(path)?,
            false => options.append(true).open(path)?,
        };
        let bytes = file.metadata()?.len();
        Ok(Open { kind, name, file, bytes })
    }

    fn rotate(
        &mut self,
        goes: impl Fn(&Open) -> bool,
        by_time: bool,
        now: &Zoned,
    ) -> io::Result<()> {
        for at in 0..self.open.len() {
            let open = &self.open[at];
            if goes(open) {
                // Only a name that time has brought round again stands for what is old.
                let another = self.place.name(open.kind, now) != open.name;
                let truncate = self.place.truncate && by_time && another;
                self.open[at] = self.begin(open.kind, truncate, now)?;
            }
        }
        self.tell_names();
        Ok(())
    }

    /// `current_logfiles`, by which `pg_current_logfile` and people find them.
    fn tell_names(&self) {
        let line =
            |open: &Open| format!("{} {}/{}\n", open.kind.word(), self.place.shown, open.name);
        let text: String = self.open.iter().map(line).collect();
        let path = self.data.join("current_logfiles");
        let next = path.with_extension("tmp");
        // Who does not find it has lost nothing of the log.
        let _ = std::fs::write(&next, text).and_then(|()| std::fs::rename(&next, &path));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_begin_by_age_and_by_size() {
        let data = tempfile::tempdir().expect("a directory");
        let place = Place {
            shown: "log".to_owned(),
            directory: data.path().join("log"),
            pattern: "a-%H%M%S.log".to_owned(),
            mode: 0o600,
            truncate: true,
            age: 3600,
            size: 10,
            kinds: vec![Kind::Text, Kind::Json],
        };
        let at = |text: &str| text.parse::<Zoned>().expect("a time");
        let noon = at("2026-01-01T12:00:00+01:00[Europe/Berlin]");
        let mut files = Files::open(place, data.path(), &noon).expect("it opens");
        files.write(Kind::Text, "0123456789", &noon).expect("it is written");
        files.write(Kind::Json, "{}", &noon).expect("it is written");
        let later = at("2026-01-01T12:59:59+01:00[Europe/Berlin]");
        files.write(Kind::Text, "by size", &later).expect("it is written");
        let one = at("2026-01-01T13:00:00+01:00[Europe/Berlin]");
        files.write(Kind::Text, "by age", &one).expect("it is written");
        let read = |name: &str| std::fs::read_to_string(data.path().join(name)).unwrap_or_default();
        assert_eq!(read("log/a-120000.log"), "0123456789");
        assert_eq!(read("log/a-120000.json"), "{}");
        assert_eq!(read("log/a-125959.log"), "by size");
        assert_eq!(read("log/a-130000.log"), "by age");
        assert_eq!(
            read("current_logfiles"),
            "stderr log/a-130000.log\njsonlog log/a-130000.json\n"
        );
    }
}
