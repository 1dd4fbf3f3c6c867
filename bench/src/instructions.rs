//! Instructions that Atoll takes for a transaction, protocol and loop included: what is too small for a clock on a machine
//! that does other work too.
//!
//! The server runs under callgrind, over data that it has loaded outside of it. The whole process is counted, from its
//! start to its end, for few and for many transactions of one session, and the difference is divided by theirs: what starts, warms up
//! and ends a server is the same in both. What the kernel does is not counted.

use crate::paired::{self, Names};
use crate::pgbench::{self, Call, What};
use crate::target::Target;
use crate::tpcc::transactions::{Form, Isolation, Kind};
use crate::tpcc::wire::Url;
use crate::tpcc::{Connector, Scale, driver, load, procedures};
use anyhow::{Result, ensure};
use std::fmt::Write;
use std::time::Duration;

/// Transactions of the short run.
const FEW: u32 = 1_000;
/// Deliveries of the short run, and how many more the other has: each takes an order of every district.
const DELIVERIES: [u32; 2] = [100, 600];
/// How long a run of TPC-C's may take; it ends with its last transaction.
const LONG: Duration = Duration::from_secs(3_600);
/// Settings of the server: no wait for the disk, whose polling would be counted.
const SETTINGS: [&str; 2] = ["synchronous_commit=off", "shared_buffers=512MB"];

/// How many transactions are counted of each kind.
#[derive(Clone, Copy, Debug, clap::Args)]
pub struct Effort {
    /// Point SELECTs.
    #[arg(long, default_value_t = 100_000)]
    selects: u32,
    /// Transactions of pgbench's own kind.
    #[arg(long, default_value_t = 20_000)]
    transfers: u32,
    /// New-Orders and Payments of TPC-C.
    #[arg(long, default_value_t = 4_000)]
    orders: u32,
}

/// What a transaction takes.
#[derive(Clone, Debug)]
pub struct Row {
    /// Which.
    pub what: String,
    /// So many.
    pub instructions: f64,
    /// The most that it may take.
    bar: Option<f64>,
}

/// Counts, and writes a page.
///
/// # Errors
/// A server, pgbench or a transaction failed; valgrind is not installed.
pub fn run(effort: Effort, conditions: &str) -> Result<String> {
    let mut rows = Vec::new();
    pgbench_rows(effort, &mut rows)?;
    tpcc_rows(effort.orders, &mut rows)?;
    rows.push(delivery_row()?);
    let mut page = String::from("# Instructions of a transaction\n\n");
    write!(
        page,
        "{conditions}\n\nInstructions of Atoll, counted by callgrind over the whole process, from its start to its end; one session, synchronous_commit off. The difference of a run of {FEW} transactions and one of so many more is divided by these: {} point SELECTs, {} transactions of tpcb-like, {} of each of TPC-C's; of Delivery {} and {} more. Bars: half of PostgreSQL's 18,500 for the prepared point SELECT; 3 % more for other names than for pgbench's; a million for New-Order, 200,000 for Payment and 2,500,000 for Delivery by statements, 250,000 for New-Order and 60,000 for Payment as one CALL.\n\n",
        effort.selects, effort.transfers, effort.orders, DELIVERIES[0], DELIVERIES[1]
    )?;
    page.push_str("| what | instructions | bar | |\n|---|--:|--:|---|\n");
    for Row { what, instructions, bar } in &rows {
        match bar {
            Some(most) => {
                let verdict = if instructions <= most { "passes" } else { "**fails**" };
                writeln!(page, "| {what} | {instructions:.0} | {most:.0} | {verdict} |")?;
            }
            None => writeln!(page, "| {what} | {instructions:.0} | | |")?,
        }
    }
    Ok(page)
}

/// The settings as they are given to a server.
fn settings() -> Vec<String> {
    SETTINGS.map(str::to_owned).to_vec()
}

/// A server that has ended, with what `load` has put into it.
fn loaded(load: impl FnOnce(&Target) -> Result<()>) -> Result<Target> {
    let mut target = Target::atoll(&settings())?;
    load(&target)?;
    target.stop()?;
    Ok(target)
}

/// What a transaction takes, of `many` that `transactions` runs so many of behind as many as the short run has.
fn count(
    target: &mut Target,
    (few, many): (u32, u32),
    transactions: impl Fn(&Target, u32) -> Result<()>,
) -> Result<f64> {
    let mut counted = |count| target.counted(&settings(), |target| transactions(target, count));
    let all = few + many;
    let few = counted(few)?;
    let all = counted(all)?;
    ensure!(all > few, "more transactions took fewer instructions");
    Ok((all - few) as f64 / f64::from(many))
}

/// Calls of pgbench against tables that have these names.
fn pgbench_of(call: Call<'_>, names: Names) -> impl Fn(&Target, u32) -> Result<()> {
    move |target, count| {
        // All of it is in the pool before the first transaction.
        let all = paired::renamed("SELECT sum(aid) FROM pgbench_accounts;\n", names);
        pgbench::execute(target, &all)?;
        pgbench::transactions(target, &call, count)
    }
}

/// pgbench's point SELECT, and its tables under their names and under others.
fn pgbench_rows(effort: Effort, rows: &mut Vec<Row>) -> Result<()> {
    let mut target = loaded(|target| pgbench::load(target, 1))?;
    let select =
        Call { mode: "prepared", clients: 1, threads: 1, what: What::BuiltIn("select-only") };
    rows.push(Row {
        what: "select-only, prepared".to_owned(),
        instructions: count(&mut target, (FEW, effort.selects), pgbench_of(select, Names::Own))?,
        bar: Some(9_250.0),
    });
    let scripts = [
        ("select-only", paired::select(1), effort.selects),
        ("tpcb-like", paired::anywhere(1), effort.transfers),
    ];
    let mut compared: Vec<Row> = Vec::new();
    for names in [Names::Own, Names::Other] {
        if names == Names::Other {
            target.restart(&settings())?;
            pgbench::execute(&target, &paired::renaming(names))?;
            target.stop()?;
        }
        let mut own = compared.clone().into_iter();
        for (script, text, many) in &scripts {
            let text = paired::renamed(text, names);
            for mode in ["simple", "prepared"] {
                let call = Call { mode, clients: 1, threads: 1, what: What::Text(&text) };
                let instructions = count(&mut target, (FEW, *many), pgbench_of(call, names))?;
                let bar = own.next().map(|own| own.instructions * 1.03);
                let what = format!("{script}, from a file, {mode}, {names} names");
                compared.push(Row { what, instructions, bar });
            }
        }
    }
    let (own, other) = compared.split_at(compared.len() / 2);
    rows.extend(own.iter().zip(other).flat_map(|(own, other)| [own.clone(), other.clone()]));
    Ok(())
}

/// TPC-C's New-Order and Payment, by statements and as calls, over one warehouse.
///
/// # Errors
/// The server's.
pub fn tpcc_rows(orders: u32, rows: &mut Vec<Row>) -> Result<()> {
    let mut ordered = Counted::new(Scale::small(1))?;
    for (kind, form, name, bar) in [
        (
            Kind::NewOrder,
            Form::Statements,
            "New-Order of ten items on average, prepared",
            1_000_000.0,
        ),
        (Kind::Payment, Form::Statements, "Payment, prepared", 200_000.0),
        (Kind::NewOrder, Form::Calls, "New-Order as one CALL", 250_000.0),
        (Kind::Payment, Form::Calls, "Payment as one CALL", 60_000.0),
    ] {
        rows.push(ordered.row((kind, form), name, (FEW, orders), bar)?);
    }
    Ok(())
}

/// TPC-C's Delivery. Districts begin with as many orders as the standard wants, so that none runs out of them.
fn delivery_row() -> Result<Row> {
    let mut delivered = Counted::new(Scale { items: 1_000, ..Scale::standard(1) })?;
    let [few, more] = DELIVERIES;
    let delivery = (Kind::Delivery, Form::Statements);
    delivered.row(delivery, "Delivery, prepared", (few, more), 2_500_000.0)
}

/// TPC-C's tables in a server whose instructions are counted.
struct Counted {
    scale: Scale,
    target: Target,
}

impl Counted {
    /// Tables of that size.
    fn new(scale: Scale) -> Result<Counted> {
        let target = loaded(|target| {
            let mut client = Url::local(target.port()).connect()?;
            load::load(&mut *client, scale, true)?;
            procedures::create(&mut *client)?;
            Ok(())
        })?;
        Ok(Counted { scale, target })
    }

    /// What transactions of one kind take, asked for in one form.
    fn row(
        &mut self,
        (kind, form): (Kind, Form),
        name: &str,
        effort: (u32, u32),
        bar: f64,
    ) -> Result<Row> {
        let scale = self.scale;
        let transactions = |target: &Target, count: u32| -> Result<()> {
            let load = driver::Load {
                scale,
                clients: 1,
                warm_up: Duration::ZERO,
                time: LONG,
                isolation: Isolation::default(),
                form,
                only: Some(kind),
                transactions_max: Some(u64::from(count)),
                seed: None,
            };
            let report = driver::run(&Url::local(target.port()), &load, &mut || {})?;
            ensure!(report.errors() == 0, "{} transactions failed", report.errors());
            Ok(())
        };
        let instructions = count(&mut self.target, effort, transactions)?;
        Ok(Row { what: name.to_owned(), instructions, bar: Some(bar) })
    }
}
