//! Values held against domains: what a domain says is bound and compiled when it is first asked for, and kept until the
//! catalog changes.

use super::routine::aside::{Aside, Caller};
use crate::bind::{self, Environment, Expr, kept, levels};
use crate::catalog::CatalogSnapshot;
use crate::catalog::builtin::type_by_oid;
use crate::compile::code::Code;
use crate::compile::height::scalar_height;
use crate::error::{Result, SqlError};
use crate::exec::code::{Progress, Suspension, Values, Wants};
use crate::exec::eval::Eval;
use crate::exec::frame::Frame;
use crate::parse::Deep;
use crate::parse::depth::fitting;
use crate::plan::Planner;
use crate::prepared::{Known, Reader};
use crate::queries::SessionCatalog;
use crate::sqlstate::SqlState;
use crate::tuple::RowBuf;
use crate::types::contrib::earthdistance::violated;
use crate::types::depth::descend_by;
use crate::types::{CallContext, Datum, Oid, oids};
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::sync::Arc;
use txn::Manager;

/// What a condition that is evaluated within another's costs, in levels of a value: it may cast to the domain itself.
const CHECKED: u32 = 5;

/// What a domain that is opened while another is costs, in levels of a value: its condition may have a literal of it.
const OPENED: u32 = 50;

/// What a domain and those it is over demand, innermost first.
#[derive(Debug, Default)]
struct Demands {
    not_null: bool,
    checks: Vec<(Arc<str>, Code)>,
}

/// The domains that a session has asked for, in one state of the catalog.
#[derive(Debug, Default)]
pub(super) struct KnownDomains {
    version: (u64, u64),
    domains: FxHashMap<Oid, Arc<Demands>>,
    /// Who runs the routines that conditions call.
    aside: Arc<Aside>,
}

/// Holds a value against a domain.
///
/// # Errors
/// 23502, 23514; those of the conditions.
pub(super) fn check(
    known: &RefCell<KnownDomains>,
    caller: &Caller<'_>,
    session: &SessionCatalog<'_>,
    context: &CallContext<'_>,
    domain: Oid,
    value: &Datum<'_>,
) -> Result<()> {
    let (snapshot, manager) = (session.snapshot, caller.engine.manager());
    let is_earth = |ty: Oid| ty.0 == oids::EARTH;
    if (is_earth(domain) || snapshot.domains(domain).any(|one| is_earth(one.base.oid)))
        && let Some(name) = violated(value)
    {
        return Err(broken(snapshot, context, domain, name));
    }
    let demands = {
        let mut known = known.borrow_mut();
        if known.version != snapshot.version() {
            *known = KnownDomains { version: snapshot.version(), ..KnownDomains::default() };
        }
        known.domains.get(&domain).cloned()
    };
    let demands = match demands {
        Some(demands) => demands,
        None => {
            let demands = || demands_of(manager, session, context, domain);
            let made = Arc::new(descend_by(OPENED, || fitting(0, demands))?);
            known.borrow_mut().domains.insert(domain, Arc::clone(&made));
            made
        }
    };
    if demands.not_null && value.is_null() {
        let name = context.catalog.type_name(domain.0);
        return Err(of_domain(
            SqlError::new(
                SqlState::NOT_NULL_VIOLATION,
                format!("domain {name} does not allow null values"),
            ),
            snapshot,
            domain,
        ));
    }
    if demands.checks.is_empty() {
        return Ok(());
    }
    let (frame, mut parameters) = (Frame::default(), RowBuf::new());
    parameters.push(*value);
    let aside = Arc::clone(&known.borrow().aside);
    for (name, condition) in &demands.checks {
        let mut suspension: Option<Box<Suspension>> = None;
        let fails = loop {
            let eval = Eval::over(context, &frame, &parameters);
            let run = descend_by(CHECKED, || {
                let fails = |values: &Values<'_>| Ok(matches!(values.get(0), Datum::Bool(false)));
                condition.advance(&eval, suspension.as_deref(), fails)
            })?;
            let mut stopped = match run {
                Progress::Done(fails) => break fails,
                Progress::Stopped(stopped, _) => stopped,
            };
            let Wants::Routine(call) = &stopped.wants else {
                return Err(SqlError::new(
                    SqlState::INTERNAL_ERROR,
                    "a domain's condition has a subquery",
                ));
            };
            let value = aside.call(caller, snapshot, context.notices, call, None)?;
            stopped.answer(value);
            suspension = Some(stopped);
        };
        if fails {
            return Err(broken(snapshot, context, domain, name));
        }
    }
    Ok(())
}

/// 23514: a value breaks a condition of a domain.
fn broken(
    snapshot: &CatalogSnapshot,
    context: &CallContext<'_>,
    domain: Oid,
    name: &str,
) -> SqlError {
    let shown = context.catalog.type_name(domain.0);
    let message = format!("value for domain {shown} violates check constraint \"{name}\"");
    let error = SqlError::new(SqlState::CHECK_VIOLATION, message).constraint(name);
    of_domain(error, snapshot, domain)
}

/// With the domain that an error is about.
fn of_domain(error: SqlError, snapshot: &CatalogSnapshot, domain: Oid) -> SqlError {
    if let Some(built_in) = type_by_oid(domain.0) {
        let own = snapshot.member_schema(domain.0).filter(|_| built_in.namespace == 0);
        let schema = own.and_then(|own| snapshot.schema_by_oid(own));
        let schema = schema.map_or("information_schema", |schema| &*schema.name);
        return error.data_type(schema, built_in.name);
    }
    let Some(found) = snapshot.user_type(domain) else { return error };
    let schema = snapshot.schema_by_oid(found.schema).map_or("", |schema| &*schema.name);
    error.data_type(schema, &*found.name)
}

fn demands_of(
    manager: &Manager,
    session: &SessionCatalog<'_>,
    context: &CallContext<'_>,
    domain: Oid,
) -> Result<Demands> {
    let snapshot = session.snapshot;
    let mut demands = Demands::default();
    let (path, reader) = (&session.settings.path.get().schemas, Reader(context));
    let environment = Environment { catalog: snapshot, path, constants: &reader };
    let mut outward: Vec<_> = snapshot.domains(domain).collect();
    outward.reverse();
    for domain in outward {
        demands.not_null |= domain.not_null;
        let value = bind::value_relation(domain.base);
        let mut checks: Vec<_> = domain.checks.iter().collect();
        checks.sort_by(|a, b| a.name.cmp(&b.name));
        for check in checks {
            let condition = kept::bound(environment, Some(&value), &check.condition)?;
            let known = Known::plain(snapshot, manager);
            let condition = Planner::new(&known).scalar(&over_parameter(condition))?;
            let height = scalar_height(&condition);
            let condition = Deep::new(condition, height);
            demands.checks.push((Arc::clone(&check.name), Code::of([&*condition])));
        }
    }
    Ok(demands)
}

/// A condition with the first parameter in place of VALUE, which is the only column.
fn over_parameter(mut expr: Expr) -> Expr {
    levels::columns_of_expr(&mut expr, 0, &mut |column, _| {
        if let Expr::Column { column: place, ty, .. } = column {
            *column = Expr::Parameter(*place, *ty);
        }
    });
    expr
}
