//! The command `looking-glass`: what New-Order and Payment cost straight on the transaction component, one part of it taken away
//! after another, and what SQL and the wire cost on top.
//!
//! Paper: Harizopoulos et al., *OLTP Through the Looking Glass, and What We Found There*, SIGMOD 2008, figures 5 to 8. The
//! transactions are those of [`crate::tpcc::direct`], the parts those of [`txn::Without`] and, in a build with the feature `stripped`, of
//! [`direct::Inner`]. What cannot be taken away one by one is gone
//! in the kernel that only does the work ([`direct::kernel`]), so that it has a joint price; `docs/design/0020-looking-glass.md` says why.
//!
//! Instructions are counted by callgrind over a whole process, background threads included, for few transactions of one
//! session and for more, and the difference is divided by theirs. All have the same inputs, and drawing them is counted in each.

use crate::tpcc::client::Failure;
use crate::tpcc::direct::store::Tables;
use crate::tpcc::driver::Performer;
use crate::tpcc::transactions::{Ended, Form, Input, Isolation, Kind};
use crate::tpcc::{Scale, consistency, direct, driver};
use crate::{callgrind, instructions};
use anyhow::{Context, Result, anyhow, bail, ensure};
use plotters::prelude::*;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;
use txn::Without;

/// Transactions of the short run.
const FEW: u32 = 500;
/// How long a run may take; it ends with its last transaction.
const LONG: Duration = Duration::from_secs(3_600);
/// The two transactions, and the most that each may take with everything on.
const KINDS: [(Kind, f64); 2] = [(Kind::NewOrder, 120_000.0), (Kind::Payment, 30_000.0)];
/// What is taken away, one after another, by the names of [`Without::NAMES`] and of [`direct::Inner`], which only a build with
/// the feature `stripped` has; and what stands for the rest.
const STEPS: [(&str, Under, &str); 10] = [
    ("everything", Under::Component, ""),
    ("all but the locks of tables", Under::NoTableLocks, ""),
    ("without log", Under::Component, "log"),
    ("and without locks", Under::Component, "log,locks"),
    (VERSIONS, Under::Component, "log,locks,versions"),
    ("and without latches", Under::Component, "log,locks,versions,latches"),
    (POOL, Under::Component, "log,locks,versions,latches,pool"),
    ("a kernel, its keys as bytes", Under::KernelOfBytes, ""),
    (KERNEL, Under::Kernel, ""),
    ("drawing the inputs", Under::Nothing, ""),
];
/// The last step that every build has.
const VERSIONS: &str = "and without versions";
/// The step behind which no part of the transaction component can be switched off any more.
const POOL: &str = "and without the pool's checks";
/// The last step of the paper.
const KERNEL: &str = "a kernel that only does the work";
/// What the inputs are drawn from.
const SEED: u64 = 1992;

/// What the transactions run on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Under {
    /// The transaction component.
    Component,
    /// The same, whose sessions lock no tables.
    NoTableLocks,
    /// A kernel whose keys are bytes that compare as their numbers do.
    KernelOfBytes,
    /// A kernel whose keys are numbers.
    Kernel,
    /// Nothing: they are drawn and not run.
    Nothing,
}

/// What the command takes.
#[derive(Clone, Debug, clap::Args)]
pub struct Arguments {
    /// Transactions that are counted of each kind.
    #[arg(long, default_value_t = 2_000)]
    transactions: u32,
    /// A warehouse of the standard's size, and no server beside it.
    #[arg(long)]
    standard: bool,
    /// What this command starts under callgrind: transactions on the database in a directory.
    #[arg(long, hide = true, requires = "only")]
    work: Option<PathBuf>,
    /// Which.
    #[arg(long, hide = true, value_enum)]
    only: Option<Kind>,
    /// On what.
    #[arg(long, hide = true, value_enum, default_value = "component")]
    under: Under,
    /// Without what.
    #[arg(long, hide = true, value_delimiter = ',')]
    without: Vec<String>,
}

/// One bar of each of the two pictures.
#[derive(Clone, Debug, PartialEq)]
pub struct Bar {
    /// What it stands for.
    pub what: String,
    /// Whether it is a step of the transaction component, and not what stands on top of it.
    pub direct: bool,
    /// Instructions of a New-Order and of a Payment.
    pub instructions: [f64; 2],
}

impl Arguments {
    fn scale(&self) -> Scale {
        if self.standard { Scale::standard(1) } else { Scale::small(1) }
    }

    /// The name of the pages.
    #[must_use]
    pub fn page(&self) -> &'static str {
        if self.standard { "looking_glass_standard" } else { "looking_glass" }
    }
}

/// Counts all bars; none if this is the process that is counted.
///
/// # Errors
/// A transaction failed; valgrind is not installed.
pub fn run(arguments: &Arguments) -> Result<Vec<Bar>> {
    if let (Some(data), Some(kind)) = (&arguments.work, arguments.only) {
        work(arguments, data, kind)?;
        return Ok(Vec::new());
    }
    let directory = std::env::temp_dir().join(format!("atoll-glass-{}", std::process::id()));
    let counted = bars(arguments, &directory);
    std::fs::remove_dir_all(&directory)?;
    counted
}

fn bars(arguments: &Arguments, directory: &Path) -> Result<Vec<Bar>> {
    let loaded = directory.join("loaded");
    direct::Database::open(&loaded, arguments.scale(), direct::options(), false)?.close()?;
    demand_conditions::<u128>(arguments)?;
    demand_conditions::<direct::row::Key>(arguments)?;
    let mut bars = Vec::new();
    let can_be_left_out =
        |name: &str| Without::NAMES.contains(&name) || direct::Inner::named(name).is_some();
    for (what, under, without) in STEPS {
        if !without.is_empty() && !without.split(',').all(can_be_left_out) {
            continue;
        }
        let mut instructions = [0.0; 2];
        for ((kind, _), place) in KINDS.into_iter().zip(&mut instructions) {
            let few = counted(arguments, directory, (kind, under, without), FEW)?;
            let many = FEW + arguments.transactions;
            let all = counted(arguments, directory, (kind, under, without), many)?;
            ensure!(all > few, "more transactions took fewer instructions");
            *place = (all - few) as f64 / f64::from(arguments.transactions);
        }
        println!("{what}: New-Order {:.0}, Payment {:.0}", instructions[0], instructions[1]);
        bars.push(Bar { what: what.to_owned(), direct: true, instructions });
    }
    if !arguments.standard {
        let mut rows = Vec::new();
        instructions::tpcc_rows(arguments.transactions, &mut rows)?;
        let [new_order, payment, new_order_call, payment_call] = &rows[..] else {
            bail!("the server has four rows");
        };
        for (what, one, other) in [
            ("as one CALL over the wire", new_order_call, payment_call),
            ("by statements over the wire", new_order, payment),
        ] {
            let instructions = [one.instructions, other.instructions];
            bars.insert(0, Bar { what: what.to_owned(), direct: false, instructions });
        }
    }
    Ok(bars)
}

/// The instructions of a process that runs so many transactions on a copy of the database.
fn counted(
    arguments: &Arguments,
    directory: &Path,
    (kind, under, without): (Kind, Under, &str),
    transactions: u32,
) -> Result<u64> {
    let (data, counts) = (directory.join("data"), directory.join("counts"));
    let has_data = matches!(under, Under::Component | Under::NoTableLocks);
    if has_data {
        let mut copy = Command::new("cp");
        let copied = copy.arg("-r").arg(directory.join("loaded")).arg(&data).status()?;
        ensure!(copied.success(), "the database could not be copied");
    }
    let kind = if kind == Kind::NewOrder { "new-order" } else { "payment" };
    let mut program = Command::new(std::env::current_exe()?);
    program.args(["looking-glass", "--only", kind, "--work"]).arg(&data);
    program.args(["--transactions", &transactions.to_string()]);
    program.args(arguments.standard.then_some("--standard"));
    let under_name = clap::ValueEnum::to_possible_value(&under).expect("none is hidden");
    program.args(["--under", under_name.get_name()]);
    if !without.is_empty() {
        program.args(["--without", without]);
    }
    let mut command = callgrind::command(&program, &counts);
    let output = command.stdin(Stdio::null()).output()?;
    ensure!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    if has_data {
        std::fs::remove_dir_all(&data)?;
    }
    callgrind::total(&counts)
}

/// What one session runs.
fn load(arguments: &Arguments, only: Option<Kind>) -> driver::Load {
    driver::Load {
        scale: arguments.scale(),
        clients: 1,
        warm_up: Duration::ZERO,
        time: LONG,
        isolation: Isolation::default(),
        form: Form::default(),
        only,
        transactions_max: Some(u64::from(arguments.transactions)),
        seed: Some(SEED),
    }
}

/// Runs the mix on a kernel, and demands that the consistency conditions hold behind it: it does the work.
fn demand_conditions<K: direct::kernel::MapKey + Send>(arguments: &Arguments) -> Result<()> {
    let mut kernel = direct::kernel::Kernel::<K>::load(arguments.scale());
    let report = direct::kernel::run(&mut kernel, &load(arguments, None))?;
    ensure!(report.errors() == 0, "{:?}", report.failures);
    let broken = direct::conditions::check(&kernel, &arguments.scale())?;
    ensure!(broken == [0; 12], "{:?}", consistency::complaints(&broken));
    Ok(())
}

/// Runs no transaction.
struct Nothing;

impl Performer for Nothing {
    fn perform(&mut self, input: &Input) -> Result<Ended, Failure> {
        std::hint::black_box(input);
        Ok(Ended::Committed)
    }
}

/// What the counted process does.
fn work(arguments: &Arguments, data: &Path, kind: Kind) -> Result<()> {
    let (scale, load) = (arguments.scale(), load(arguments, Some(kind)));
    let report = match arguments.under {
        Under::Component | Under::NoTableLocks => on_component(arguments, data, &load)?,
        Under::KernelOfBytes => direct::kernel::run(
            &mut direct::kernel::Kernel::<direct::row::Key>::load(scale),
            &load,
        )?,
        Under::Kernel => {
            direct::kernel::run(&mut direct::kernel::Kernel::<u128>::load(scale), &load)?
        }
        Under::Nothing => driver::drive(&|_| Ok(Nothing), &load, &mut || {})?,
    };
    ensure!(report.errors() == 0, "{} transactions failed", report.errors());
    Ok(())
}

fn on_component(arguments: &Arguments, data: &Path, load: &driver::Load) -> Result<driver::Report> {
    let (mut options, mut inner) = (direct::options(), Vec::new());
    for name in &arguments.without {
        if !options.without.leave_out(name) {
            inner.push(direct::Inner::named(name).context("nothing of this name can be left out")?);
        }
    }
    let database = direct::Database::open(data, load.scale, options, false)?;
    // All of it is in the pool before the first transaction.
    for relation in direct::row::Relation::ALL {
        database.each(relation, &mut |_, _| ())?;
    }
    let report = match arguments.under {
        Under::NoTableLocks => {
            let open = |place| Ok(database.session(place).without_table_locks());
            driver::drive(&open, load, &mut || {})?
        }
        _ => {
            let open = |place| Ok(database.session(place).without(&inner));
            driver::drive(&open, load, &mut || {})?
        }
    };
    database.close()?;
    Ok(report)
}

/// The page.
///
/// # Errors
/// None: a text can always be written to.
pub fn markdown(bars: &[Bar], name: &str, conditions: &str) -> Result<String> {
    let mut page = String::from("# Through the looking glass\n\n");
    write!(
        page,
        "{conditions}\n\nInstructions of a transaction, counted by callgrind over a whole process: New-Order of ten items on average, and Payment. Each step takes one more part of the transaction component away (`atoll.switched_off`; `docs/design/0020-looking-glass.md` says what each is, and what stays). The locks of tables are the intention locks that every transaction takes. The kernels keep the same rows in an ordered map in memory and do nothing else; drawing the inputs is part of every row. Shore took 1.73 million for New-Order, and 110,000 for what was left of it when all was taken away; 180,000 for Payment.\n\n![]({name}.svg)\n\n| | New-Order | of everything | Payment | of everything |\n|---|--:|--:|--:|--:|\n"
    )?;
    let whole = bars.iter().find(|bar| bar.direct);
    for Bar { what, instructions: [one, other], .. } in bars {
        let [all_one, all_other] = whole.map_or([*one, *other], |bar| bar.instructions);
        writeln!(
            page,
            "| {what} | {one:.0} | {:.2} | {other:.0} | {:.2} |",
            one / all_one,
            other / all_other
        )?;
    }
    page.push('\n');
    let named = |name: &str| bars.iter().find(|bar| bar.what == name);
    if let (Some(last), Some(kernel)) = (named(POOL).or(named(VERSIONS)), named(KERNEL)) {
        let [one, other] = [0, 1].map(|at| last.instructions[at] - kernel.instructions[at]);
        let inner = if last.what == POOL { "" } else { " and their latches, the pool" };
        writeln!(
            page,
            "What cannot be switched off one by one, pages{inner}, keys as bytes, threads, and writes that wait for their commit, costs a New-Order {one:.0} and a Payment {other:.0}: what is left of the transaction component takes so much more than the kernel.\n"
        )?;
    }
    for ((kind, most), at) in KINDS.into_iter().zip(0..) {
        let Some(found) = whole.map(|bar| bar.instructions[at]) else { continue };
        let verdict = if found <= most { "passes" } else { "**fails**" };
        writeln!(
            page,
            "{} with everything on: {found:.0}, bar {most:.0}, {verdict}.",
            kind.name()
        )?;
    }
    Ok(page)
}

/// All figures, a line for each bar.
#[must_use]
pub fn tsv(bars: &[Bar]) -> String {
    let mut out = String::from("what\tnew_order\tpayment\n");
    for Bar { what, instructions: [one, other], .. } in bars {
        out += &format!("{what}\t{one:.0}\t{other:.0}\n");
    }
    out
}

/// Draws the bars: New-Order above Payment, each by its own measure.
///
/// # Errors
/// The file cannot be written.
pub fn picture(bars: &[Bar], path: &Path) -> Result<()> {
    const LEFT: i32 = 220;
    const WIDTH: i32 = 440;
    const HEIGHT: i32 = 22;
    let part = bars.len() as i32 * HEIGHT + 40;
    let root = SVGBackend::new(path, (780, (2 * part + 10) as u32)).into_drawing_area();
    let fail = |error: DrawingAreaErrorKind<std::io::Error>| anyhow!("{error}");
    let text = ("sans-serif", 12).into_font().color(&BLACK);
    let write = |words: &str, at: (i32, i32)| {
        root.draw(&Text::new(words.to_owned(), at, text.clone())).map_err(fail)
    };
    root.fill(&WHITE).map_err(fail)?;
    for ((kind, _), at) in KINDS.into_iter().zip(0..) {
        let top = 10 + at as i32 * part;
        write(&format!("Instructions of a {}", kind.name()), (LEFT, top))?;
        let most = bars.iter().map(|bar| bar.instructions[at]).fold(1.0, f64::max);
        for (bar, number) in bars.iter().zip(0..) {
            let (y, value) = (top + 20 + number * HEIGHT, bar.instructions[at]);
            let right = LEFT + (value / most * f64::from(WIDTH)) as i32;
            let colour = if bar.direct { RGBColor(20, 80, 120) } else { RGBColor(200, 90, 30) };
            let corners = [(LEFT, y), (right.max(LEFT + 1), y + HEIGHT - 6)];
            root.draw(&Rectangle::new(corners, colour.filled())).map_err(fail)?;
            write(&bar.what, (10, y + 2))?;
            write(&format!("{value:.0}"), (right + 6, y + 2))?;
        }
    }
    root.present().map_err(fail)
}

#[cfg(test)]
mod tests {
    use super::{Bar, markdown, picture, tsv};

    #[test]
    fn a_page_says_what_each_part_costs_and_whether_the_whole_is_within_its_bar() {
        let bar =
            |what: &str, direct, instructions| Bar { what: what.to_owned(), direct, instructions };
        let bars = [
            bar("over the wire", false, [400_000.0, 100_000.0]),
            bar("everything", true, [100_000.0, 40_000.0]),
            bar("without log", true, [75_000.0, 30_000.0]),
            bar(super::VERSIONS, true, [50_000.0, 20_000.0]),
            bar(super::KERNEL, true, [12_000.0, 6_000.0]),
        ];
        let page = markdown(&bars, "glass", "Here.").expect("a text grows");
        assert!(page.contains("| over the wire | 400000 | 4.00 | 100000 | 2.50 |"), "{page}");
        assert!(page.contains("| without log | 75000 | 0.75 | 30000 | 0.75 |"), "{page}");
        assert!(page.contains("New-Order with everything on: 100000, bar 120000, passes."));
        assert!(page.contains("Payment with everything on: 40000, bar 30000, **fails**."));
        assert!(page.contains("costs a New-Order 38000 and a Payment 14000"), "{page}");
        assert_eq!(tsv(&bars).lines().count(), 6);
        let path = std::env::temp_dir().join(format!("atoll-glass-{}.svg", std::process::id()));
        picture(&bars, &path).expect("a picture is drawn");
        let drawn = std::fs::read_to_string(&path).expect("it is there");
        assert!(drawn.contains("without log") && drawn.contains("400000"));
        std::fs::remove_file(&path).expect("it goes");
    }
}
