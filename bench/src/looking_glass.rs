//! The command `looking-glass`: what New-Order and Payment cost straight on the transaction component, one part of it taken away
//! after another, and what SQL and the wire cost on top.
//!
//! Paper: Harizopoulos et al., *OLTP Through the Looking Glass, and What We Found There*, SIGMOD 2008, figures 5 to 8. The
//! transactions are those of [`crate::tpcc::direct`], the parts those of [`txn::Without`]; what cannot be taken away, and so stays in
//! the last bar, is told in `docs/design/0020-looking-glass.md`.
//!
//! Instructions are counted by callgrind over a whole process, background threads included, for few transactions of one
//! session and for more, and the difference is divided by theirs.

use crate::tpcc::transactions::{Form, Isolation, Kind};
use crate::tpcc::{Scale, direct, driver};
use crate::{callgrind, instructions};
use anyhow::{Result, anyhow, bail, ensure};
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
/// What is taken away, one after another, by the names of [`Without::NAMES`].
const STEPS: [(&str, &str); 4] = [
    ("everything", ""),
    ("without log", "log"),
    ("and without locks", "log,locks"),
    ("and without versions", "log,locks,versions"),
];

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
    let mut bars = Vec::new();
    for (what, without) in STEPS {
        let mut instructions = [0.0; 2];
        for ((kind, _), place) in KINDS.into_iter().zip(&mut instructions) {
            let few = counted(arguments, directory, (kind, without), FEW)?;
            let all = counted(arguments, directory, (kind, without), FEW + arguments.transactions)?;
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
    (kind, without): (Kind, &str),
    transactions: u32,
) -> Result<u64> {
    let (data, counts) = (directory.join("data"), directory.join("counts"));
    let copied = Command::new("cp").arg("-r").arg(directory.join("loaded")).arg(&data).status()?;
    ensure!(copied.success(), "the database could not be copied");
    let kind = if kind == Kind::NewOrder { "new-order" } else { "payment" };
    let mut program = Command::new(std::env::current_exe()?);
    program.args(["looking-glass", "--only", kind, "--work"]).arg(&data);
    program.args(["--transactions", &transactions.to_string()]);
    program.args(arguments.standard.then_some("--standard"));
    if !without.is_empty() {
        program.args(["--without", without]);
    }
    let mut command = callgrind::command(&program, &counts);
    let output = command.stdin(Stdio::null()).output()?;
    ensure!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    std::fs::remove_dir_all(&data)?;
    callgrind::total(&counts)
}

/// What the counted process does.
fn work(arguments: &Arguments, data: &Path, kind: Kind) -> Result<()> {
    let mut options = direct::options();
    for name in &arguments.without {
        ensure!(options.without.leave_out(name), "{name} is none of {:?}", Without::NAMES);
    }
    let scale = arguments.scale();
    let database = direct::Database::open(data, scale, options, false)?;
    // All of it is in the pool before the first transaction.
    for relation in direct::row::Relation::ALL {
        database.each(relation, |_, _| ())?;
    }
    let load = driver::Load {
        scale,
        clients: 1,
        warm_up: Duration::ZERO,
        time: LONG,
        isolation: Isolation::default(),
        form: Form::default(),
        only: Some(kind),
        transactions_max: Some(u64::from(arguments.transactions)),
    };
    let report = driver::drive(&|place| Ok(database.session(place)), &load, &mut || {})?;
    ensure!(report.errors() == 0, "{} transactions failed", report.errors());
    Ok(database.close()?)
}

/// The page.
///
/// # Errors
/// None: a text can always be written to.
pub fn markdown(bars: &[Bar], name: &str, conditions: &str) -> Result<String> {
    let mut page = String::from("# Through the looking glass\n\n");
    write!(
        page,
        "{conditions}\n\nInstructions of a transaction, counted by callgrind over a whole process: New-Order of ten items on average, and Payment. Each step takes one more part of the transaction component away (`atoll.switched_off`; `docs/design/0020-looking-glass.md` says what each is, and what stays). Shore took 1.73 million for New-Order, and 110,000 for what was left of it when all was taken away; 180,000 for Payment.\n\n![]({name}.svg)\n\n| | New-Order | of everything | Payment | of everything |\n|---|--:|--:|--:|--:|\n"
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
        ];
        let page = markdown(&bars, "glass", "Here.").expect("a text grows");
        assert!(page.contains("| over the wire | 400000 | 4.00 | 100000 | 2.50 |"), "{page}");
        assert!(page.contains("| without log | 75000 | 0.75 | 30000 | 0.75 |"), "{page}");
        assert!(page.contains("New-Order with everything on: 100000, bar 120000, passes."));
        assert!(page.contains("Payment with everything on: 40000, bar 30000, **fails**."));
        assert_eq!(tsv(&bars).lines().count(), 4);
        let path = std::env::temp_dir().join(format!("atoll-glass-{}.svg", std::process::id()));
        picture(&bars, &path).expect("a picture is drawn");
        let drawn = std::fs::read_to_string(&path).expect("it is there");
        assert!(drawn.contains("without log") && drawn.contains("400000"));
        std::fs::remove_file(&path).expect("it goes");
    }
}
