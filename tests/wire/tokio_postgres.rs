//! What an application does with tokio-postgres. It says the same of Atoll and of PostgreSQL.

use futures_util::{SinkExt, TryStreamExt, future};
use jiff::Timestamp;
use jiff::civil::{Date, DateTime, Time, date, time};
use std::fmt::Debug;
use std::io;
use std::path::Path;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_postgres::binary_copy::{BinaryCopyInWriter, BinaryCopyOutStream};
use tokio_postgres::config::SslMode;
use tokio_postgres::error::SqlState;
use tokio_postgres::tls::{ChannelBinding, MakeTlsConnect, TlsConnect, TlsStream};
use tokio_postgres::types::{FromSqlOwned, ToSql, Type};
use tokio_postgres::{Client, Config, Error, IsolationLevel, NoTls, SimpleQueryMessage};
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

/// What takes minutes.
const LONG: &str =
    "SELECT sum(a * b) FROM generate_series(1, 100000) AS a, generate_series(1, 1000000) AS b";

// --- TLS ---------------------------------------------------------------------------------------------------------------

/// TLS that trusts one authority.
#[derive(Clone)]
struct Tls(TlsConnector);

struct Encrypted<S>(tokio_rustls::client::TlsStream<S>);

impl Tls {
    fn trusting(authority: &Path) -> Tls {
        let mut roots = RootCertStore::empty();
        let certificate = CertificateDer::from_pem_file(authority).expect("a certificate");
        roots.add(certificate).expect("a certificate of an authority");
        let config = ClientConfig::builder().with_root_certificates(roots).with_no_client_auth();
        Tls(TlsConnector::from(Arc::new(config)))
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin + Send + 'static> MakeTlsConnect<S> for Tls {
    type Stream = Encrypted<S>;
    type TlsConnect = Tls;
    type Error = io::Error;

    fn make_tls_connect(&mut self, _: &str) -> io::Result<Tls> {
        Ok(self.clone())
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin + Send + 'static> TlsConnect<S> for Tls {
    type Stream = Encrypted<S>;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Encrypted<S>>> + Send>>;

    fn connect(self, stream: S) -> Self::Future {
        let name = ServerName::try_from("127.0.0.1").expect("an address");
        Box::pin(async move { Ok(Encrypted(self.0.connect(name, stream).await?)) })
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncRead for Encrypted<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(context, buffer)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Encrypted<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(context)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> TlsStream for Encrypted<S> {
    fn channel_binding(&self) -> ChannelBinding {
        ChannelBinding::none()
    }
}

// --- the application ---------------------------------------------------------------------------------------------------

/// Where the server is.
#[derive(Clone)]
struct Place {
    config: Config,
    tls: Tls,
}

impl Place {
    async fn connect(&self) -> Client {
        let (client, connection) =
            self.config.connect(self.tls.clone()).await.expect("the server takes connections");
        tokio::spawn(connection);
        client
    }
}

fn state(error: &Error) -> &str {
    error.code().map_or("", SqlState::code)
}

async fn table(client: &Client, name: &str, columns: &str) {
    let text = format!("DROP TABLE IF EXISTS {name}; CREATE TABLE {name} ({columns})");
    client.batch_execute(&text).await.expect("a table");
}

async fn count(client: &Client, name: &str) -> i64 {
    let text = format!("SELECT count(*) FROM {name}");
    client.query_one(&text, &[]).await.expect("a count").get(0)
}

async fn it_is_encrypted_and_authenticated(place: Place) {
    let client = place.connect().await;
    let user: String =
        client.query_one("SELECT current_user::text", &[]).await.expect("a name").get(0);
    assert_eq!(user, "driver");
    let mut wrong = place.config.clone();
    wrong.password("wrong");
    let refused = wrong.connect(place.tls.clone()).await.err().expect("a wrong password");
    assert_eq!(state(&refused), "28P01");
    let mut plain = place.config.clone();
    plain.ssl_mode(SslMode::Disable);
    let refused = plain.connect(NoTls).await.err().expect("no TLS");
    assert_eq!(state(&refused), "28000");
}

/// Stores values, gets them back, and looks for them.
async fn held<T>(client: &Client, number: usize, name: &str, values: &[T])
where
    T: ToSql + FromSqlOwned + Clone + PartialEq + Debug + Sync,
{
    let place = format!("held_{number}");
    table(client, &place, &format!("id int4 PRIMARY KEY, value {name}")).await;
    let insert = format!("INSERT INTO {place} VALUES ($1, $2) RETURNING value");
    let insert = client.prepare(&insert).await.expect(name);
    for (at, value) in (0i32..).zip(values) {
        let row = client.query_one(&insert, &[&at, value]).await.expect(name);
        assert_eq!(&row.get::<_, T>(0), value, "{name}");
    }
    client.query_one(&insert, &[&-1, &None::<T>]).await.expect(name);
    let select = format!("SELECT value FROM {place} ORDER BY id");
    let rows = client.query(&select, &[]).await.expect(name);
    let mut found = rows.iter().map(|row| row.get::<_, Option<T>>(0));
    assert_eq!(found.next(), Some(None), "{name}");
    assert!(found.flatten().eq(values.iter().cloned()), "{name}");
}

async fn types_in_binary(place: Place) {
    let client = place.connect().await;
    held(&client, 0, "bool", &[true, false]).await;
    held(&client, 1, "int2", &[i16::MIN, i16::MAX]).await;
    held(&client, 2, "int4", &[i32::MIN, i32::MAX]).await;
    held(&client, 3, "int8", &[i64::MIN, i64::MAX]).await;
    held(&client, 4, "float4", &[0.5f32, -1e20, f32::INFINITY]).await;
    held(&client, 5, "float8", &[0.1, -1e300, f64::NEG_INFINITY]).await;
    held(&client, 6, "text", &[String::new(), "naïve 日本".to_owned()]).await;
    held(&client, 7, "varchar(5)", &["abcde".to_owned()]).await;
    held(&client, 8, "bytea", &[vec![], vec![0u8, 1, 255, b'\\']]).await;
    held::<Date>(&client, 9, "date", &[date(1, 1, 1), date(2026, 11, 22)]).await;
    held::<Time>(&client, 10, "time", &[time(23, 59, 59, 999_999_000)]).await;
    let moment = date(1999, 12, 31).at(23, 59, 59, 123_456_000);
    held::<DateTime>(&client, 11, "timestamp", &[moment]).await;
    let moment = Timestamp::from_second(1_774_746_000).expect("a time");
    held(&client, 12, "timestamptz", &[moment]).await;
    held(&client, 13, "int4[]", &[vec![Some(1), None, Some(-3)], vec![]]).await;
    let words = ["a", "b\"c", "d,e"].map(str::to_owned).to_vec();
    held(&client, 14, "text[]", &[words]).await;
}

async fn types_in_text(place: Place) {
    let client = place.connect().await;
    let text = "SELECT true, 1::int2, -2::int4, 3::int8, 0.5::float4, 1e300::float8, -1.50::numeric(5, 2), \
                'a'::text, 'b'::char(3), '\\x00ff'::bytea, '2026-11-22'::date, '10:00:00.5'::time, \
                '2026-11-22 10:00:00'::timestamp, '1 mon 2 days 03:00:00'::interval, \
                'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'::uuid, '{1,NULL,3}'::int4[], NULL";
    let messages = client.simple_query(text).await.expect("a row");
    let row = messages.iter().find_map(|message| match message {
        SimpleQueryMessage::Row(row) => Some(row),
        _ => None,
    });
    let row = row.expect("a row");
    let values: Vec<Option<&str>> = (0..row.len()).map(|at| row.get(at)).collect();
    let expected = [
        "t",
        "1",
        "-2",
        "3",
        "0.5",
        "1e+300",
        "-1.50",
        "a",
        "b  ",
        "\\x00ff",
        "2026-11-22",
        "10:00:00.5",
        "2026-11-22 10:00:00",
        "1 mon 2 days 03:00:00",
        "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11",
        "{1,NULL,3}",
    ];
    let expected: Vec<Option<&str>> = expected.into_iter().map(Some).chain([None]).collect();
    assert_eq!(values, expected);
}

async fn statements_are_prepared_and_described(place: Place) {
    let client = place.connect().await;
    table(&client, "numbers", "id int8 PRIMARY KEY, word varchar(9)").await;
    let insert = client.prepare("INSERT INTO numbers VALUES ($1, $2)").await.expect("a statement");
    assert_eq!(insert.params(), [Type::INT8, Type::VARCHAR]);
    for number in 0i64..20 {
        let changed = client.execute(&insert, &[&number, &number.to_string()]).await;
        assert_eq!(changed.expect("a row"), 1);
    }
    let find = client
        .prepare_typed("SELECT word, id + $1 AS next FROM numbers WHERE id = $1", &[Type::INT8]);
    let find = find.await.expect("a statement");
    let columns: Vec<_> =
        find.columns().iter().map(|column| (column.name(), column.type_().clone())).collect();
    assert_eq!(columns, [("word", Type::VARCHAR), ("next", Type::INT8)]);
    let row = client.query_one(&find, &[&7i64]).await.expect("a row");
    assert_eq!((row.get::<_, &str>("word"), row.get::<_, i64>("next")), ("7", 14));
    let none = client.query_opt(&find, &[&70i64]).await.expect("an answer");
    assert!(none.is_none());
}

async fn requests_overlap(place: Place) {
    let client = place.connect().await;
    table(&client, "piped", "id int4 PRIMARY KEY").await;
    let insert = client.prepare("INSERT INTO piped VALUES ($1)").await.expect("a statement");
    let numbers: Vec<i32> = vec![1, 2, 1, 3];
    let done = future::join_all(numbers.iter().map(|number| {
        let parameters: Vec<&(dyn ToSql + Sync)> = vec![number];
        let (client, insert) = (&client, &insert);
        async move { client.execute(insert, &parameters).await }
    }))
    .await;
    let states: Vec<&str> = done.iter().map(|done| done.as_ref().err().map_or("", state)).collect();
    // Each has a Sync of its own: the one in the middle fails alone.
    assert_eq!(states, ["", "", "23505", ""]);
    assert_eq!(count(&client, "piped").await, 3);
}

async fn portals_in_portions(place: Place) {
    let mut client = place.connect().await;
    let transaction = client.transaction().await.expect("a transaction");
    let portal = transaction.bind("SELECT n FROM generate_series(1, $1::int4) AS n", &[&250i32]);
    let portal = portal.await.expect("a portal");
    let mut sizes = Vec::new();
    loop {
        let rows = transaction.query_portal(&portal, 100).await.expect("a portion");
        if rows.is_empty() {
            break;
        }
        sizes.push(rows.len());
    }
    assert_eq!(sizes, [100, 100, 50]);
    transaction
        .batch_execute("DECLARE walk CURSOR FOR SELECT generate_series(1, 10)")
        .await
        .expect("a cursor");
    let rows = transaction.query("FETCH 4 FROM walk", &[]).await.expect("rows");
    assert_eq!(rows.last().map(|row| row.get::<_, i32>(0)), Some(4));
    transaction.commit().await.expect("a commit");
}

async fn copy_in_and_out(place: Place) {
    let client = place.connect().await;
    table(&client, "copied", "id int4, word text").await;
    let lines: String = (0..1000).map(|number| format!("{number}\ttab\\tand {number}\n")).collect();
    let sink = client.copy_in("COPY copied FROM STDIN").await.expect("a COPY");
    let mut sink = pin!(sink);
    sink.send(io::Cursor::new(lines.clone().into_bytes())).await.expect("data");
    assert_eq!(sink.finish().await.expect("its end"), 1000);
    let out = client.copy_out("COPY copied TO STDOUT").await.expect("a COPY");
    let out: Vec<_> = pin!(out).try_collect().await.expect("data");
    assert_eq!(out.concat(), lines.as_bytes());
    let sink =
        client.copy_in::<_, io::Cursor<Vec<u8>>>("COPY copied FROM STDIN").await.expect("a COPY");
    let mut sink = pin!(sink);
    sink.send(io::Cursor::new(b"x\ty\n".to_vec())).await.expect("data");
    assert_eq!(state(&sink.finish().await.expect_err("a word is no number")), "22P02");
    assert_eq!(count(&client, "copied").await, 1000);
}

async fn copy_in_binary(place: Place) {
    let client = place.connect().await;
    table(&client, "copied_in_binary", "id int4, word text, moment timestamp").await;
    let moment = date(1999, 12, 31).at(23, 59, 59, 123_456_000);
    let types = [Type::INT4, Type::TEXT, Type::TIMESTAMP];
    let sink = client.copy_in("COPY copied_in_binary FROM STDIN (FORMAT binary)").await;
    let mut writer = pin!(BinaryCopyInWriter::new(sink.expect("a COPY"), &types));
    for number in 0i32..1000 {
        let word = (number % 3 > 0).then(|| format!("naïve {number}"));
        writer.as_mut().write(&[&number, &word, &moment]).await.expect("a row");
    }
    assert_eq!(writer.finish().await.expect("its end"), 1000);
    let stream = client
        .copy_out(
            "COPY (SELECT * FROM copied_in_binary ORDER BY id DESC) TO STDOUT (FORMAT binary)",
        )
        .await;
    let rows: Vec<_> = pin!(BinaryCopyOutStream::new(stream.expect("a COPY"), &types))
        .try_collect()
        .await
        .expect("rows");
    assert_eq!(rows.len(), 1000);
    for (row, number) in rows.iter().zip((0i32..1000).rev()) {
        let word = (number % 3 > 0).then(|| format!("naïve {number}"));
        assert_eq!(row.get::<i32>(0), number);
        assert_eq!(row.get::<Option<String>>(1), word);
        assert_eq!(row.get::<DateTime>(2), moment);
    }
    let sink = client.copy_in("COPY copied_in_binary FROM STDIN (FORMAT binary)").await;
    let mut writer =
        pin!(BinaryCopyInWriter::new(sink.expect("a COPY"), &[Type::INT8, Type::TEXT]));
    writer.as_mut().write(&[&1i64, &"a"]).await.expect("a row");
    assert_eq!(state(&writer.finish().await.expect_err("a row too narrow")), "22P04");
    assert_eq!(count(&client, "copied_in_binary").await, 1000);
}

async fn cursors(place: Place) {
    let mut client = place.connect().await;
    table(&client, "walked", "id int4 PRIMARY KEY, word text").await;
    client
        .batch_execute("INSERT INTO walked SELECT n, 'row ' || n FROM generate_series(1, 9) n")
        .await
        .expect("rows");
    let numbers = |rows: Vec<tokio_postgres::Row>| -> Vec<i32> {
        rows.iter().map(|row| row.get(0)).collect()
    };
    let transaction = client.transaction().await.expect("a transaction");
    transaction
        .batch_execute(
            "DECLARE held SCROLL CURSOR WITH HOLD FOR SELECT id FROM walked ORDER BY id; \
             DECLARE raw BINARY CURSOR FOR SELECT id, word FROM walked ORDER BY id; \
             DECLARE plain CURSOR FOR SELECT id FROM walked WHERE id > 4 FOR UPDATE",
        )
        .await
        .expect("cursors");
    for (fetch, expected) in [
        ("FETCH 3 FROM held", &[1, 2, 3][..]),
        ("FETCH BACKWARD 2 FROM held", &[2, 1]),
        ("FETCH LAST FROM held", &[9]),
        ("FETCH ABSOLUTE -2 FROM held", &[8]),
        ("FETCH RELATIVE -3 FROM held", &[5]),
    ] {
        assert_eq!(numbers(transaction.query(fetch, &[]).await.expect(fetch)), expected, "{fetch}");
    }
    let messages = transaction.simple_query("MOVE 2 IN raw; FETCH raw").await.expect("a row");
    let row = messages.iter().find_map(|message| match message {
        SimpleQueryMessage::Row(row) => Some((row.get(0), row.get(1))),
        _ => None,
    });
    assert_eq!(row, Some((Some("\0\0\0\u{3}"), Some("row 3"))));
    assert_eq!(numbers(transaction.query("FETCH raw", &[]).await.expect("a row")), [4]);
    transaction.query_one("FETCH plain", &[]).await.expect("a row");
    let changed = transaction
        .query_one("UPDATE walked SET word = $1 WHERE CURRENT OF plain RETURNING id", &[&"fifth"])
        .await;
    assert_eq!(changed.expect("a row").get::<_, i32>(0), 5);
    transaction.commit().await.expect("a commit");
    assert_eq!(numbers(client.query("FETCH 2 FROM held", &[]).await.expect("rows")), [6, 7]);
    assert_eq!(numbers(client.query("FETCH FIRST FROM held", &[]).await.expect("rows")), [1]);
    let changed = client.execute("DELETE FROM walked WHERE CURRENT OF held", &[]).await;
    assert_eq!(state(&changed.expect_err("it is held")), "24000");
    client.batch_execute("CLOSE held").await.expect("its end");
}

async fn a_statement_is_cancelled(place: Place) {
    let client = place.connect().await;
    let (token, tls) = (client.cancel_token(), place.tls.clone());
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_millis(300)).await;
        token.cancel_query(tls).await
    });
    let started = Instant::now();
    let cancelled = client.batch_execute(LONG).await.expect_err("it was cancelled");
    assert_eq!(state(&cancelled), "57014");
    assert!(started.elapsed() < Duration::from_secs(10));
    client.batch_execute("SELECT 1").await.expect("the session goes on");
}

async fn savepoints(place: Place) {
    let mut client = place.connect().await;
    table(&client, "saved", "id int4 PRIMARY KEY").await;
    let outer = client.build_transaction().isolation_level(IsolationLevel::RepeatableRead);
    let mut outer = outer.start().await.expect("a transaction");
    outer.batch_execute("INSERT INTO saved VALUES (1)").await.expect("a row");
    let inner = outer.savepoint("here").await.expect("a savepoint");
    inner.batch_execute("INSERT INTO saved VALUES (2)").await.expect("a row");
    let failed =
        inner.batch_execute("INSERT INTO saved VALUES (1)").await.expect_err("a duplicate");
    assert_eq!(state(&failed), "23505");
    let failed = inner.batch_execute("SELECT 1").await.expect_err("the block has failed");
    assert_eq!(state(&failed), "25P02");
    inner.rollback().await.expect("its end");
    outer.batch_execute("INSERT INTO saved VALUES (3)").await.expect("a row");
    outer.commit().await.expect("a commit");
    let rows = client.query("SELECT id FROM saved ORDER BY id", &[]).await.expect("rows");
    assert_eq!(rows.iter().map(|row| row.get::<_, i32>(0)).collect::<Vec<_>>(), [1, 3]);
}

async fn errors_have_their_fields(place: Place) {
    let client = place.connect().await;
    table(&client, "strict", "id int4 CONSTRAINT strict_key PRIMARY KEY, word text NOT NULL").await;
    client.batch_execute("INSERT INTO strict VALUES (1, 'a')").await.expect("a row");
    let error = client.execute("INSERT INTO strict VALUES ($1, 'b')", &[&1i32]).await;
    let error = error.expect_err("a duplicate");
    let fields = error.as_db_error().expect("an error of the server's");
    assert_eq!(fields.constraint(), Some("strict_key"));
    assert_eq!((fields.schema(), fields.table()), (Some("public"), Some("strict")));
    assert_eq!(fields.detail(), Some("Key (id)=(1) already exists."));
    let error = client.batch_execute("INSERT INTO strict VALUES (2, NULL)").await;
    let error = error.expect_err("no word");
    assert_eq!(error.as_db_error().and_then(|fields| fields.column()), Some("word"));
    let error = client.query("SELECT nothing FROM strict", &[]).await.expect_err("no such column");
    assert_eq!(state(&error), "42703");
}

/// Runs all; says what passed as Rust's own test programs do.
pub fn run(port: u16, authority: &Path) -> bool {
    let mut config = Config::new();
    config.host("127.0.0.1").port(port).user("driver").password("secret").dbname("postgres");
    config.ssl_mode(SslMode::Require);
    let place = Place { config, tls: Tls::trusting(authority) };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .expect("the system has a thread");
    let (mut passed, mut failed) = (0, 0);
    macro_rules! tests {
        ($($name:ident)*) => {
            $(match runtime.block_on(runtime.spawn($name(place.clone()))) {
                Ok(()) => {
                    passed += 1;
                    println!("test {} ... ok", stringify!($name));
                }
                Err(error) => {
                    failed += 1;
                    println!("test {} ... FAILED: {error}", stringify!($name));
                }
            })*
        };
    }
    tests! {
        it_is_encrypted_and_authenticated
        types_in_binary
        types_in_text
        statements_are_prepared_and_described
        requests_overlap
        portals_in_portions
        copy_in_and_out
        copy_in_binary
        cursors
        a_statement_is_cancelled
        savepoints
        errors_have_their_fields
    }
    let word = if failed == 0 { "ok" } else { "FAILED" };
    println!("test result: {word}. {passed} passed; {failed} failed; 0 ignored; tokio-postgres");
    failed == 0
}
