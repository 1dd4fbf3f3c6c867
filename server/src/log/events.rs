//! What the rest of the server tells by `tracing`, as events of the log.

use super::{notice, takes, tell};
use sql::Severity;
use sql::session::LogLevel;
use std::fmt::{Debug, Write};
use tracing::field::{Field, Visit};
use tracing::subscriber::Interest;
use tracing::{Event, Level, Metadata, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;

/// A layer that writes every event.
pub struct Events;

fn severity(level: Level) -> Severity {
    match level {
        Level::WARN => Severity::Warning,
        Level::DEBUG | Level::TRACE => Severity::Debug,
        // What has gone wrong for the server and not for a client is LOG in PostgreSQL, which ranks above ERROR.
        _ => Severity::Log,
    }
}

/// The message, DETAIL, and what else an event says.
#[derive(Default)]
struct Said {
    message: String,
    detail: Option<String>,
    reason: String,
    fields: String,
}

impl Visit for Said {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        // Writing to a String cannot fail.
        let _ = match field.name() {
            "message" => write!(self.message, "{value:?}"),
            "detail" => write!(self.detail.get_or_insert_default(), "{value:?}"),
            "error" => write!(self.reason, ": {value:?}"),
            name => write!(
                self.fields,
                "{}{name}={value:?}",
                if self.fields.is_empty() { "" } else { ", " }
            ),
        };
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        match field.name() {
            "message" => self.message.push_str(value),
            "detail" => self.detail = Some(value.to_owned()),
            _ => self.record_debug(field, &value),
        }
    }
}

impl<S: Subscriber> Layer<S> for Events {
    fn register_callsite(&self, _: &'static Metadata<'static>) -> Interest {
        // The level that is written may change with a reload.
        Interest::sometimes()
    }

    fn enabled(&self, metadata: &Metadata<'_>, _: Context<'_, S>) -> bool {
        *metadata.level() != Level::TRACE && takes(LogLevel::from(severity(*metadata.level())))
    }

    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let mut said = Said::default();
        event.record(&mut said);
        let mut message = said.message + &said.reason;
        if !said.fields.is_empty() {
            message = format!("{message} ({})", said.fields);
        }
        let severity = severity(*event.metadata().level());
        let (severity, message) = match message.strip_prefix("PANIC: ") {
            Some(why) => (Severity::Panic, why.to_owned()),
            None => (severity, message),
        };
        tell(&notice(severity, message).maybe_detail(said.detail));
    }
}
