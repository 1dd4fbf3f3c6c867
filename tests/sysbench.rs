//! sysbench's OLTP tests, unmodified: each loads its tables, runs, and cleans up without an error.

use std::process::Command;
use tests::atoll::Atoll;

/// Rows of a table.
const TABLE_SIZE: u32 = 1000;

/// Runs one command of one of sysbench's tests; what it printed, or a panic with it.
fn sysbench(atoll: &Atoll, test: &str, command: &str, options: &[&str]) -> String {
    let output = Command::new("sysbench")
        .arg(test)
        .args(["--db-driver=pgsql", "--pgsql-host=127.0.0.1", "--pgsql-user=postgres"])
        .arg(format!("--pgsql-port={}", atoll.port()))
        .args(["--pgsql-db=postgres", "--threads=4", "--time=1"])
        .args(options)
        .arg(command)
        .output()
        .expect("sysbench is installed");
    let text = format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(
        output.status.success() && !text.contains("FATAL") && !text.contains("ALERT"),
        "sysbench {test} {command} {options:?}:\n{text}\n{}",
        atoll.log()
    );
    text
}

/// The number behind `label` in sysbench's report.
fn count(report: &str, label: &str) -> u64 {
    let line = report.lines().find_map(|line| line.trim().strip_prefix(label));
    let number = line.and_then(|line| line.split_whitespace().next());
    number.and_then(|word| word.parse().ok()).unwrap_or_else(|| panic!("no {label} in\n{report}"))
}

/// Loads, runs and cleans up.
fn whole(atoll: &Atoll, test: &str, options: &[&str]) {
    let size = format!("--table-size={TABLE_SIZE}");
    let options = [&[size.as_str()], options].concat();
    sysbench(atoll, test, "prepare", &options);
    let report = sysbench(atoll, test, "run", &options);
    assert!(count(&report, "transactions:") > 0, "{report}");
    sysbench(atoll, test, "cleanup", &options);
    let left = atoll.connect().run("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'");
    assert_eq!(left.value(), "0", "what {test} leaves");
}

#[test]
fn reads() {
    let atoll = Atoll::start(&[]);
    whole(&atoll, "oltp_point_select", &["--tables=2"]);
    whole(&atoll, "oltp_read_only", &["--tables=2"]);
    whole(&atoll, "select_random_ranges", &[]);
    whole(&atoll, "select_random_points", &[]);
}

#[test]
fn writes() {
    let atoll = Atoll::start(&[]);
    for test in
        ["oltp_insert", "oltp_delete", "oltp_update_index", "oltp_update_non_index", "bulk_insert"]
    {
        whole(&atoll, test, &["--tables=4"]);
    }
}

#[test]
fn reads_and_writes() {
    let atoll = Atoll::start(&[]);
    for mode in ["--db-ps-mode=auto", "--db-ps-mode=disable"] {
        whole(&atoll, "oltp_read_write", &["--tables=2", mode]);
        whole(&atoll, "oltp_write_only", &["--tables=2", mode]);
    }
}

/// An index says the same as its table after concurrent changes, and each table has its rows.
#[test]
fn tables_are_whole_after_a_run() {
    let atoll = Atoll::start(&[]);
    let options = [&format!("--table-size={TABLE_SIZE}"), "--tables=1"];
    sysbench(&atoll, "oltp_read_write", "prepare", &options);
    sysbench(&atoll, "oltp_read_write", "run", &options);
    let mut client = atoll.connect();
    let all = client.run("SELECT count(*), min(id), max(id) FROM sbtest1");
    let expected = [TABLE_SIZE, 1, TABLE_SIZE].map(|number| Some(number.to_string()));
    assert_eq!(all.rows[0], expected);
    // The same rows by the table and by the index on k.
    let by_table = client.run("SELECT sum(k), sum(id) FROM sbtest1 WHERE k + 0 > 0");
    let by_index = client.run("SELECT sum(k), sum(id) FROM sbtest1 WHERE k > 0");
    assert_eq!(by_table.rows, by_index.rows);
}
