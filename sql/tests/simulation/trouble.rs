//! A disk that fails while there is power: what a session is told, and what it is not.

use crate::client::{Answer, Client};
use crate::world::{Faults, abandon, environment, image, open, options, simulated};
use sql::engine::Engine;
use txn::simulation::FaultSchedule;

const INSERT: &str = "INSERT INTO parent VALUES";

fn rows(answer: Answer, what: &str) -> Vec<String> {
    match answer {
        Answer::Rows(rows) => rows,
        other => panic!("{what}: {other:?}"),
    }
}

/// A commit whose sync fails is not answered, neither "committed" nor "rolled back"; nobody is told what it wrote; nothing
/// is committed any more. A restart begins with what was answered before.
#[test]
fn a_failed_sync_of_the_log_ends_it_unanswered() {
    simulated(|simulation| {
        let device = simulation.device(image().copy(1));
        let engine = open(simulation, &device, options(0, Faults::default()), 1).expect("it opens");
        let (mut one, mut other) = (Client::connect(&engine, 1), Client::connect(&engine, 2));
        rows(one.say(&format!("{INSERT} (1, 1)")), "there is nothing wrong yet");
        let sync_error_at = Some(device.operations() + 1);
        device.set_schedule(FaultSchedule { sync_error_at, ..FaultSchedule::default() });
        for (client, text) in [(&mut one, "(2, 2)"), (&mut other, "(3, 3)")] {
            let told = client.say(&format!("{INSERT} {text}"));
            assert!(matches!(told, Answer::Nothing), "{text}: {told:?}");
        }
        let told = other.say("SELECT count(*) FROM parent WHERE id = 2");
        assert!(matches!(told, Answer::Nothing), "{told:?}");
        drop((one, other));
        abandon(&device, engine);
        let device = simulation.device(device.crash(7));
        let engine = open(simulation, &device, options(0, Faults::default()), 1).expect("it opens");
        let mut client = Client::connect(&engine, 1);
        let there = rows(client.say("SELECT count(*) FROM parent WHERE id = 1"), "after a restart");
        assert_eq!(there, ["1"]);
        drop(client);
        engine.close().expect("nothing is in the way");
    });
}

/// The same for whichever sync of a checkpoint fails: of the data files or of the control file.
#[test]
fn a_failed_sync_of_a_checkpoint_ends_it_unanswered() {
    let mut failed = 0;
    for step in 1..60 {
        simulated(|simulation| {
            let device = simulation.device(image().copy(1));
            let options = options(0, Faults::default());
            let engine = open(simulation, &device, options, 1).expect("it opens");
            let mut client = Client::connect(&engine, 1);
            rows(client.say(&format!("{INSERT} (1, 1)")), "there is nothing wrong yet");
            let sync_error_at = Some(device.operations() + step);
            device.set_schedule(FaultSchedule { sync_error_at, ..FaultSchedule::default() });
            let _ = client.say("CHECKPOINT");
            if engine.manager().data().log().alive().is_err() {
                failed += 1;
                let told = client.say(&format!("{INSERT} (2, 2)"));
                assert!(matches!(told, Answer::Nothing), "step {step}: {told:?}");
            }
            drop(client);
            abandon(&device, engine);
        });
    }
    assert!(failed >= 3, "the data files, the control file: {failed} have failed");
}

/// A full disk is 53100 for who writes, before anything is claimed; who reads goes on; and once there is room, so does who
/// writes.
#[test]
fn a_full_disk_refuses_writers_and_nobody_else() {
    simulated(|simulation| {
        let device = simulation.device(image().copy(1));
        let engine = open(simulation, &device, options(0, Faults::default()), 1).expect("it opens");
        let (mut writer, mut reader) = (Client::connect(&engine, 1), Client::connect(&engine, 2));
        let capacity_bytes = Some(device.bytes());
        device.set_schedule(FaultSchedule { capacity_bytes, ..FaultSchedule::default() });
        let insert =
            |n: u64| format!("INSERT INTO own_0 (k, v, t) VALUES ({n}, {n}, repeat('t', 900))");
        let mut inserted = 0;
        let (mut refused, mut told) = (0, None);
        for n in 0..5000 {
            match writer.say(&insert(n)) {
                Answer::Rows(_) => inserted += 1,
                Answer::Refused(state, _) if state == "53100" => {
                    refused += 1;
                    told = Some(n);
                    if refused == 5 {
                        break;
                    }
                }
                other => panic!("row {n}: {other:?}"),
            }
        }
        assert_eq!(refused, 5, "the disk was never full");
        let count = format!("{inserted}");
        for query in ["SELECT count(*) FROM own_0", "SELECT count(*) FROM own_0 WHERE v >= 0"] {
            assert_eq!(rows(reader.say(query), query), [count.as_str()]);
        }
        device.set_schedule(FaultSchedule::default());
        let n = told.expect("it was refused");
        rows(writer.say(&insert(n)), "there is room again");
        drop((writer, reader));
        engine.close().expect("there is room again");
        let env = environment(simulation, &device, 1);
        let found = Engine::verify(&env, options(0, Faults::default())).expect("it can be read");
        assert_eq!(found, Vec::<String>::new());
    });
}
