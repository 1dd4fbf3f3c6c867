//! The command line: `atoll init`, `atoll serve`, `atoll check`, and plain `atoll`, which makes `./atoll-data` if there is
//! none and serves it.
//!
//! Exit status: 0 when all is well; 1 when it could not be done, with the reason on standard error; 2 for a command line
//! that makes no sense; 3 when `check` has found something wrong.

use crate::auth;
use crate::config::{self, Sources};
use crate::hba;
use crate::log;
use crate::postmaster::{self, Started};
use crate::process::{raise_file_limit, random};
use crate::start_error::StartError;
use clap::{Args, Parser, Subcommand};
use sql::sqlstate::SqlState;
use sql::{Engine, EngineOptions, SchemeKind, SqlError};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// The exit status of a check that has found something.
const FOUND: u8 = 3;

/// A PostgreSQL-compatible transaction-processing database. Without a command it serves ./atoll-data on 127.0.0.1:5432,
/// and makes that directory first if there is none.
#[derive(Debug, Parser)]
#[command(name = "atoll", version, args_conflicts_with_subcommands = true)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    serve: Serve,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Make an empty directory into a database.
    Init(Init),
    /// Serve a directory.
    Serve(Serve),
    /// Verify every page, tree, index and the log of a directory that nobody serves, without changing it.
    Check(Check),
}

#[derive(Debug, Args)]
struct Init {
    /// The directory; it is made if it is not there.
    #[arg(long, short = 'D', value_name = "DIR", env = "ATOLL_DATA")]
    data: PathBuf,
    /// The superuser.
    #[arg(long, short = 'U', value_name = "NAME", default_value = "postgres", value_parser = superuser)]
    username: String,
    /// A file whose first line is the superuser's password.
    #[arg(long, value_name = "FILE")]
    pwfile: Option<PathBuf>,
    /// The page size: 4kB, 8kB, 16kB or 32kB.
    #[arg(long, value_name = "SIZE", default_value = "8kB", value_parser = page_size)]
    page_size: u32,
    /// The concurrency control of its databases: mvcc, ssi, occ, 2pl_detect, 2pl_no_wait, 2pl_wait_die, timestamp, mvto or hstore.
    #[arg(long, value_name = "NAME", default_value = "mvcc", value_parser = concurrency_control)]
    concurrency_control: SchemeKind,
}

#[derive(Debug, Args)]
struct Serve {
    /// The directory [default: ./atoll-data, which is made if it is not there].
    #[arg(long, short = 'D', value_name = "DIR", env = "ATOLL_DATA")]
    data: Option<PathBuf>,
    /// Where to listen: ADDRESS:PORT, ADDRESS or :PORT.
    #[arg(long, value_name = "ADDR:PORT")]
    listen: Option<String>,
    /// The configuration file [default: atoll.toml in the directory].
    #[arg(long, value_name = "FILE", env = "ATOLL_CONFIG")]
    config: Option<PathBuf>,
    /// A setting, under PostgreSQL's name.
    #[arg(short = 'c', value_name = "NAME=VALUE", value_parser = setting)]
    settings: Vec<(String, String)>,
}

#[derive(Debug, Args)]
struct Check {
    /// The directory.
    #[arg(long, short = 'D', value_name = "DIR", env = "ATOLL_DATA")]
    data: PathBuf,
}

fn page_size(text: &str) -> Result<u32, String> {
    let lower = text.to_ascii_lowercase();
    let (number, unit) = match lower.strip_suffix("kb").or_else(|| lower.strip_suffix('k')) {
        Some(number) => (number, 1024),
        None => (lower.as_str(), 1),
    };
    match number.trim().parse::<u32>().ok().and_then(|number| number.checked_mul(unit)) {
        Some(bytes @ (4096 | 8192 | 16384 | 32768)) => Ok(bytes),
        _ => Err("a page has 4kB, 8kB, 16kB or 32kB".to_owned()),
    }
}

fn concurrency_control(name: &str) -> Result<SchemeKind, String> {
    SchemeKind::named(name).ok_or_else(|| {
        let known: Vec<_> = SchemeKind::ALL.iter().map(|scheme| scheme.name()).collect();
        format!("one of {} is wanted", known.join(", "))
    })
}

fn superuser(name: &str) -> Result<String, String> {
    match name.len() {
        0 => return Err("a name is wanted".to_owned()),
        // PostgreSQL's NAMEDATALEN less its terminator.
        1..=63 => {}
        _ => return Err("a name has at most 63 bytes".to_owned()),
    }
    match sql::check_role_name(name) {
        Ok(()) => Ok(name.to_owned()),
        Err(error) => Err(error.fields().message.clone()),
    }
}

fn setting(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("NAME=VALUE is wanted")?;
    Ok((name.trim().replace('-', "_"), value.to_owned()))
}

/// The settings that `--listen` stands for.
fn listen_settings(text: &str) -> Result<Vec<(String, String)>, StartError> {
    let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    if text.parse::<std::net::IpAddr>().is_ok() {
        return Ok(vec![pair("listen_addresses", text)]);
    }
    match text.rsplit_once(':') {
        Some((address, port)) if port.parse::<u16>().is_ok() => {
            let mut settings = vec![pair("port", port)];
            if !address.is_empty() {
                settings.push(pair("listen_addresses", address.trim_matches(['[', ']'])));
            }
            Ok(settings)
        }
        Some(_) => Err(StartError(format!("--listen {text}: ADDRESS:PORT is wanted"))),
        None => Ok(vec![pair("listen_addresses", text)]),
    }
}

/// Runs the command that the process was started with.
#[must_use]
pub fn main() -> ExitCode {
    let cli = Cli::parse();
    let done = match cli.command {
        Some(Command::Init(init)) => make(&init).map(|()| {
            println!("{} is ready: atoll serve --data {0}", init.data.display());
        }),
        Some(Command::Serve(arguments)) => serve(arguments),
        Some(Command::Check(arguments)) => return check(&arguments.data),
        None => serve(cli.serve),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("atoll: {error}");
            ExitCode::FAILURE
        }
    }
}

fn sources(data: &Path) -> Sources {
    // A variable that is no text is none of ours.
    let environment = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect();
    Sources { data: data.to_owned(), file: None, flags: Vec::new(), environment }
}

fn make(init: &Init) -> Result<(), StartError> {
    let verifier = match &init.pwfile {
        None => None,
        Some(path) => {
            let text = std::fs::read_to_string(path).map_err(|error| {
                format!("could not open file \"{}\" for reading: {error}", path.display())
            })?;
            let password = text.lines().next().unwrap_or_default();
            if password.is_empty() {
                return Err(format!("password file \"{}\" is empty", path.display()).into());
            }
            let mut salt = [0; 16];
            random(&mut salt);
            Some(auth::verifier(password, &salt))
        }
    };
    // The new directory's own file is not there yet, and the server's limits do not matter.
    let config = sources(&init.data).read()?;
    let mut options = config.engine_options();
    options.txn.storage.page_bytes = init.page_size;
    options.concurrency_control = init.concurrency_control;
    if init.data.exists() {
        return fill(&init.data, &options, &init.username, verifier.as_deref());
    }
    // Made beside its place and moved there whole: what a crash leaves half done is found by this name, and made anew.
    let mut name = init.data.file_name().unwrap_or_default().to_owned();
    name.push(".unfinished");
    let unfinished = init.data.with_file_name(name);
    let failed = |error: std::io::Error| {
        format!("could not make directory \"{}\": {error}", init.data.display())
    };
    if unfinished.exists() {
        // Refused while another process is at it.
        drop(postmaster::environment(&unfinished)?);
        std::fs::remove_dir_all(&unfinished).map_err(failed)?;
    }
    fill(&unfinished, &options, &init.username, verifier.as_deref())?;
    std::fs::rename(&unfinished, &init.data).map_err(failed)?;
    let place = init.data.parent().filter(|place| !place.as_os_str().is_empty());
    let place = std::fs::File::open(place.unwrap_or(Path::new("."))).map_err(failed)?;
    Ok(place.sync_all().map_err(failed)?)
}

/// Makes a database and the files that configure it in an empty directory.
fn fill(
    data: &Path,
    options: &EngineOptions,
    superuser: &str,
    verifier: Option<&str>,
) -> Result<(), StartError> {
    let environment = postmaster::environment(data)?;
    std::fs::set_permissions(data, std::fs::Permissions::from_mode(0o700)).map_err(|error| {
        format!("could not change permissions of \"{}\": {error}", data.display())
    })?;
    Engine::create(&environment, options, superuser, verifier)?;
    // Where PostgreSQL has its databases; tools look at when it was made. Here it stays empty.
    std::fs::create_dir(data.join("base"))
        .map_err(|error| format!("could not create directory \"base\": {error}"))?;
    for (name, text) in [
        (config::HBA_FILE, hba::DEFAULT),
        (config::IDENT_FILE, hba::DEFAULT_MAPS),
        (config::FILE, config::DEFAULT),
    ] {
        let path = data.join(name);
        write_synced(&path, text)
            .map_err(|error| format!("could not write \"{}\": {error}", path.display()))?;
    }
    Ok(())
}

fn write_synced(path: &Path, text: &str) -> std::io::Result<()> {
    use std::io::Write;
    use std::os::unix::fs::OpenOptionsExt;
    let mut options = std::fs::OpenOptions::new();
    let mut file = options.write(true).create_new(true).mode(0o600).open(path)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    match path.parent() {
        Some(folder) => std::fs::File::open(folder)?.sync_all(),
        None => Ok(()),
    }
}

/// Refuses a directory in which there is no database, before anything is written there.
fn is_database(data: &Path) -> Result<(), StartError> {
    if Engine::is_at(data) {
        return Ok(());
    }
    let place = data.display();
    Err(StartError(format!(
        "\"{place}\" is not a valid data directory\nHINT:  Make an empty one into a database with: \
         atoll init --data {place}"
    )))
}

fn serve(arguments: Serve) -> Result<(), StartError> {
    let data = match arguments.data {
        Some(data) => data,
        None => {
            let data = PathBuf::from("atoll-data");
            if !data.exists() {
                make(&Init {
                    data: data.clone(),
                    username: "postgres".to_owned(),
                    pwfile: None,
                    page_size: 8192,
                    concurrency_control: SchemeKind::default(),
                })?;
                eprintln!("atoll: made a new database in ./{}", data.display());
            }
            data
        }
    };
    if !data.is_dir() {
        return Err(StartError(format!(
            "directory \"{}\" does not exist\nHINT:  Make it with: atoll init --data {0}",
            data.display()
        )));
    }
    // Settings and messages name it whole.
    let data = data.canonicalize().unwrap_or(data);
    is_database(&data)?;
    postmaster::check_directory(&data)?;
    let mut sources = sources(&data);
    sources.file = arguments.config;
    if let Some(listen) = &arguments.listen {
        sources.flags.extend(listen_settings(listen)?);
    }
    sources.flags.extend(arguments.settings);
    log::begin(&sources.read()?);
    raise_file_limit();
    let started = Started::start(sources)?;
    println!(
        "atoll {} serves {} on {}",
        env!("CARGO_PKG_VERSION"),
        data.display(),
        started.places()
    );
    started.serve()
}

/// Verifies a directory that nobody serves. Nothing in it is changed but the file that says who holds it: where the log
/// has to be replayed, that happens in memory.
fn check(data: &Path) -> ExitCode {
    if !data.is_dir() {
        eprintln!("atoll: directory \"{}\" does not exist", data.display());
        return ExitCode::FAILURE;
    }
    if let Err(error) = is_database(data) {
        eprintln!("atoll: {error}");
        return ExitCode::FAILURE;
    }
    let problems = sources(data).read().and_then(|config| {
        let environment = postmaster::environment(data)?;
        if sql::environment::is_due(&*environment.device)? {
            let message = "it is a backup that has yet to be restored: start it first";
            return Err(SqlError::new(SqlState::OBJECT_NOT_IN_PREREQUISITE_STATE, message));
        }
        Engine::verify(&environment, config.engine_options())
    });
    match problems {
        Ok(problems) if problems.is_empty() => {
            println!("{}: nothing is wrong", data.display());
            ExitCode::SUCCESS
        }
        Ok(problems) => {
            for problem in problems {
                println!("{problem}");
            }
            ExitCode::from(FOUND)
        }
        Err(error) => {
            eprintln!("atoll: {}", StartError::from(error));
            ExitCode::FAILURE
        }
    }
}
