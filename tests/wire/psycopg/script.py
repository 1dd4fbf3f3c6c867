"""What an application does with psycopg 3. It says the same of Atoll and of PostgreSQL."""

import concurrent.futures
import datetime
import decimal
import os
import sys
import time
import traceback
import uuid

import psycopg
from psycopg import sql
from psycopg.rows import dict_row

CONNINFO = f"sslmode=verify-full sslrootcert={os.environ['PGSSLROOTCERT']}"
# What takes minutes.
LONG = "SELECT sum(a * b) FROM generate_series(1, 100000) AS a, generate_series(1, 1000000) AS b"
TESTS = []


def test(function):
    TESTS.append(function)
    return function


def connect(**options):
    return psycopg.connect(CONNINFO, **options)


def table(connection, name, columns):
    connection.execute(sql.SQL("DROP TABLE IF EXISTS {}").format(sql.Identifier(name)))
    connection.execute(f"CREATE TABLE {name} ({columns})")


@test
def it_is_encrypted_and_authenticated():
    with connect() as connection:
        assert connection.pgconn.ssl_in_use
        assert connection.info.user == "driver"
        assert connection.info.server_version // 10000 == 15
        assert connection.info.parameter_status("server_encoding") == "UTF8"
    try:
        connect(password="wrong")
    except psycopg.OperationalError as error:
        assert "password authentication failed" in str(error)
    else:
        raise AssertionError("a wrong password was taken")
    try:
        psycopg.connect("sslmode=disable")
    except psycopg.OperationalError as error:
        assert "pg_hba.conf" in str(error)
    else:
        raise AssertionError("a connection without TLS was taken")


VALUES = [
    ("bool", [True, False]),
    ("int2", [-32768, 32767]),
    ("int4", [-(2**31), 2**31 - 1]),
    ("int8", [-(2**63), 2**63 - 1]),
    ("float4", [0.5, -(2.0**20)]),
    ("float8", [0.1, -1e300, float("inf")]),
    ("numeric", [decimal.Decimal("0.00"), decimal.Decimal("-12345678901234567890.0123456789")]),
    ("text", ["", "naïve 日本 \U0001f418"]),
    ("varchar(5)", ["abcde"]),
    ("bytea", [b"", bytes(range(256))]),
    ("date", [datetime.date(1, 1, 1), datetime.date(2026, 11, 22)]),
    ("time", [datetime.time(23, 59, 59, 999999)]),
    ("timestamp", [datetime.datetime(1999, 12, 31, 23, 59, 59, 123456)]),
    ("timestamptz", [datetime.datetime(2026, 3, 29, 1, 0, tzinfo=datetime.timezone.utc)]),
    ("interval", [datetime.timedelta(days=3, hours=4, microseconds=5)]),
    ("uuid", [uuid.UUID("a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11")]),
    ("int4[]", [[1, None, -3], []]),
    ("text[]", [["a", 'b"c', "d,e", None]]),
]


def round_trip(binary):
    with connect() as connection:
        for number, (name, values) in enumerate(VALUES):
            place = "%b" if binary else "%t"
            # A statement that is prepared keeps the type of its result, so each type has a table of its own.
            held = f"held_{number}"
            table(connection, held, f"id int PRIMARY KEY, value {name}")
            with connection.cursor(binary=binary) as cursor:
                for at, value in enumerate([*values, None]):
                    cursor.execute(
                        f"INSERT INTO {held} VALUES (%s, {place}) RETURNING value", (at, value)
                    )
                    assert cursor.fetchone()[0] == value, (name, value)
                cursor.execute(f"SELECT value FROM {held} ORDER BY id")
                assert [row[0] for row in cursor] == [*values, None], name


@test
def types_in_text():
    round_trip(False)


@test
def types_in_binary():
    round_trip(True)


@test
def statements_are_prepared():
    with connect(prepare_threshold=1) as connection:
        table(connection, "numbers", "id int PRIMARY KEY, square int")
        for number in range(20):
            connection.execute("INSERT INTO numbers VALUES (%s, %s)", (number, number * number))
        for number in range(20):
            row = connection.execute("SELECT square FROM numbers WHERE id = %s", (number,))
            assert row.fetchone() == (number * number,)
        kept = connection.execute("SELECT count(*) FROM pg_prepared_statements").fetchone()[0]
        assert kept >= 2, kept
        # What a statement was made from changes under it.
        connection.execute("ALTER TABLE numbers ADD COLUMN cube int")
        connection.execute("INSERT INTO numbers VALUES (%s, %s)", (100, 1))


@test
def rows_by_name_and_description():
    with connect(row_factory=dict_row) as connection:
        cursor = connection.execute("SELECT 1 AS one, 'x'::varchar(3) AS word, 1.50::numeric(5, 2) AS price")
        assert [column.name for column in cursor.description] == ["one", "word", "price"]
        assert [column.type_code for column in cursor.description] == [23, 1043, 1700]
        assert (cursor.description[2].precision, cursor.description[2].scale) == (5, 2)
        assert cursor.fetchone() == {"one": 1, "word": "x", "price": decimal.Decimal("1.50")}


@test
def many_rows_at_once():
    with connect() as connection:
        table(connection, "many", "id int PRIMARY KEY, word text")
        with connection.cursor() as cursor:
            cursor.executemany("INSERT INTO many VALUES (%s, %s)", [(n, str(n)) for n in range(500)])
            assert cursor.rowcount == 500
            cursor.executemany(
                "SELECT word FROM many WHERE id = %s", [(3,), (4,)], returning=True
            )
            words = [cursor.fetchone()[0]]
            while cursor.nextset():
                words.append(cursor.fetchone()[0])
            assert words == ["3", "4"]


@test
def a_pipeline_and_an_error_in_its_middle():
    with connect(autocommit=True) as connection:
        table(connection, "piped", "id int PRIMARY KEY")
        with connection.pipeline() as pipeline:
            first = connection.execute("INSERT INTO piped VALUES (1) RETURNING id")
            second = connection.execute("INSERT INTO piped VALUES (2) RETURNING id")
            pipeline.sync()
            assert (first.fetchone(), second.fetchone()) == ((1,), (2,))
        try:
            with connection.pipeline():
                connection.execute("INSERT INTO piped VALUES (3)")
                connection.execute("INSERT INTO piped VALUES (1)")
                connection.execute("INSERT INTO piped VALUES (4)")
        except psycopg.errors.UniqueViolation:
            pass
        else:
            raise AssertionError("a duplicate was taken")
        # All between two Syncs is one transaction.
        rows = connection.execute("SELECT id FROM piped ORDER BY id").fetchall()
        assert rows == [(1,), (2,)], rows


@test
def cursors_of_the_server():
    with connect() as connection:
        with connection.cursor(name="walk", scrollable=False) as cursor:
            cursor.execute("SELECT generate_series(1, 1000)")
            assert [row[0] for row in cursor.fetchmany(3)] == [1, 2, 3]
            cursor.scroll(500)
            assert cursor.fetchone() == (504,)
            cursor.itersize = 100
            assert sum(1 for _ in cursor) == 496


@test
def copy_in_and_out():
    with connect() as connection:
        table(connection, "copied", "id int, word text, price numeric(8, 2)")
        rows = [(n, f"tab\tand\\slash {n}", decimal.Decimal(n) / 4) for n in range(1000)]
        with connection.cursor() as cursor:
            with cursor.copy("COPY copied FROM STDIN") as copy:
                for row in rows:
                    copy.write_row(row)
            assert cursor.rowcount == 1000
            with cursor.copy("COPY copied TO STDOUT") as copy:
                copy.set_types(["int4", "text", "numeric"])
                assert list(copy.rows()) == rows
            with cursor.copy("COPY (SELECT id FROM copied WHERE id < 3 ORDER BY id) TO STDOUT (FORMAT csv)") as copy:
                assert b"".join(copy) == b"0\n1\n2\n"
        connection.commit()
        try:
            with connection.cursor().copy("COPY copied FROM STDIN") as copy:
                copy.write("1\tx\n")
        except psycopg.errors.BadCopyFileFormat as error:
            assert 'missing data for column "price"' in str(error)
        else:
            raise AssertionError("a line without its third column was taken")


@test
def copy_in_binary():
    with connect() as connection:
        table(connection, "copied_in_binary", "id int, word text, price numeric(8, 2), days date[]")
        types = ["int4", "text", "numeric", "date[]"]
        day = datetime.date(2026, 11, 22)
        rows = [(n, f"naïve {n}" if n % 3 else None, decimal.Decimal(n) / 4, [day, None]) for n in range(1000)]
        with connection.cursor() as cursor:
            with cursor.copy("COPY copied_in_binary FROM STDIN (FORMAT binary)") as copy:
                copy.set_types(types)
                for row in rows:
                    copy.write_row(row)
            assert cursor.rowcount == 1000
            with cursor.copy("COPY copied_in_binary TO STDOUT (FORMAT binary)") as copy:
                copy.set_types(types)
                assert sorted(copy.rows()) == rows
        connection.commit()
        try:
            with connection.cursor().copy("COPY copied_in_binary FROM STDIN (FORMAT binary)") as copy:
                copy.set_types(["int4", "text"])
                copy.write_row((1, "x"))
        except psycopg.errors.BadCopyFileFormat as error:
            assert "row field count is 2, expected 4" in str(error), error
        else:
            raise AssertionError("a row of two columns was taken")


@test
def cursors_that_scroll_and_are_held():
    with connect() as connection:
        with connection.cursor(name="back", scrollable=True, withhold=True) as cursor:
            cursor.execute("SELECT n, n * n AS square FROM generate_series(1, 100) AS n")
            assert cursor.fetchone() == (1, 1)
            cursor.scroll(49)
            assert cursor.fetchmany(2) == [(51, 2601), (52, 2704)]
            cursor.scroll(-10)
            assert cursor.fetchone() == (43, 1849)
            cursor.scroll(98, mode="absolute")
            connection.commit()
            # The transaction that it was declared in has ended.
            assert cursor.fetchall() == [(99, 9801), (100, 10000)]
            cursor.scroll(0, mode="absolute")
            assert cursor.fetchone() == (1, 1)
        with connection.cursor(name="forth", scrollable=False) as cursor:
            cursor.execute("SELECT 1")
            try:
                cursor.scroll(-1)
            except psycopg.errors.ObjectNotInPrerequisiteState:
                connection.rollback()
            else:
                raise AssertionError("a cursor that only goes forward went back")


@test
def a_binary_cursor():
    with connect() as connection:
        connection.execute("DECLARE raw BINARY CURSOR FOR SELECT 258, 'word'::text, 1.5::numeric")
        # A Query message: the cursor decides the format.
        cursor = connection.execute("FETCH raw")
        assert [cursor.pgresult.fformat(at) for at in range(3)] == [1, 1, 1]
        assert cursor.pgresult.get_value(0, 0) == b"\x00\x00\x01\x02"
        assert cursor.fetchone() == (258, "word", decimal.Decimal("1.5"))


@test
def rows_are_changed_through_a_cursor():
    with connect() as connection:
        table(connection, "walked", "id int PRIMARY KEY, word text")
        connection.execute("INSERT INTO walked SELECT n, 'row ' || n FROM generate_series(1, 9) n")
        with connection.cursor(name="walk") as cursor:
            cursor.execute("SELECT id FROM walked WHERE id > %s FOR UPDATE", [3])
            while row := cursor.fetchone():
                if row[0] % 2:
                    connection.execute("UPDATE walked SET word = %s WHERE CURRENT OF walk", [f"odd {row[0]}"])
                else:
                    connection.execute("DELETE FROM walked WHERE CURRENT OF walk")
        words = connection.execute("SELECT word FROM walked ORDER BY id").fetchall()
        assert [word for (word,) in words] == ["row 1", "row 2", "row 3", "odd 5", "odd 7", "odd 9"]


@test
def a_statement_is_cancelled():
    def cancel(connection):
        time.sleep(0.3)
        # Looks at how its own connection, over TLS too, ends.
        connection.cancel_safe(timeout=10)

    with connect() as connection, concurrent.futures.ThreadPoolExecutor(1) as other:
        started = time.monotonic()
        cancelled = other.submit(cancel, connection)
        try:
            connection.execute(LONG)
        except psycopg.errors.QueryCanceled as error:
            assert error.diag.message_primary == "canceling statement due to user request"
        else:
            raise AssertionError("it was not cancelled")
        assert time.monotonic() - started < 10
        cancelled.result()
        connection.rollback()
        assert connection.execute("SELECT 1").fetchone() == (1,)


@test
def savepoints():
    with connect() as connection:
        table(connection, "saved", "id int PRIMARY KEY")
        connection.commit()
        with connection.transaction():
            connection.execute("INSERT INTO saved VALUES (1)")
            try:
                with connection.transaction():
                    connection.execute("INSERT INTO saved VALUES (2)")
                    connection.execute("INSERT INTO saved VALUES (1)")
            except psycopg.errors.UniqueViolation:
                pass
            with connection.transaction():
                connection.execute("INSERT INTO saved VALUES (3)")
            try:
                with connection.transaction():
                    connection.execute("INSERT INTO saved VALUES (4)")
                    raise psycopg.Rollback()
            except psycopg.Rollback:
                pass
        rows = connection.execute("SELECT id FROM saved ORDER BY id").fetchall()
        assert rows == [(1,), (3,)], rows


@test
def errors_have_their_fields():
    with connect() as connection:
        table(connection, "strict", "id int CONSTRAINT strict_key PRIMARY KEY, amount int CONSTRAINT positive CHECK (amount > 0)")
        connection.execute("INSERT INTO strict VALUES (1, 1)")
        connection.commit()
        for statement, state, constraint in [
            ("INSERT INTO strict VALUES (1, 2)", "23505", "strict_key"),
            ("INSERT INTO strict VALUES (2, 0)", "23514", "positive"),
        ]:
            try:
                connection.execute(statement)
            except psycopg.errors.IntegrityError as error:
                diag = error.diag
                assert (error.sqlstate, diag.constraint_name) == (state, constraint)
                assert (diag.schema_name, diag.table_name) == ("public", "strict")
                assert diag.message_detail
            else:
                raise AssertionError(f"{statement} was taken")
            try:
                connection.execute("SELECT 1")
            except psycopg.errors.InFailedSqlTransaction:
                connection.rollback()
            else:
                raise AssertionError("a failed transaction went on")
        try:
            connection.execute("SELECT nothing FROM strict")
        except psycopg.errors.UndefinedColumn as error:
            assert error.diag.statement_position == "8"
        connection.rollback()


@test
def isolation_and_modes():
    with connect() as connection:
        connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        connection.read_only = True
        shown = connection.execute("SHOW transaction_isolation").fetchone()
        assert shown == ("repeatable read",)
        try:
            connection.execute("CREATE TABLE refused (id int)")
        except psycopg.errors.ReadOnlySqlTransaction:
            connection.rollback()
        else:
            raise AssertionError("a transaction that only reads has written")


@test
def notices():
    heard = []
    with connect() as connection:
        connection.add_notice_handler(lambda diag: heard.append(diag.message_primary))
        connection.execute("DROP TABLE IF EXISTS never_made")
    assert heard == ['table "never_made" does not exist, skipping'], heard


@test
def routines():
    heard = []
    with connect(autocommit=True) as connection:
        connection.add_notice_handler(lambda diag: heard.append((diag.severity, diag.message_primary, diag.context)))
        connection.execute(
            "CREATE OR REPLACE FUNCTION called_pair(a int, b text DEFAULT 'b', OUT x int, OUT y text[])"
            " LANGUAGE plpgsql AS $$ BEGIN x := a * 2; y := ARRAY[b, a::text]; END $$"
        )
        connection.execute(
            "CREATE OR REPLACE PROCEDURE called_sum(a int, INOUT b int) LANGUAGE plpgsql AS $$"
            " BEGIN b := a + b; RAISE NOTICE 'sum %', b; END $$"
        )
        assert connection.execute("SELECT * FROM called_pair(%s)", [4]).fetchone() == (8, ["b", "4"])
        assert connection.execute("SELECT * FROM called_pair(b => %s, a => %s)", ["c", 1]).fetchone() == (2, ["c", "1"])
        for number in range(8):
            assert connection.execute("CALL called_sum(%s, %s)", [number, 1]).fetchone() == (number + 1,)
        connection.execute("DO $$ BEGIN RAISE NOTICE 'done'; END $$")
        with connection.transaction(), connection.cursor(name="called_rows") as cursor:
            cursor.execute("SELECT (called_pair(n)).x FROM generate_series(1, 5) n")
            assert [row[0] for row in cursor] == [2, 4, 6, 8, 10]
    assert heard[0] == ("NOTICE", "sum 1", "PL/pgSQL function called_sum(integer,integer) line 1 at RAISE"), heard
    assert heard[-1] == ("NOTICE", "done", "PL/pgSQL function inline_code_block line 1 at RAISE"), heard


def main():
    failed = 0
    for function in TESTS:
        try:
            function()
            print(f"test {function.__name__} ... ok")
        except Exception:
            failed += 1
            print(f"test {function.__name__} ... FAILED")
            traceback.print_exc(file=sys.stdout)
    word = "FAILED" if failed else "ok"
    print(f"test result: {word}. {len(TESTS) - failed} passed; {failed} failed; 0 ignored; psycopg {psycopg.__version__}")
    sys.exit(1 if failed else 0)


main()
