//! Answers, each of which was asked of PostgreSQL 15.20 over the same table.

use super::identity::Identity;
use super::*;
use crate::catalog::CatalogTransaction;
use crate::catalog::SearchPath;
use crate::catalog::object::well_known;
use crate::catalog::testing::{begin, catalog, table};
use crate::settings::value::FoundRole;
use crate::settings::{ServerSettings, Settings};
use crate::types::no_session::with_context;
use crate::types::{SqlType, oids, text_of};

struct Engine;

impl EngineFacts for Engine {
    fn check_domain(
        &self,
        _: &SessionCatalog<'_>,
        _: &CallContext<'_>,
        _: Oid,
        _: &Datum<'_>,
    ) -> Result<()> {
        Ok(())
    }

    fn statements(&self) -> Option<&crate::statement_statistics::StatementStatistics> {
        None
    }

    fn notify(&self, _: &str, _: &str) -> Result<()> {
        Ok(())
    }

    fn backup(&self) -> Option<&std::cell::RefCell<Option<Box<super::backup::SessionBackup>>>> {
        None
    }

    fn export_snapshot(&self) -> Result<String> {
        Err(crate::SqlError::unsupported("pg_export_snapshot here is"))
    }

    fn listening(&self) -> Vec<Arc<str>> {
        Vec::new()
    }

    fn notification_usage(&self) -> f64 {
        0.0
    }

    fn query(&self) -> Option<String> {
        None
    }

    fn xact_id(&self, _: bool) -> Option<u64> {
        None
    }

    fn given_xact_id(&self) -> Option<u64> {
        None
    }

    fn xact_snapshot(&self) -> txn::XactSnapshot {
        txn::XactSnapshot { xmin: 3, xmax: 3, running: Vec::new() }
    }

    fn xact_status(&self, _: u64) -> txn::XactStatus {
        txn::XactStatus::Forgotten
    }

    fn configured(&self) -> i64 {
        0
    }

    fn files(&self) -> Option<Arc<dyn crate::copy::server_files::ServerFiles>> {
        None
    }

    fn session_times(&self, _: Option<Oid>) -> SessionTimes {
        SessionTimes::default()
    }

    fn reset_session_times(&self, _: Oid) {}

    fn host(&self) -> Option<Arc<dyn crate::host::ServerHost>> {
        None
    }

    fn activity(&self) -> Vec<Activity> {
        Vec::new()
    }
    fn breakdowns(&self) -> Vec<crate::breakdown::Row> {
        Vec::new()
    }
    fn cursors(&self) -> Vec<crate::system::Cursor> {
        Vec::new()
    }

    fn prepared(&self) -> Vec<PreparedStatement> {
        Vec::new()
    }
    fn version(&self) -> String {
        "PostgreSQL 15.20".to_owned()
    }
    fn start_time(&self) -> i64 {
        0
    }
    fn reload(&self) -> bool {
        false
    }
    fn signal(&self, _: u32, _: u32) -> bool {
        false
    }
    fn pause(&self, _: txn::WaitEvent, _: txn::Micros) -> Result<()> {
        Ok(())
    }
    fn check_cancel(&self) -> Result<()> {
        Ok(())
    }
    fn now(&self) -> txn::Micros {
        txn::Micros(0)
    }
    fn counters(&self) -> Counters {
        Counters::default()
    }
    fn reset_counters(&self) {}
    fn counts(&self) -> Option<&crate::catalog::relation_counts::SessionCounts> {
        None
    }
    fn live_rows(&self, _: &Relation) -> Option<f64> {
        None
    }
    fn trigger_depth(&self) -> u32 {
        0
    }
    fn event(&self) -> Option<Arc<crate::queries::event::EventFacts>> {
        None
    }

    fn shown_expression(
        &self,
        session: &SessionCatalog<'_>,
        context: &CallContext<'_>,
        relation: Option<&Relation>,
        text: &str,
        pretty: bool,
    ) -> Option<String> {
        crate::session::definitions::shown_expression(session, context, relation, text, pretty).ok()
    }
    fn simple_view(
        &self,
        session: &SessionCatalog<'_>,
        context: &CallContext<'_>,
        view: &Relation,
    ) -> Option<(Oid, Vec<Option<usize>>)> {
        crate::session::definitions::simple_view(session, context, view)
    }
    fn body_text(
        &self,
        _: &SessionCatalog<'_>,
        _: &CallContext<'_>,
        _: &Routine,
    ) -> Option<String> {
        None
    }
    fn view_text(
        &self,
        _: &SessionCatalog<'_>,
        _: &CallContext<'_>,
        _: &Relation,
        _: (bool, usize),
    ) -> Option<String> {
        None
    }
}

fn with_session(test: impl FnOnce(&SessionCatalog<'_>)) {
    let catalog = catalog();
    let mut own = CatalogTransaction::new(&catalog, well_known::POSTGRES).unwrap();
    let mut transaction = begin(&catalog);
    own.put_relation(&mut transaction, table(20_000)).unwrap();
    let snapshot = Arc::clone(own.snapshot());
    let settings = Settings::new(Arc::new(ServerSettings::default()));
    let user = well_known::SUPERUSER;
    let path = SearchPath::resolve(&snapshot, "\"$user\", public", user);
    let identity = Identity {
        user,
        user_name: "postgres".into(),
        authenticated: FoundRole { oid: user, superuser: true },
        session_user: user,
        session_user_name: "postgres".into(),
        confinement: None,
        database_name: "postgres".into(),
        pid: 7,
    };
    test(&SessionCatalog {
        snapshot: &snapshot,
        settings: &RunningSettings::new(&settings, &path, &identity),
        demands_usage: true,
        engine: &Engine,
        catalog: &catalog,
        sequences: &RefCell::default(),
        advisory: &RefCell::new(txn::AdvisoryLocks::new(
            catalog.manager(),
            &Arc::new(txn::SessionWait::new(7)),
        )),
    });
}

/// Calls the overload of `name` with these arguments' number, and prints the answer.
fn ask(session: &SessionCatalog<'_>, name: &str, arguments: &[Datum<'_>]) -> String {
    with_context(|context| {
        let owned: Vec<Datum<'_>> = arguments
            .iter()
            .map(|argument| match argument {
                Datum::Text(text) => Datum::Text(context.arena.alloc_str(text)),
                Datum::Oid(oid) => Datum::Oid(*oid),
                Datum::Int4(number) => Datum::Int4(*number),
                Datum::Bool(flag) => Datum::Bool(*flag),
                _ => Datum::Null,
            })
            .collect();
        let found = builtin::functions_named(name)
            .iter()
            .find(|found| found.arguments.len() == owned.len())
            .unwrap_or_else(|| panic!("no {name}"));
        match session.call(context, found.oid, &owned) {
            None => "not answered".to_owned(),
            Some(Err(error)) => error.to_string(),
            Some(Ok(Datum::Null)) => "NULL".to_owned(),
            Some(Ok(Datum::Oid(oid))) if found.result == oids::REGCLASS => {
                session.reg_out(context, oids::REGCLASS, oid).to_owned()
            }
            Some(Ok(datum)) => {
                let ty = SqlType::plain(found.result);
                text_of(context, ty, &datum).unwrap().to_owned()
            }
        }
    })
}

#[test]
fn definitions_are_printed_as_postgresql_prints_them() {
    with_session(|session| {
        for (name, arguments, answer) in [
            (
                "pg_get_indexdef",
                &[Datum::Oid(20_001)][..],
                "CREATE UNIQUE INDEX t_pkey ON public.t USING btree (a)",
            ),
            (
                "pg_get_indexdef",
                &[Datum::Oid(20_002)],
                "CREATE INDEX ti ON public.t USING btree (b DESC)",
            ),
            ("pg_get_indexdef", &[Datum::Oid(20_002), Datum::Int4(1), Datum::Bool(true)], "b"),
            ("pg_get_constraintdef", &[Datum::Oid(20_011)], "PRIMARY KEY (a)"),
            ("pg_get_constraintdef", &[Datum::Oid(20_003)], "CHECK ((a > 0))"),
            ("pg_get_constraintdef", &[Datum::Oid(20_003), Datum::Bool(true)], "CHECK (a > 0)"),
            (
                "pg_get_constraintdef",
                &[Datum::Oid(20_004), Datum::Bool(true)],
                "FOREIGN KEY (up) REFERENCES t(a) ON DELETE CASCADE",
            ),
            ("format_type", &[Datum::Oid(1043), Datum::Int4(14)], "character varying(10)"),
            ("format_type", &[Datum::Oid(20_005), Datum::Null], "t"),
            ("pg_get_userbyid", &[Datum::Oid(10)], "postgres"),
            ("pg_get_userbyid", &[Datum::Oid(1)], "unknown (OID=1)"),
            ("pg_table_is_visible", &[Datum::Oid(20_000)], "t"),
            ("pg_table_is_visible", &[Datum::Oid(1259)], "t"),
            ("pg_table_is_visible", &[Datum::Oid(1)], "NULL"),
            ("current_schemas", &[Datum::Bool(true)], "{pg_catalog,public}"),
            ("current_schemas", &[Datum::Bool(false)], "{public}"),
            ("current_schema", &[], "public"),
            ("pg_encoding_to_char", &[Datum::Int4(6)], "UTF8"),
            ("pg_encoding_to_char", &[Datum::Int4(99)], ""),
            ("to_regclass", &[Datum::Text("public.ti")], "ti"),
            ("to_regclass", &[Datum::Text("nope")], "NULL"),
            ("has_table_privilege", &[Datum::Text("t"), Datum::Text("SELECT")], "t"),
            ("has_schema_privilege", &[Datum::Text("public"), Datum::Text("usage")], "t"),
            ("pg_get_function_arguments", &[Datum::Oid(1081)], "oid, integer"),
            ("pg_get_function_result", &[Datum::Oid(1081)], "text"),
            ("current_setting", &[Datum::Text("work_mem")], "4MB"),
            ("pg_is_in_recovery", &[], "f"),
        ] {
            assert_eq!(ask(session, name, arguments), answer, "{name} {arguments:?}");
        }
    });
}

#[test]
fn names_become_oids_and_back() {
    with_session(|session| {
        let class = |text: &str| session.reg_in(oids::REGCLASS, text);
        assert_eq!(class("t"), Ok(20_000));
        assert_eq!(class("\"t\""), Ok(20_000));
        assert_eq!(class("T"), Ok(20_000));
        assert_eq!(class("pg_catalog.pg_class"), Ok(1259));
        let error = class("public.nope").unwrap_err();
        assert_eq!(error.fields().message, "relation \"public.nope\" does not exist");
        assert_eq!(session.reg_in(oids::REGTYPE, "character varying(3)"), Ok(1043));
        assert_eq!(session.reg_in(oids::REGTYPE, "integer[]"), Ok(1007));
        assert_eq!(session.reg_in(oids::REGTYPE, "t"), Ok(20_005));
        assert_eq!(session.reg_in(oids::REGROLE, "postgres"), Ok(10));
        assert_eq!(session.reg_in(oids::REGNAMESPACE, "public"), Ok(2200));
        assert_eq!(session.reg_in(oids::REGPROC, "now"), Ok(1299));
        with_context(|context| {
            let out = |ty, value| session.reg_out(context, ty, value);
            assert_eq!(out(oids::REGCLASS, 20_000), "t");
            assert_eq!(out(oids::REGCLASS, 13_000_000), "13000000");
            assert_eq!(out(oids::REGCLASS, 0), "-");
            assert_eq!(out(oids::REGTYPE, 23), "integer");
            assert_eq!(out(oids::REGPROCEDURE, 1081), "format_type(oid,integer)");
        });
    });
}
