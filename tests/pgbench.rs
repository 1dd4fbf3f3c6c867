//! pgbench 15, unmodified: it loads, runs in every mode, and its balances hold at the end.

use std::process::Command;
use tests::atoll::Atoll;
use tests::process::TemporaryDirectory;

/// Runs pgbench with the given arguments against `atoll`; what it printed, or a panic with it.
fn pgbench(atoll: &Atoll, arguments: &[&str]) -> String {
    let output = Command::new("pgbench")
        .args(["-h", "127.0.0.1", "-p", &atoll.port().to_string(), "-U", "postgres"])
        .args(arguments)
        .arg("postgres")
        .output()
        .expect("pgbench is installed");
    let text = format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(output.status.success(), "pgbench {arguments:?}:\n{text}\n{}", atoll.log());
    text
}

/// Demands that no transaction failed and that all four tables tell the same sum.
fn balances_hold(atoll: &Atoll) {
    let sums = atoll.connect().run(
        "SELECT (SELECT sum(abalance) FROM pgbench_accounts), (SELECT sum(tbalance) FROM pgbench_tellers), \
         (SELECT sum(bbalance) FROM pgbench_branches), (SELECT coalesce(sum(delta), 0) FROM pgbench_history)",
    );
    let sums = &sums.rows[0];
    assert!(sums.iter().all(|sum| sum == &sums[0]), "balances differ: {sums:?}");
}

fn done(report: &str) -> u64 {
    let line = report
        .lines()
        .find_map(|line| line.strip_prefix("number of transactions actually processed: "))
        .unwrap_or_else(|| panic!("no count in\n{report}"));
    let count = line.split('/').next().expect("a count").trim();
    count.parse().expect("a number")
}

#[test]
fn client_side_load_and_every_mode() {
    let atoll = Atoll::start(&[]);
    pgbench(&atoll, &["-i", "-I", "dtgvpf", "-s", "1", "-q"]);
    for mode in ["simple", "extended", "prepared"] {
        for script in ["tpcb-like", "simple-update", "select-only"] {
            let report = pgbench(
                &atoll,
                &["-n", "-M", mode, "-b", script, "-c", "4", "-j", "2", "-t", "50"],
            );
            assert_eq!(done(&report), 200, "{mode} {script}:\n{report}");
            assert!(report.contains("number of failed transactions: 0"), "{report}");
        }
        // simple-update leaves tellers and branches alone, so its sums are made good before they are compared.
        let mut client = atoll.connect();
        client.run("TRUNCATE pgbench_history");
        client.run("UPDATE pgbench_accounts SET abalance = 0 WHERE abalance <> 0");
        client.run("UPDATE pgbench_tellers SET tbalance = 0");
        client.run("UPDATE pgbench_branches SET bbalance = 0");
        pgbench(&atoll, &["-n", "-M", mode, "-c", "8", "-j", "2", "-t", "50"]);
        balances_hold(&atoll);
    }
}

#[test]
fn server_side_load_with_foreign_keys() {
    let atoll = Atoll::start(&[]);
    pgbench(
        &atoll,
        &["-i", "-I", "dtGvpf", "-s", "2", "-q", "--unlogged-tables", "--fillfactor", "90"],
    );
    let mut client = atoll.connect();
    assert_eq!(client.run("SELECT count(*) FROM pgbench_accounts").value(), "200000");
    let refused = client.query("INSERT INTO pgbench_tellers VALUES (1000, 99, 0)");
    assert_eq!(refused.sqlstate(), "23503");
    pgbench(&atoll, &["-n", "-c", "4", "-j", "2", "-t", "50"]);
    balances_hold(&atoll);
}

#[test]
fn a_connection_for_each_transaction_and_a_rate() {
    let atoll = Atoll::start(&[]);
    pgbench(&atoll, &["-i", "-s", "1", "-q"]);
    assert_eq!(done(&pgbench(&atoll, &["-n", "-C", "-S", "-c", "2", "-t", "20"])), 40);
    pgbench(&atoll, &["-n", "--rate", "200", "-c", "2", "-T", "2"]);
    balances_hold(&atoll);
}

#[test]
fn serialization_failures_are_retried() {
    let atoll = Atoll::start(&[]);
    pgbench(&atoll, &["-i", "-s", "1", "-q"]);
    atoll
        .connect()
        .run("ALTER DATABASE postgres SET default_transaction_isolation = 'repeatable read'");
    let report = pgbench(&atoll, &["-n", "-c", "4", "-j", "2", "-t", "50", "--max-tries", "1000"]);
    assert_eq!(done(&report), 200, "{report}");
    balances_hold(&atoll);
}

#[test]
fn a_script_with_a_pipeline() {
    let atoll = Atoll::start(&[]);
    pgbench(&atoll, &["-i", "-s", "1", "-q"]);
    let directory = TemporaryDirectory::new("script");
    let script = directory.path().join("pipeline.sql");
    let select = "SELECT abalance FROM pgbench_accounts WHERE aid = :aid;\n";
    let text = format!(
        "\\set aid random(1, 100000)\n\\startpipeline\n{}\\endpipeline\n",
        select.repeat(10)
    );
    std::fs::write(&script, text).expect("the directory is writable");
    let script = script.to_str().expect("a plain name");
    for mode in ["extended", "prepared"] {
        assert_eq!(
            done(&pgbench(&atoll, &["-n", "-M", mode, "-f", script, "-c", "4", "-t", "50"])),
            200
        );
    }
}

#[test]
fn partitions_are_refused_by_name() {
    let atoll = Atoll::start(&[]);
    let output = Command::new("pgbench")
        .args([
            "-h",
            "127.0.0.1",
            "-p",
            &atoll.port().to_string(),
            "-U",
            "postgres",
            "-i",
            "--partitions=2",
            "postgres",
        ])
        .output()
        .expect("pgbench is installed");
    assert!(!output.status.success());
    let text = String::from_utf8_lossy(&output.stderr).to_lowercase();
    assert!(text.contains("partition") && text.contains("not supported"), "{text}");
}
