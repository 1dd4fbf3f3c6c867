//! What a client's socket says where a setting leaves it to the system: the four settings whose names begin with `tcp_`.

use super::value::Value;

/// What a TCP socket does by itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SocketTimes {
    /// Seconds of silence before it asks whether its client is there.
    pub keepalives_idle_s: i64,
    /// Seconds between two such questions.
    pub keepalives_interval_s: i64,
    /// Questions without an answer before it gives its client up.
    pub keepalives_count: i64,
    /// Milliseconds that what was sent may stay unconfirmed; 0: as the system has it.
    pub user_timeout_ms: i64,
}

/// Whether a setting is one of the four.
#[must_use]
pub fn is_of_socket(name: &str) -> bool {
    name.starts_with("tcp_")
}

/// What such a setting is, as SHOW tells it: 0 leaves it to the socket, and where there is none, or none of TCP, nothing
/// is set.
#[must_use]
pub fn shown(name: &str, value: &Value, socket: Option<SocketTimes>) -> Value {
    let Some(socket) = socket else { return Value::Integer(0) };
    if *value != Value::Integer(0) {
        return value.clone();
    }
    Value::Integer(match name {
        "tcp_keepalives_idle" => socket.keepalives_idle_s,
        "tcp_keepalives_interval" => socket.keepalives_interval_s,
        "tcp_keepalives_count" => socket.keepalives_count,
        _ => socket.user_timeout_ms,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_set_is_the_sockets() {
        let times = SocketTimes { keepalives_idle_s: 7200, ..SocketTimes::default() };
        let idle = |value, socket| shown("tcp_keepalives_idle", &Value::Integer(value), socket);
        assert_eq!(idle(0, Some(times)), Value::Integer(7200));
        assert_eq!(idle(9, Some(times)), Value::Integer(9));
        assert_eq!(idle(9, None), Value::Integer(0));
    }
}
