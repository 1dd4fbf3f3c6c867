//! The simulated figures as a Markdown page, a TSV of all points, and a picture for each.

use super::figures::{Axis, Kind, Plot};
use crate::chart::Chart;
use crate::ycsb::run::Outcome;
use anyhow::Result;
use std::fmt::Write;
use std::path::Path;
use storage::breakdown::Class;

/// Classes that a simulated transaction has.
const CLASSES: [Class; 8] = [
    Class::UsefulWork,
    Class::Index,
    Class::Locking,
    Class::Latching,
    Class::Timestamp,
    Class::Logging,
    Class::Wait,
    Class::Abort,
];

/// Thousands, with as many digits as there is to say.
fn thousands(rate: f64) -> String {
    if rate < 100_000.0 { format!("{:.1}", rate / 1e3) } else { format!("{:.0}", rate / 1e3) }
}

/// The page.
///
/// # Errors
/// None: a text can always be written to.
pub fn markdown(all: &[Plot], conditions: &str, name: &str) -> Result<String> {
    let mut out = format!("# 1,024 cores, simulated\n\n{conditions}\n");
    for drawn in all {
        section(drawn, name, &mut out)?;
    }
    Ok(out)
}

fn section(drawn: &Plot, name: &str, out: &mut String) -> Result<()> {
    let figure = &drawn.figure;
    let over = match figure.axis {
        Axis::Cores => "cores",
        Axis::Other(over, _) => over,
    };
    write!(out, "\n## {}\n\n![]({name}_{}.svg)\n\n", figure.title, figure.name)?;
    write!(out, "Thousands a second, over {over}:\n\n| |")?;
    figure.places.iter().try_for_each(|place| write!(out, " {place} |"))?;
    write!(
        out,
        " most at | aborted at the end |\n|---|{}\n",
        "--:|".repeat(figure.places.len() + 2)
    )?;
    for (line, points) in drawn.lines() {
        write!(out, "| `{line}` |")?;
        for point in points {
            write!(out, " {} |", thousands(point.per_second()))?;
        }
        let aborted = points.last().map_or(0.0, Outcome::abort_share);
        writeln!(out, " {} | {aborted:.3} |", drawn.peak(line).0)?;
    }
    if !figure.claims.is_empty() {
        out.push_str("\n| the paper | here | |\n|---|---|---|\n");
    }
    for claim in &figure.claims {
        let (words, holds, found) = drawn.judge(*claim);
        let verdict = if holds { "as there" } else { "**differs**" };
        writeln!(out, "| {words} | {found} | {verdict} |")?;
    }
    if figure.lines.iter().any(|(_, kind)| matches!(kind, Kind::Transactions { .. })) {
        out.push_str("\nWhere the time of cores goes at the end, in hundredths:\n\n| |");
        CLASSES.iter().try_for_each(|class| write!(out, " {} |", class.name()))?;
        write!(out, "\n|---|{}\n", "--:|".repeat(CLASSES.len()))?;
        for (line, points) in drawn.lines() {
            let Some(Outcome { breakdown, .. }) = points.last() else { continue };
            write!(out, "| `{line}` |")?;
            for class in CLASSES {
                let share = breakdown.of(class) as f64 / breakdown.total().max(1) as f64;
                write!(out, " {:.0} |", share * 100.0)?;
            }
            out.push('\n');
        }
    }
    Ok(())
}

/// All points, a line for each.
#[must_use]
pub fn tsv(all: &[Plot]) -> String {
    let mut out = String::from("figure\tline\tplace\tper_second\tabort_share\taborts");
    for class in CLASSES {
        out += &format!("\t{}_kilocycles", class.name());
    }
    out.push('\n');
    for drawn in all {
        for (line, points) in drawn.lines() {
            for (place, point) in drawn.figure.places.iter().zip(points) {
                let committed = point.committed.max(1) as f64;
                let aborts: Vec<String> = point
                    .aborts
                    .iter()
                    .map(|(reason, count)| format!("{reason} {:.3}", *count as f64 / committed))
                    .collect();
                out += &format!(
                    "{}\t{line}\t{place}\t{:.0}\t{:.4}\t{}",
                    drawn.figure.name,
                    point.per_second(),
                    point.abort_share(),
                    aborts.join(", ")
                );
                for class in CLASSES {
                    let cycles = point.breakdown.of(class) as f64 / committed / 1000.0;
                    out += &format!("\t{cycles:.2}");
                }
                out.push('\n');
            }
        }
    }
    out
}

/// Draws each figure beside the page.
///
/// # Errors
/// A file cannot be written.
pub fn pictures(all: &[Plot], directory: &Path, name: &str) -> Result<()> {
    for drawn in all {
        let figure = &drawn.figure;
        let over = match figure.axis {
            Axis::Cores => "cores",
            Axis::Other(over, _) => over,
        };
        let lines = drawn.lines().map(|(line, points)| {
            (line.to_owned(), points.iter().map(Outcome::per_second).collect())
        });
        let chart = Chart {
            title: format!("A second: {}", figure.title),
            over: over.to_owned(),
            places: figure.places.iter().map(f64::to_string).collect(),
            lines: lines.collect(),
            logarithmic: figure.logarithmic,
        };
        chart.draw(&directory.join(format!("{name}_{}.svg", figure.name)))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{markdown, pictures, tsv};
    use crate::abyss::costs::Costs;
    use crate::abyss::figures::{Effort, all};

    #[test]
    fn a_page_has_every_figure_and_says_of_each_claim_whether_it_holds() {
        let costs = Costs::committed().expect("the committed file can be read");
        let effort = Effort { commits: [2, 10], seed: 1 };
        let names = ["allocation", "medium", "skew", "tpcc_4"];
        let figures = all(4).into_iter().filter(|figure| names.contains(&figure.name));
        let drawn: Vec<_> =
            figures.map(|figure| figure.draw(&costs, effort, &mut |_| ())).collect();
        assert_eq!(drawn.len(), names.len());
        let page = markdown(&drawn, "Here.", "abyss").expect("a text grows");
        assert!(
            page.contains("| `atomic` is above `mutex`") || page.contains("`batched` is above")
        );
        assert!(page.contains("differs") && page.contains("abyss_skew.svg"), "{page}");
        let points: usize = drawn.iter().flat_map(|one| &one.points).map(Vec::len).sum();
        assert_eq!(tsv(&drawn).lines().count(), points + 1);
        let directory = std::env::temp_dir().join(format!("atoll-abyss-{}", std::process::id()));
        std::fs::create_dir_all(&directory).expect("a directory is made");
        pictures(&drawn, &directory, "abyss").expect("pictures are drawn");
        assert!(directory.join("abyss_tpcc_4.svg").exists());
        std::fs::remove_dir_all(&directory).expect("it goes");
    }
}
