//! TPC-C by statements at a small scale, over the wire and embedded: the load, the run, and the consistency conditions
//! before and after, each shown to notice what breaks it.

use bench::tpcc::client::Failure;
use bench::tpcc::direct::kernel::{self, Kernel};
use bench::tpcc::direct::row::{self, Key, Relation};
use bench::tpcc::direct::store::Tables;
use bench::tpcc::direct::{self, Database};
use bench::tpcc::driver::{self, Load, Report};
use bench::tpcc::embedded::Embedded;
use bench::tpcc::statement::Rows;
use bench::tpcc::transactions::{Form, Isolation, Kind};
use bench::tpcc::wire::Url;
use bench::tpcc::{Connector, Scale, consistency, functions, load, procedures, schemes};
use std::time::Duration;
use tests::atoll::Atoll;
use tests::process::TemporaryDirectory;

const SCALE: Scale = Scale { warehouses: 2, items: 1000, customers: 100 };

/// Loads, runs for two seconds with four sessions, and demands that the conditions hold before and after.
fn run(connector: &dyn Connector, isolation: Isolation, form: Form) -> Result<Report, Failure> {
    let mut client = connector.connect()?;
    load::load(&mut *client, SCALE, true)?;
    procedures::create(&mut *client)?;
    functions::create(&mut *client, &SCALE)?;
    assert_eq!(load::warehouses(&mut *client)?, Some(2));
    assert_eq!(consistency::check(&mut *client, &SCALE)?, [0; 12], "before");
    let load = Load {
        scale: SCALE,
        clients: 4,
        warm_up: Duration::ZERO,
        time: Duration::from_secs(2),
        isolation,
        form,
        only: None,
        transactions_max: None,
        seed: None,
    };
    let report = driver::run(connector, &load, &mut || ())?;
    assert_eq!(consistency::check(&mut *client, &SCALE)?, [0; 12], "after");
    assert_eq!(report.errors(), 0, "{}", report.table());
    for (kind, tally) in Kind::ALL.into_iter().zip(&report.tallies) {
        assert!(!tally.micros.is_empty(), "no {} came to its end", kind.name());
    }
    Ok(report)
}

#[test]
fn a_run_over_the_wire_holds_every_condition() {
    let mut atoll = Atoll::start(&[]);
    let url = Url::local(atoll.port());
    run(&url, Isolation::ReadCommitted, Form::Statements).expect("the server answers");
    run(&url, Isolation::RepeatableRead, Form::Statements).expect("the server answers");
    run(&url, Isolation::ReadCommitted, Form::Calls).expect("the server answers");
    run(&url, Isolation::RepeatableRead, Form::Calls).expect("the server answers");
    run(&url, Isolation::ReadCommitted, Form::Functions).expect("the server answers");
    run(&url, Isolation::RepeatableRead, Form::Functions).expect("the server answers");
    atoll.stop();
    atoll.check();
}

#[test]
fn a_run_without_a_socket_holds_every_condition() {
    let directory = TemporaryDirectory::new("tpcc");
    let embedded = Embedded::open(directory.path(), None).expect("an empty directory");
    run(&embedded, Isolation::ReadCommitted, Form::Statements).expect("the engine answers");
    embedded.close().expect("a checkpoint");
    tests::atoll::check(directory.path());
    let again = Embedded::open(directory.path(), None).expect("the directory that was closed");
    let mut client = again.connect().expect("a session");
    assert_eq!(consistency::check(&mut *client, &SCALE), Ok([0; 12]), "after a restart");
}

/// Under every scheme, and as SERIALIZABLE: two sessions in one warehouse, so that they are in each other's way. What has been aborted is
/// run again until it ends, and the conditions hold behind it.
#[test]
fn every_scheme_holds_every_condition() {
    let directory = TemporaryDirectory::new("tpcc-schemes");
    let scale = Scale { warehouses: 1, items: 100, customers: 30 };
    let load = Load {
        scale,
        clients: 2,
        warm_up: Duration::ZERO,
        time: Duration::from_secs(1),
        isolation: Isolation::ReadCommitted,
        form: Form::Statements,
        only: None,
        transactions_max: None,
        seed: None,
    };
    let rows = schemes::run(directory.path(), scale, &[load], &mut |_| ()).expect("all end");
    let ran: Vec<&str> = rows.iter().map(|row| row.scheme).collect();
    let all = sql::SchemeKind::ALL.map(sql::SchemeKind::name);
    assert_eq!(ran, all);
    assert!(rows.iter().all(|row| row.per_second > 0.0), "{rows:?}");
}

/// The same over the wire, where the server dies under the load: the conditions hold behind it.
#[test]
fn every_scheme_holds_every_condition_behind_process_death() {
    let scale = Scale { warehouses: 1, items: 100, customers: 30 };
    for scheme in sql::SchemeKind::ALL.map(sql::SchemeKind::name) {
        let mut atoll = Atoll::start_with(&["--concurrency-control", scheme], &[]);
        let mut client = Url::local(atoll.port()).connect().expect("the server answers");
        client
            .execute("SET atoll.require_partition_key = off", &mut Rows::default())
            .expect("it is a setting");
        load::load(&mut *client, scale, true).expect("the server answers");
        for life in 0..2 {
            let url = Url::local(atoll.port());
            let load = Load {
                scale,
                clients: 3,
                warm_up: Duration::ZERO,
                time: Duration::from_secs(20),
                isolation: Isolation::Serializable,
                form: Form::Statements,
                only: None,
                transactions_max: None,
                seed: Some(life),
            };
            let before = orders(&atoll);
            std::thread::scope(|scope| {
                let run = scope.spawn(|| driver::run(&url, &load, &mut || ()));
                while orders(&atoll) < before + 20 && !run.is_finished() {
                    std::thread::sleep(Duration::from_millis(50));
                }
                atoll.kill();
                assert!(run.join().expect("nobody panics").is_err(), "{scheme}: nobody notices");
            });
            atoll.restart();
            client = Url::local(atoll.port()).connect().expect("the server answers again");
            assert_eq!(consistency::check(&mut *client, &scale), Ok([0; 12]), "{scheme}: {life}");
        }
        drop(client);
        atoll.stop();
        atoll.check();
    }
}

/// Orders there are, in databases of every scheme.
fn orders(atoll: &Atoll) -> u64 {
    let mut client = atoll.connect();
    loop {
        // Others may be in its way.
        let reply = client.query("SELECT count(*) FROM orders");
        if reply.error.is_none() {
            return reply.value().parse().expect("a number");
        }
    }
}

/// Straight on the transaction component: the same transactions, and the same conditions, counted by hand.
#[test]
fn a_run_without_sql_holds_every_condition() {
    let directory = TemporaryDirectory::new("tpcc-direct");
    let open = || Database::open(directory.path(), SCALE, direct::options(), true);
    let database = open().expect("an empty directory");
    assert_eq!(direct::conditions::check(&*database, &SCALE), Ok([0; 12]), "before");
    let load = Load {
        scale: SCALE,
        clients: 4,
        warm_up: Duration::ZERO,
        time: Duration::from_secs(2),
        isolation: Isolation::default(),
        form: Form::default(),
        only: None,
        transactions_max: None,
        seed: None,
    };
    let report = driver::drive(&|place| Ok(database.session(place)), &load, &mut || ())
        .expect("the database works");
    assert_eq!(report.errors(), 0, "{}", report.table());
    for (kind, tally) in Kind::ALL.into_iter().zip(&report.tallies) {
        assert!(!tally.micros.is_empty(), "no {} came to its end", kind.name());
    }
    assert_eq!(direct::conditions::check(&*database, &SCALE), Ok([0; 12]), "after");
    database.close().expect("a checkpoint");
    drop(database);
    let again = open().expect("the directory that was closed");
    assert_eq!(direct::conditions::check(&*again, &SCALE), Ok([0; 12]), "after a restart");
}

/// The kernel that only does the work does it: it holds the conditions, and has the rows that the transaction component has.
#[test]
fn a_kernel_has_the_rows_of_a_run_without_sql() {
    let directory = TemporaryDirectory::new("tpcc-kernel");
    let database = Database::open(directory.path(), SCALE, direct::options(), false)
        .expect("an empty directory");
    let load = Load {
        scale: SCALE,
        clients: 1,
        warm_up: Duration::ZERO,
        time: Duration::from_secs(3_600),
        isolation: Isolation::default(),
        form: Form::default(),
        only: None,
        transactions_max: Some(500),
        seed: Some(7),
    };
    driver::drive(&|place| Ok(database.session(place)), &load, &mut || ()).expect("it works");
    let mut kernel = Kernel::<u128>::load(SCALE);
    let mut of_bytes = Kernel::<Key>::load(SCALE);
    for report in [kernel::run(&mut kernel, &load), kernel::run(&mut of_bytes, &load)] {
        let report = report.expect("it works");
        assert_eq!(report.errors(), 0, "{}", report.table());
        assert!(report.tallies[0].rolled_back > 0, "{}", report.table());
    }
    assert_eq!(direct::conditions::check(&kernel, &SCALE), Ok([0; 12]));
    assert_eq!(direct::conditions::check(&of_bytes, &SCALE), Ok([0; 12]));
    for relation in Relation::ALL {
        // A customer's name is no part of the kernel's key, and a row of `history` has none.
        if matches!(relation, Relation::CustomerName) {
            continue;
        }
        let rows = |tables: &dyn Tables| {
            let mut rows = Vec::new();
            let mut each = |key: &[u8], row: &[u8]| {
                let key = if relation == Relation::History { &[] } else { key };
                let mut key = key.to_vec();
                key.resize(16, 0);
                let mut row = row.to_vec();
                // When it happened is the clock's.
                match relation {
                    Relation::History => row::set_number(&mut row, 5, 0),
                    Relation::Orders => row::set_number(&mut row, 1, 0),
                    Relation::OrderLine => {
                        let is_delivered = row::number(&row, 2) != row::ABSENT;
                        row::set_number(&mut row, 2, i64::from(is_delivered));
                    }
                    _ => {}
                }
                rows.push((key, row));
            };
            tables.each(relation, &mut each).expect("they can be read");
            rows
        };
        let expected = rows(&*database);
        assert!(rows(&kernel) == expected, "{relation:?}");
        assert!(rows(&of_bytes) == expected, "{relation:?}, keys as bytes");
    }
    database.close().expect("a checkpoint");
}

/// What breaks each condition alone or with others: a statement, and the conditions that must complain.
const DAMAGE: [(&str, &[usize]); 12] = [
    ("UPDATE warehouse SET w_ytd = w_ytd + 1 WHERE w_id = 2", &[1, 8]),
    ("UPDATE district SET d_next_o_id = d_next_o_id + 1 WHERE d_w_id = 1 AND d_id = 3", &[2]),
    ("DELETE FROM new_order WHERE no_w_id = 1 AND no_d_id = 1 AND no_o_id = 80", &[3, 5, 11]),
    (
        "DELETE FROM order_line WHERE ol_w_id = 2 AND ol_d_id = 2 AND ol_o_id = 3 AND ol_number = 1",
        &[4, 6],
    ),
    ("UPDATE orders SET o_carrier_id = NULL WHERE o_w_id = 1 AND o_d_id = 4 AND o_id = 5", &[5, 7]),
    (
        "UPDATE orders SET o_ol_cnt = o_ol_cnt - 1 WHERE o_w_id = 1 AND o_d_id = 4 AND o_id = 6",
        &[4, 6],
    ),
    (
        "UPDATE order_line SET ol_delivery_d = NULL WHERE ol_w_id = 1 AND ol_d_id = 1 AND ol_o_id = 1",
        &[7],
    ),
    (
        "UPDATE history SET h_amount = h_amount + 1 WHERE h_w_id = 2 AND h_d_id = 1 AND h_c_id = 1",
        &[8, 9, 10],
    ),
    ("UPDATE district SET d_ytd = d_ytd - 1 WHERE d_w_id = 2 AND d_id = 10", &[1, 9]),
    (
        "UPDATE customer SET c_balance = c_balance + 1 WHERE c_w_id = 1 AND c_d_id = 1 AND c_id = 1",
        &[10, 12],
    ),
    ("UPDATE customer SET c_delivery_cnt = 1 WHERE c_w_id = 1 AND c_d_id = 1 AND c_id = 1", &[11]),
    ("UPDATE customer SET c_ytd_payment = 0 WHERE c_w_id = 2 AND c_d_id = 9 AND c_id = 7", &[12]),
];

#[test]
fn every_condition_notices_what_breaks_it() {
    let atoll = Atoll::start(&[]);
    let mut client = Url::local(atoll.port()).connect().expect("a session");
    load::load(&mut *client, SCALE, false).expect("the server takes the tables");
    let mut rows = Rows::default();
    for (statement, expected) in DAMAGE {
        client.execute("BEGIN", &mut rows).expect("a transaction");
        client.execute(statement, &mut rows).expect(statement);
        assert!(rows.affected > 0, "{statement} met no row");
        let broken = consistency::check(&mut *client, &SCALE).expect("the conditions can be asked");
        let found: Vec<usize> = (1..=12).filter(|number| broken[number - 1] != 0).collect();
        assert_eq!(found, expected, "{statement}");
        client.execute("ROLLBACK", &mut rows).expect("its end");
    }
}
