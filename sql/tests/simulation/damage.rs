//! What the offline check finds in a directory somebody has damaged: each kind of damage, by the name of what it hit, and
//! nothing where nothing is wrong. And it changes no byte.

use crate::client::{Answer, Client};
use crate::world::{Faults, environment, open, options, simulated};
use sql::engine::Engine;
use std::collections::BTreeMap;
use std::sync::Arc;
use txn::simulation::Simulation;
use txn::{Begin, Device, Direction, FaultyDevice, KeyRange, Lsn, ReadView, SessionWait, Tree};

const PAGE_BYTES: usize = 4096;
const TABLE: &[&str] = &[
    "CREATE TABLE stock (id int PRIMARY KEY, code int, name text, memo text)",
    "CREATE UNIQUE INDEX stock_code ON stock (code)",
    "CREATE INDEX stock_name ON stock (name)",
    "INSERT INTO stock SELECT g, g * 7, 'name ' || g FROM generate_series(1, 500) g",
    "DELETE FROM stock WHERE id % 50 = 0",
    "INSERT INTO stock VALUES (1001, NULL, NULL, NULL), (1002, NULL, NULL, repeat('long', 3000))",
    "CREATE TABLE loose (v int, t text)",
    "CREATE INDEX loose_v ON loose (v)",
    "INSERT INTO loose SELECT g % 9, 't' FROM generate_series(1, 100) g",
];

/// A directory with the tables, what a stroke at the open engine does to it, closed again.
fn directory(simulation: &Simulation, stroke: &dyn Fn(&Arc<Engine>)) -> Arc<FaultyDevice> {
    let device = simulation.device(crate::world::image().copy(1));
    let options = options(0, Faults::default());
    let engine = open(simulation, &device, options, 1).expect("the image opens");
    let mut client = Client::connect(&engine, 1);
    for text in TABLE {
        match client.say(text) {
            Answer::Rows(_) => {}
            other => panic!("{text}: {other:?}"),
        }
    }
    drop(client);
    stroke(&engine);
    engine.close().expect("nothing is in the way");
    device
}

fn problems(simulation: &Simulation, device: &Arc<FaultyDevice>) -> Vec<String> {
    let env = environment(simulation, device, 1);
    let before = device.operations();
    let found = Engine::verify(&env, options(0, Faults::default())).expect("it can be read");
    assert_eq!(device.operations(), before, "the check has written");
    found
}

/// The entries of a tree.
fn records(engine: &Engine, tree: &Arc<Tree>) -> BTreeMap<Vec<u8>, Vec<u8>> {
    use std::ops::Bound::Unbounded;
    let wait = Arc::new(SessionWait::new(9));
    let mut transaction = engine.manager().begin(Begin::default(), &wait);
    transaction.begin_statement().expect("nothing is in the way");
    let range = KeyRange { low: Unbounded, high: Unbounded };
    let mut scan = transaction
        .scan(&ReadView::LATEST, tree, range, Direction::Forward)
        .expect("nothing is in the way");
    let mut found = BTreeMap::new();
    while let Some(record) = scan.advance(&mut transaction).expect("nothing is in the way") {
        found.insert(record.key.to_vec(), record.value.to_vec());
    }
    found
}

/// Writes to a tree behind SQL's back.
fn change(engine: &Engine, tree: &Tree, writes: &[(&[u8], Option<&[u8]>)]) {
    let wait = Arc::new(SessionWait::new(9));
    let mut transaction = engine.manager().begin(Begin::default(), &wait);
    transaction.begin_statement().expect("nothing is in the way");
    for (key, value) in writes {
        match value {
            Some(value) => transaction.put(tree, key, value),
            None => transaction.delete(tree, key),
        }
        .expect("nothing is in the way");
    }
    let _ = transaction.commit(&mut |_| ()).expect("nothing is in the way");
}

/// The trees of [`TABLE`], in the order in which its statements make them.
const TREES: [&str; 7] =
    ["stock", "stock long", "stock_code", "stock_name", "loose", "loose long", "loose_v"];

/// The tree of a table's rows or of an index.
fn tree_of(engine: &Engine, name: &str) -> Arc<Tree> {
    let trees = engine.manager().data().forest().trees();
    let at = TREES.iter().position(|tree| *tree == name).expect("it is among them");
    Arc::clone(&trees[trees.len() - TREES.len() + at])
}

fn after(stroke: &dyn Fn(&Arc<Engine>)) -> Vec<String> {
    simulated(|simulation| {
        let device = directory(simulation, stroke);
        problems(simulation, &device)
    })
}

/// The pages of a directory's data file, by what they say of themselves.
fn pages(device: &FaultyDevice) -> Vec<Vec<u8>> {
    let file = device.open("data", false).expect("it is there");
    let bytes = file.len().expect("it can be read") as usize;
    (0..bytes / PAGE_BYTES)
        .map(|page| {
            let mut buffer = vec![0; PAGE_BYTES];
            file.read_at((page * PAGE_BYTES) as u64, &mut buffer).expect("it can be read");
            buffer
        })
        .collect()
}

#[test]
fn a_clean_directory_is_clean() {
    assert_eq!(after(&|_| ()), Vec::<String>::new());
}

/// Two pages of the file that hold rows of `stock`; the double-write area, which would heal them, is gone.
fn disk_damage(damage: &dyn Fn(&FaultyDevice, usize, usize, &[Vec<u8>])) -> Vec<String> {
    simulated(|simulation| {
        let device = directory(simulation, &|_| ());
        device.remove("doublewrite").expect("it is there");
        let pages = pages(&device);
        let holds = |page: &&(usize, &Vec<u8>)| page.1.windows(8).any(|word| word == b"name 123");
        let all: Vec<_> = pages.iter().enumerate().collect();
        let found: Vec<usize> = all.iter().filter(holds).map(|page| page.0).collect();
        assert!(found.len() >= 2, "the rows and the index on names: {found:?}");
        damage(&device, found[0], found[1], &pages);
        problems(simulation, &device)
    })
}

#[test]
fn a_flipped_byte_is_found() {
    let found = disk_damage(&|device, page, _, _| {
        device.flip("data", (page * PAGE_BYTES + 3000) as u64, 1).expect("it is there");
    });
    let told = |what: &String| what.contains("postgres.public.stock") && what.contains("checksum");
    assert!(found.iter().any(told), "{found:?}");
}

#[test]
fn swapped_pages_are_found() {
    let found = disk_damage(&|device, one, other, pages| {
        let file = device.open("data", false).expect("it is there");
        file.write_at((one * PAGE_BYTES) as u64, &pages[other]).expect("it is there");
        file.write_at((other * PAGE_BYTES) as u64, &pages[one]).expect("it is there");
    });
    let told = |what: &&String| {
        what.contains("postgres.public.stock") && what.contains("it is another page")
    };
    assert!(found.iter().filter(told).count() >= 2, "{found:?}");
}

#[test]
fn a_lost_index_entry_is_found() {
    for index in ["stock_code", "stock_name"] {
        let found = after(&|engine| {
            let tree = tree_of(engine, index);
            let entries = records(engine, &tree);
            let key = entries.keys().nth(200).expect("there are hundreds");
            change(engine, &tree, &[(key, None)]);
        });
        assert_eq!(found.len(), 2, "{found:?}");
        let name = format!("table postgres.public.stock, index {index}");
        assert!(found[0].starts_with(&name) && found[0].contains("has no entry"), "{found:?}");
        let counts = "it has 491 entries, and stock has 492 rows";
        assert!(found[1].starts_with(&name) && found[1].contains(counts), "{found:?}");
    }
}

#[test]
fn an_entry_without_a_row_is_found() {
    let found = after(&|engine| {
        let rows = tree_of(engine, "stock");
        let (key, _) = records(engine, &rows).pop_first().expect("there are hundreds");
        change(engine, &rows, &[(&key, None)]);
    });
    let told = |index: &str| {
        let name = format!("table postgres.public.stock, index {index}: entry");
        found.iter().any(|what| what.starts_with(&name) && what.contains("which is not there"))
    };
    assert!(told("stock_code") && told("stock_name"), "{found:?}");
}

#[test]
fn two_exchanged_keys_are_found() {
    // Two entries of a unique index lead to each other's rows.
    let found = after(&|engine| {
        let tree = tree_of(engine, "stock_code");
        let entries: Vec<_> = records(engine, &tree).into_iter().collect();
        let [(first, one), (second, other)] = &entries[10..12] else { panic!("two of hundreds") };
        change(engine, &tree, &[(first, Some(other)), (second, Some(one))]);
    });
    let told = |what: &&String| {
        what.starts_with("table postgres.public.stock, index stock_code")
            && what.contains("leads to row")
    };
    assert!(found.iter().filter(told).count() >= 2, "{found:?}");
    // Two rows lie under each other's keys.
    let found = after(&|engine| {
        let tree = tree_of(engine, "stock");
        let rows: Vec<_> = records(engine, &tree).into_iter().collect();
        let [(first, one), (second, other)] = &rows[10..12] else { panic!("two of hundreds") };
        change(engine, &tree, &[(first, Some(other)), (second, Some(one))]);
    });
    let told = |what: &&String| {
        what.starts_with("table postgres.public.stock: row") && what.contains("its columns make")
    };
    assert_eq!(found.iter().filter(told).count(), 2, "{found:?}");
}

#[test]
fn a_tree_without_a_definition_is_found() {
    let found = after(&|engine| {
        let tree = engine.manager().data().create_tree().expect("there is room");
        change(engine, &tree, &[(b"key", Some(b"value"))]);
    });
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].ends_with("no table or index is defined on it"), "{found:?}");
}

#[test]
fn a_definition_without_its_tree_is_found() {
    for (tree, name) in [
        ("stock_name", "table postgres.public.stock, index stock_name: "),
        ("loose", "table postgres.public.loose: "),
        ("loose long", "table postgres.public.loose: "),
    ] {
        let found = after(&|engine| {
            let tree = tree_of(engine, tree).id();
            engine.manager().data().free_tree(tree).expect("it is there");
        });
        let told = |what: &String| what.starts_with(name) && what.contains("does not exist");
        assert!(found.iter().any(told), "{tree}: {found:?}");
    }
}

#[test]
fn an_orphan_page_is_found() {
    let found = after(&|engine| {
        let tree = tree_of(engine, "stock_name");
        let data = engine.manager().data();
        let space = &data.forest().volume().space;
        let allocated = space.allocated();
        let own: Vec<_> =
            allocated.iter().filter(|page| *page.1 == tree.id()).map(|page| *page.0).collect();
        let extent = own.iter().max().expect("it has pages").0 / 8;
        let mut orphan = own[0];
        orphan.0 = (extent * 8..extent * 8 + 8)
            .find(|page| own.iter().all(|used| used.0 != *page))
            .expect("its last extent is not full");
        // As if a record of long ago had allocated it.
        let durable = Lsn(data.log().durable().0 - 1);
        space.mark([orphan], durable);
        space.set_allocated(tree.id(), orphan, false, durable).expect("the extent is its own");
    });
    let name = "table postgres.public.stock, index stock_name: page";
    let told = |what: &String| what.starts_with(name) && what.contains("no page leads to it");
    assert!(found.iter().any(told), "{found:?}");
}
