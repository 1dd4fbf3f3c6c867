//! Whether a statement waits for another session: the server says so, not the clock. A busy machine must not make a slow step one
//! that waits.

use crate::client::Client;
use std::time::{Duration, Instant};

/// How long a step is silent before the server is asked what it does. Deadlocks are found well before it has been asked often enough.
pub const LOOK: Duration = Duration::from_millis(175);
/// After how many such looks in a row a step counts as waiting, and after how many if another session blocks it.
const LOOKS: usize = 4;
const LOOKS_BLOCKED: usize = 2;
/// How long a step may take that the server says is running, or waiting for a disk or a buffer.
pub const RUNNING_PATIENCE: Duration = Duration::from_secs(10);

/// Whether a client has its answer before the server has said often enough, `look` apart, that it waits.
pub fn answers(client: &mut Client, observer: &mut Client, look: Duration) -> bool {
    let state = format!(
        "SELECT coalesce(max(CASE WHEN pg_blocking_pids(pid) <> '{{}}' THEN 'blocked' \
         WHEN wait_event_type = 'Lock' OR wait_event = 'SafeSnapshot' THEN 'waiting' ELSE 'running' END), 'gone') \
         FROM pg_stat_activity WHERE pid = {}",
        client.key.0
    );
    let until = Instant::now() + RUNNING_PATIENCE;
    let mut looks = 0;
    while !client.answers_within(look) {
        let enough = match observer.run(&state).value() {
            "running" if Instant::now() < until => {
                looks = 0;
                continue;
            }
            "blocked" => LOOKS_BLOCKED,
            _ => LOOKS,
        };
        looks += 1;
        if looks >= enough {
            return false;
        }
    }
    true
}
