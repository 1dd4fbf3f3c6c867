//! What a point read of a cached tree costs: run it under callgrind twice, with zero and with many reads, and subtract.
//!
//! ```text
//! valgrind --tool=callgrind target/release/examples/point_get 0
//! valgrind --tool=callgrind target/release/examples/point_get 100000
//! ```

use std::sync::Arc;
use storage::device::faulty::FaultyDevice;
use storage::environment::{SystemClock, Threads};
use storage::{Change, DataComponent, Direction, Environment, Lsn, Options, RecordBuffer};

const ROWS: u64 = 200_000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let count: u64 = arguments.next().unwrap_or_default().parse()?;
    let what = arguments.next().unwrap_or_else(|| "get".to_owned());
    let env = Environment {
        device: Arc::new(FaultyDevice::new(1)),
        clock: Arc::new(SystemClock::new()),
        scheduler: Arc::new(Threads::new(2)),
        seed: 1,
    };
    let options = Options { pool_frames: 8192, ..Options::default() };
    DataComponent::create(&env, &options)?;
    let component = DataComponent::open(env, options)?.finish(&|_| true)?;
    let mut builder = component.bulk_builder()?;
    for row in 0..ROWS {
        builder.push(&row.to_be_bytes(), &[7; 100])?;
    }
    let tree = builder.finish()?;
    let mut buffer = RecordBuffer::default();
    for row in 0..ROWS {
        tree.get(&row.to_be_bytes(), &mut buffer)?;
    }
    let mut sum = 0;
    let mut cursor = tree.cursor();
    for n in 0..count {
        let row = (n * 7919 % ROWS).to_be_bytes();
        match what.as_str() {
            "get" => {
                tree.get(&row, &mut buffer)?;
                sum += buffer.value().map_or(0, <[u8]>::len);
            }
            "put" => {
                tree.apply(
                    Lsn(n + 1_000_000_000),
                    &row,
                    Change::Put(&[8; 100]),
                    false,
                    &mut |_| (),
                )?;
            }
            "scan" => {
                let end = (n * 7919 % ROWS + 2).to_be_bytes();
                cursor.seek(
                    std::ops::Bound::Included(&row),
                    std::ops::Bound::Excluded(&end),
                    Direction::Forward,
                )?;
                while let Some(record) = cursor.advance()? {
                    sum += record.key.len();
                }
            }
            _ => return Err("get, put or scan".into()),
        }
    }
    println!("{count} times {what}: {sum}");
    Ok(())
}
