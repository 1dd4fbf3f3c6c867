//! The command `tpcc`: load if need be, check, run, tell, check again.

use super::comparison::{self, Effort};
use super::direct::{self, Database};
use super::driver::{self, Load, Report};
use super::embedded::Embedded;
use super::statement::Rows;
use super::transactions::{Form, Isolation, Kind};
use super::wire::Url;
use super::{Connector, Scale, consistency, functions, load, procedures, schemes};
use crate::cpu;
use crate::report;
use anyhow::{Context, Result, bail, ensure};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;
use txn::SchemeKind;

/// What the command takes. Without `--url` and `--embedded` it starts Atoll and PostgreSQL and compares them.
#[derive(Clone, Debug, clap::Args)]
pub struct Arguments {
    /// A server: `postgres://user[:password]@host[:port]/database`.
    #[arg(long, conflicts_with = "embedded")]
    url: Option<Url>,
    /// The engine in this process, without a socket.
    #[arg(long, requires = "data")]
    embedded: bool,
    /// The transaction component in this process, without SQL.
    #[arg(long, requires = "data", conflicts_with_all = ["url", "embedded"])]
    direct: bool,
    /// The directory of `--embedded` and `--direct`; made if it is not there.
    #[arg(long)]
    data: Option<PathBuf>,
    /// The concurrency-control scheme of the database that `--embedded` makes.
    #[arg(long, requires = "embedded", value_parser = scheme)]
    scheme: Option<SchemeKind>,
    /// Every scheme, one after another, each in a directory of its own below `--data`.
    #[arg(long, requires = "embedded", conflicts_with = "scheme")]
    schemes: bool,
    /// Warehouses.
    #[arg(long, value_delimiter = ',', default_value = "2")]
    warehouses: Vec<u32>,
    /// Sessions.
    #[arg(long, value_delimiter = ',', default_value = "8")]
    clients: Vec<u32>,
    /// Seconds.
    #[arg(long, default_value_t = 30)]
    time: u64,
    /// Seconds before each run, unmeasured.
    #[arg(long, default_value_t = 2)]
    warm_up: u64,
    /// Isolation level.
    #[arg(long, value_enum, default_value_t)]
    isolation: Isolation,
    /// Statement by statement, each transaction as one CALL, or as one query of a function.
    #[arg(long, value_enum, default_value_t)]
    form: Form,
    /// Load anew, even where there are tables.
    #[arg(long)]
    reload: bool,
    /// No ANALYZE after the load.
    #[arg(long)]
    no_analyze: bool,
    /// A hundredth of the items and a thirtieth of the customers.
    #[arg(long)]
    small: bool,
    /// Only this transaction.
    #[arg(long, value_enum)]
    only: Option<Kind>,
    /// Interleaved pairs, where servers are compared.
    #[arg(long, default_value_t = 3)]
    pairs: u32,
}

impl Arguments {
    /// The page of results that a comparison fills.
    #[must_use]
    pub fn page(&self) -> &'static str {
        match self.form {
            _ if self.schemes => "tpcc_schemes.md",
            Form::Statements => "tpcc.md",
            Form::Calls => "tpcc_calls.md",
            Form::Functions => "tpcc_functions.md",
        }
    }
}

/// A scheme by its name.
fn scheme(name: &str) -> Result<SchemeKind, String> {
    SchemeKind::named(name).ok_or_else(|| {
        let all: Vec<&str> = SchemeKind::ALL.into_iter().map(SchemeKind::name).collect();
        format!("there are {}", all.join(", "))
    })
}

/// Runs the command; gives a page to keep, if servers were compared.
///
/// # Errors
/// A server failed, a transaction failed, or a consistency condition does not hold.
pub fn run(arguments: Arguments) -> Result<Option<String>> {
    ensure!(
        arguments.warehouses.iter().chain(&arguments.clients).all(|&count| count > 0),
        "there is no run without warehouses or sessions"
    );
    if let Some(url) = &arguments.url {
        against(url, &arguments)?;
        return Ok(None);
    }
    if !arguments.embedded && !arguments.direct {
        return Ok(Some(compare(&arguments)?));
    }
    let data: &Path = arguments.data.as_deref().context("--data names the directory")?;
    if arguments.direct {
        without_sql(data, &arguments)?;
        return Ok(None);
    }
    if arguments.schemes {
        return Ok(Some(each_scheme(data, &arguments)?));
    }
    let embedded = Embedded::open(data, arguments.scheme)?;
    if let Some(scheme) = arguments.scheme {
        let mut rows = Rows::default();
        embedded.connect()?.execute("SHOW concurrency_control", &mut rows)?;
        let found = rows.text(0, 0);
        ensure!(found == scheme.name(), "the database at {} runs under {found}", data.display());
    }
    let done = against(&embedded, &arguments);
    embedded.close()?;
    done.map(|()| None)
}

/// How large the tables are of the one database there is.
fn scale_of(arguments: &Arguments) -> Result<Scale> {
    let [warehouses] = arguments.warehouses[..] else {
        bail!("a database has one number of warehouses");
    };
    Ok(if arguments.small { Scale::small(warehouses) } else { Scale::standard(warehouses) })
}

/// Tells which conditions hold; all have to.
fn tell(broken: &[u64; 12], when: &str) -> Result<()> {
    for (number, count) in (1..).zip(broken) {
        let verdict = if *count == 0 { "holds" } else { "DOES NOT HOLD" };
        println!("condition {number:2} {verdict} {when}");
    }
    ensure!(*broken == [0; 12], consistency::complaints(broken).join("; "));
    Ok(())
}

/// What is run with each number of sessions.
fn loads(arguments: &Arguments, scale: Scale) -> Vec<Load> {
    let load = |&clients| Load {
        scale,
        clients,
        warm_up: Duration::from_secs(arguments.warm_up),
        time: Duration::from_secs(arguments.time),
        isolation: arguments.isolation,
        form: arguments.form,
        only: arguments.only,
        transactions_max: None,
        seed: None,
    };
    arguments.clients.iter().map(load).collect()
}

fn each_scheme(data: &Path, arguments: &Arguments) -> Result<String> {
    let scale = scale_of(arguments)?;
    let loads = loads(arguments, scale);
    let rows = schemes::run(data, scale, &loads, &mut |row| println!("{}", row.line()))?;
    let conditions = format!(
        "{} {} warehouses of {} items and {} customers a district, {} s a run.",
        report::machine(),
        scale.warehouses,
        scale.items,
        scale.customers,
        arguments.time
    );
    schemes::markdown(&rows, &conditions)
}

/// Runs the load with each number of sessions, and tells of it.
fn each(
    arguments: &Arguments,
    scale: Scale,
    run: &mut dyn FnMut(&Load, &mut dyn FnMut()) -> Result<Report>,
) -> Result<()> {
    for load in loads(arguments, scale) {
        let mut before = None;
        let report = run(&load, &mut || before = cpu::of_tree(std::process::id()).ok())?;
        println!("\n{} warehouses, {} clients: {}", scale.warehouses, load.clients, report.table());
        if let (true, Some(before)) = (arguments.url.is_none(), before) {
            let used = cpu::of_tree(std::process::id())?.since(before).total();
            let each = used * 1e6 / report.transactions().max(1) as f64;
            println!("CPU of the process, the kit's included: {each:.1} µs a transaction\n");
        }
        ensure!(report.errors() == 0, "{} transactions failed", report.errors());
    }
    Ok(())
}

fn without_sql(data: &Path, arguments: &Arguments) -> Result<()> {
    let scale = scale_of(arguments)?;
    let database = Database::open(data, scale, direct::options(), true)?;
    tell(&direct::conditions::check(&*database, &scale)?, "before the run")?;
    each(arguments, scale, &mut |load, begun| {
        Ok(driver::drive(&|place| Ok(database.session(place)), load, begun)?)
    })?;
    tell(&direct::conditions::check(&*database, &scale)?, "after the run")?;
    Ok(database.close()?)
}

fn against(connector: &dyn Connector, arguments: &Arguments) -> Result<()> {
    let scale = scale_of(arguments)?;
    let warehouses = scale.warehouses;
    let mut client = connector.connect()?;
    let found = if arguments.reload { None } else { load::warehouses(&mut *client)? };
    match found {
        None => {
            let time = load::load(&mut *client, scale, !arguments.no_analyze)?;
            println!("{warehouses} warehouses loaded in {:.1} s", time.as_secs_f64());
        }
        Some(found) => ensure!(
            found == warehouses,
            "the database has {found} warehouses: --warehouses {found}, or --reload"
        ),
    }
    procedures::create(&mut *client)?;
    functions::create(&mut *client, &scale)?;
    tell(&consistency::check(&mut *client, &scale)?, "before the run")?;
    each(arguments, scale, &mut |load, begun| Ok(driver::run(connector, load, begun)?))?;
    tell(&consistency::check(&mut *client, &scale)?, "after the run")
}

fn compare(arguments: &Arguments) -> Result<String> {
    let effort = Effort {
        warehouses: arguments.warehouses.clone(),
        clients: arguments.clients.clone(),
        form: arguments.form,
        pairs: arguments.pairs,
        warm_up: Duration::from_secs(arguments.warm_up),
        time: Duration::from_secs(arguments.time),
    };
    let rows = comparison::run(&effort, &mut |row| println!("{}", comparison::line(row)))?;
    let how = match arguments.form {
        Form::Statements => "by statements",
        Form::Calls => "as one CALL a transaction",
        Form::Functions => "by functions as other kits have them",
    };
    let mut page = format!("# TPC-C {how}: Atoll beside PostgreSQL 15\n\n");
    write!(
        page,
        "{} {} interleaved pairs of {} s after {} s of warm-up, order alternating; synchronous_commit on; ANALYZE after the load. The 12 consistency conditions held on both servers before and after.\n\n",
        report::machine(),
        effort.pairs,
        effort.time.as_secs(),
        effort.warm_up.as_secs(),
    )?;
    page.push_str("CPU is user + system of all processes of a server, in microseconds a transaction: the least of the runs. Throughput is the median; its ratio the median over the pairs. Latencies are New-Order's, or of the one transaction that is run alone. ");
    page.push_str(match arguments.form {
        Form::Statements => {
            "One transaction is some 35 round trips, each statement prepared and sent on its own.\n\n"
        }
        Form::Calls => "One transaction is one round trip of a prepared CALL.\n\n",
        Form::Functions => "One transaction is one round trip of a prepared query of a function, which draws what is ordered.\n\n",
    });
    page.push_str(&comparison::markdown(&rows));
    if arguments.form == Form::Statements {
        page.push('\n');
        page.push_str(PROFILE);
    }
    Ok(page)
}

/// What a profile of each transaction showed. Kept beside the code, as results are written anew.
const PROFILE: &str = include_str!("../../tpcc_profile.md");
