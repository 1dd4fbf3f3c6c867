// What an application does with pgjdbc. It says the same of Atoll and of PostgreSQL.

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.StringReader;
import java.io.StringWriter;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.sql.Array;
import java.sql.BatchUpdateException;
import java.sql.CallableStatement;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.sql.Statement;
import java.sql.Types;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Properties;
import java.util.UUID;
import javax.sql.XAConnection;
import javax.transaction.xa.XAException;
import javax.transaction.xa.XAResource;
import javax.transaction.xa.Xid;
import org.postgresql.PGConnection;
import org.postgresql.copy.CopyManager;
import org.postgresql.util.PSQLException;
import org.postgresql.util.ServerErrorMessage;
import org.postgresql.xa.PGXADataSource;

final class Script {
    /** What takes minutes. */
    private static final String LONG =
            "SELECT sum(a * b) FROM generate_series(1, 100000) AS a, generate_series(1, 1000000) AS b";

    private interface Test {
        void run() throws Exception;
    }

    private static void demand(boolean holds, String otherwise) {
        if (!holds) {
            throw new AssertionError(otherwise);
        }
    }

    private static void same(Object found, Object expected) {
        demand(Objects.deepEquals(found, expected), "expected " + expected + ", found " + found);
    }

    /** The error of a statement that must fail, with this SQLSTATE. */
    private static SQLException fails(String state, Test test) throws Exception {
        try {
            test.run();
        } catch (SQLException error) {
            same(error.getSQLState(), state);
            return error;
        }
        throw new AssertionError("it did not fail with " + state);
    }

    private static Connection connect(String... options) throws SQLException {
        Properties properties = new Properties();
        properties.setProperty("user", System.getenv("PGUSER"));
        properties.setProperty("password", System.getenv("PGPASSWORD"));
        properties.setProperty("sslmode", "verify-full");
        properties.setProperty("sslrootcert", System.getenv("PGSSLROOTCERT"));
        for (int at = 0; at < options.length; at += 2) {
            properties.setProperty(options[at], options[at + 1]);
        }
        String place = System.getenv("PGHOST") + ":" + System.getenv("PGPORT");
        return DriverManager.getConnection(
                "jdbc:postgresql://" + place + "/" + System.getenv("PGDATABASE"), properties);
    }

    private static void execute(Connection connection, String... statements) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            for (String text : statements) {
                statement.execute(text);
            }
        }
    }

    private static void table(Connection connection, String name, String columns) throws SQLException {
        execute(connection, "DROP TABLE IF EXISTS " + name, "CREATE TABLE " + name + " (" + columns + ")");
    }

    private static List<Object> column(Connection connection, String query) throws SQLException {
        List<Object> values = new ArrayList<>();
        try (Statement statement = connection.createStatement(); ResultSet rows = statement.executeQuery(query)) {
            while (rows.next()) {
                values.add(rows.getObject(1));
            }
        }
        return values;
    }

    private static void isEncryptedAndAuthenticated() throws Exception {
        try (Connection connection = connect()) {
            same(column(connection, "SELECT current_user::text"), List.of("driver"));
            same(connection.getMetaData().getDatabaseMajorVersion(), 15);
        }
        fails("28P01", () -> connect("password", "wrong").close());
        fails("28000", () -> connect("sslmode", "disable").close());
    }

    /** Stores values, gets them back, and looks for them. */
    private static void held(Connection connection, String type, Object... values) throws SQLException {
        String name = "held_" + type.replaceAll("\\W+", "_");
        table(connection, name, "id int PRIMARY KEY, value " + type);
        try (PreparedStatement insert =
                connection.prepareStatement("INSERT INTO " + name + " VALUES (?, ?)")) {
            for (int at = 0; at < values.length; at++) {
                insert.setInt(1, at);
                insert.setObject(2, values[at]);
                same(insert.executeUpdate(), 1);
            }
            insert.setInt(1, values.length);
            insert.setNull(2, Types.NULL);
            insert.executeUpdate();
        }
        try (PreparedStatement select =
                connection.prepareStatement("SELECT value FROM " + name + " WHERE id = ?")) {
            for (int at = 0; at < values.length; at++) {
                select.setInt(1, at);
                try (ResultSet row = select.executeQuery()) {
                    demand(row.next(), type + ": no row");
                    boolean bytes = values[at] instanceof byte[];
                    Object value = bytes ? row.getBytes(1) : row.getObject(1, values[at].getClass());
                    same(value, values[at]);
                }
            }
            select.setInt(1, values.length);
            try (ResultSet row = select.executeQuery()) {
                demand(row.next() && row.getObject(1) == null && row.wasNull(), type + ": no NULL");
            }
        }
    }

    private static void types(Connection connection) throws SQLException {
        held(connection, "bool", true, false);
        held(connection, "int2", -32768, 32767);
        held(connection, "int4", Integer.MIN_VALUE, Integer.MAX_VALUE);
        held(connection, "int8", Long.MIN_VALUE, Long.MAX_VALUE);
        held(connection, "float4", 0.5f, -1048576f, Float.POSITIVE_INFINITY);
        held(connection, "float8", 0.1, -1e300, Double.NEGATIVE_INFINITY);
        held(connection, "numeric", new BigDecimal("0.00"), new BigDecimal("-12345678901234567890.0123456789"));
        held(connection, "text", "", "naïve 日本");
        held(connection, "varchar(5)", "abcde");
        held(connection, "bytea", new byte[0], new byte[] {0, 1, -1, '\\'});
        held(connection, "date", LocalDate.of(1, 1, 1), LocalDate.of(2026, 11, 22));
        held(connection, "time", LocalTime.of(23, 59, 59, 999999000));
        held(connection, "timestamp", LocalDateTime.of(1999, 12, 31, 23, 59, 59, 123456000));
        held(connection, "timestamptz", OffsetDateTime.of(2026, 3, 29, 1, 0, 0, 0, ZoneOffset.UTC));
        held(connection, "uuid", UUID.fromString("a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"));
        table(connection, "held_arrays", "numbers int4[], words text[]");
        try (PreparedStatement insert = connection.prepareStatement(
                "INSERT INTO held_arrays VALUES (?, ?) RETURNING numbers, words")) {
            Integer[] numbers = {1, null, -3};
            String[] words = {"a", "b\"c", "d,e", null};
            insert.setArray(1, connection.createArrayOf("int4", numbers));
            insert.setArray(2, connection.createArrayOf("text", words));
            try (ResultSet row = insert.executeQuery()) {
                demand(row.next(), "no row");
                Array first = row.getArray(1);
                demand(Arrays.equals((Integer[]) first.getArray(), numbers), "int4[]: " + first);
                demand(Arrays.equals((String[]) row.getArray(2).getArray(), words), "text[]");
            }
        }
    }

    private static void typesInText() throws Exception {
        try (Connection connection = connect("binaryTransfer", "false", "prepareThreshold", "1")) {
            types(connection);
        }
    }

    private static void typesInBinary() throws Exception {
        try (Connection connection = connect("prepareThreshold", "-1")) {
            types(connection);
        }
    }

    private static void typesBySimpleQueries() throws Exception {
        try (Connection connection = connect("preferQueryMode", "simple")) {
            held(connection, "int4", Integer.MIN_VALUE, Integer.MAX_VALUE);
            held(connection, "text", "", "it's", "naïve \\ 日本");
            held(connection, "numeric", new BigDecimal("-0.10"));
        }
    }

    private static void statementsArePrepared() throws Exception {
        try (Connection connection = connect("prepareThreshold", "3")) {
            table(connection, "numbers", "id int PRIMARY KEY, square int");
            try (PreparedStatement insert = connection.prepareStatement("INSERT INTO numbers VALUES (?, ?)")) {
                for (int number = 0; number < 20; number++) {
                    insert.setInt(1, number);
                    insert.setInt(2, number * number);
                    same(insert.executeUpdate(), 1);
                }
                same(column(connection, "SELECT count(*) > 0 FROM pg_prepared_statements"), List.of(true));
                // What the statement was made from changes under it.
                execute(connection, "ALTER TABLE numbers ADD COLUMN cube int");
                insert.setInt(1, 100);
                insert.setInt(2, 1);
                same(insert.executeUpdate(), 1);
            }
            // What a statement answers changes under it: the driver prepares it anew by itself.
            try (PreparedStatement select = connection.prepareStatement("SELECT * FROM numbers WHERE id = ?")) {
                for (int columns = 3; columns < 5; columns++) {
                    for (int time = 0; time < 5; time++) {
                        select.setInt(1, 7);
                        try (ResultSet rows = select.executeQuery()) {
                            demand(rows.next() && rows.getInt("square") == 49, "not the square of 7");
                            same(rows.getMetaData().getColumnCount(), columns);
                        }
                    }
                    execute(connection, "ALTER TABLE numbers ADD COLUMN more" + columns + " int");
                }
            }
            try (PreparedStatement insert = connection.prepareStatement(
                    "INSERT INTO numbers VALUES (?, ?)", Statement.RETURN_GENERATED_KEYS)) {
                insert.setInt(1, 200);
                insert.setInt(2, 2);
                insert.executeUpdate();
                try (ResultSet keys = insert.getGeneratedKeys()) {
                    demand(keys.next() && keys.getInt("id") == 200, "no key");
                }
            }
        }
    }

    private static void batches() throws Exception {
        for (String rewrite : new String[] {"false", "true"}) {
            try (Connection connection = connect("reWriteBatchedInserts", rewrite)) {
                table(connection, "batched", "id int PRIMARY KEY, word text");
                try (PreparedStatement insert = connection.prepareStatement("INSERT INTO batched VALUES (?, ?)")) {
                    for (int number = 0; number < 500; number++) {
                        insert.setInt(1, number);
                        insert.setString(2, "word " + number);
                        insert.addBatch();
                    }
                    same(insert.executeBatch().length, 500);
                }
                same(column(connection, "SELECT count(*) FROM batched"), List.of(500L));
            }
        }
    }

    private static void anErrorInTheMiddleOfABatch() throws Exception {
        try (Connection connection = connect()) {
            connection.setAutoCommit(false);
            table(connection, "broken", "id int PRIMARY KEY");
            connection.commit();
            try (Statement statement = connection.createStatement()) {
                for (int number : new int[] {1, 2, 1, 3}) {
                    statement.addBatch("INSERT INTO broken VALUES (" + number + ")");
                }
                SQLException error = fails("23505", statement::executeBatch);
                same(((BatchUpdateException) error).getUpdateCounts().length > 2, true);
            }
            fails("25P02", () -> execute(connection, "SELECT 1"));
            connection.rollback();
            same(column(connection, "SELECT count(*) FROM broken"), List.of(0L));
        }
    }

    private static void portalsInPortions() throws Exception {
        try (Connection connection = connect()) {
            connection.setAutoCommit(false);
            try (PreparedStatement select = connection.prepareStatement("SELECT n FROM generate_series(1, ?) AS n")) {
                select.setFetchSize(100);
                select.setInt(1, 1050);
                int count = 0;
                try (ResultSet rows = select.executeQuery()) {
                    while (rows.next()) {
                        count++;
                        same(rows.getInt(1), count);
                        if (count == 150) {
                            // Another statement between two portions.
                            same(column(connection, "SELECT 1"), List.of(1));
                        }
                    }
                }
                same(count, 1050);
            }
            connection.commit();
        }
    }

    private static void copyInAndOut() throws Exception {
        try (Connection connection = connect()) {
            table(connection, "copied", "id int, word text");
            StringBuilder lines = new StringBuilder();
            for (int number = 0; number < 1000; number++) {
                lines.append(number).append("\ttab\\tand ").append(number).append('\n');
            }
            CopyManager copies = connection.unwrap(PGConnection.class).getCopyAPI();
            same(copies.copyIn("COPY copied FROM STDIN", new StringReader(lines.toString())), 1000L);
            StringWriter out = new StringWriter();
            same(copies.copyOut("COPY copied TO STDOUT", out), 1000L);
            same(out.toString(), lines.toString());
            ByteArrayOutputStream bytes = new ByteArrayOutputStream();
            copies.copyOut("COPY (SELECT 1, 'a,b') TO STDOUT (FORMAT csv)", bytes);
            same(bytes.toString(StandardCharsets.UTF_8), "1,\"a,b\"\n");
            fails("22P02", () -> copies.copyIn("COPY copied FROM STDIN", new StringReader("x\ty\n")));
            same(column(connection, "SELECT count(*) FROM copied"), List.of(1000L));
        }
    }

    private static void copyInBinary() throws Exception {
        try (Connection connection = connect()) {
            table(connection, "copied_in_binary", "id int, word text, price numeric(8, 2), moment timestamptz");
            execute(connection, "INSERT INTO copied_in_binary SELECT n, CASE WHEN n % 3 > 0 THEN 'naïve ' || n END,"
                    + " n / 4.0, '2026-11-22 10:00:00.5+00' FROM generate_series(1, 1000) n");
            CopyManager copies = connection.unwrap(PGConnection.class).getCopyAPI();
            ByteArrayOutputStream bytes = new ByteArrayOutputStream();
            same(copies.copyOut("COPY copied_in_binary TO STDOUT (FORMAT binary)", bytes), 1000L);
            demand(new String(bytes.toByteArray(), StandardCharsets.ISO_8859_1).startsWith("PGCOPY\n\u00ff\r\n\0"),
                    "another signature");
            table(connection, "copied_again", "id int, word text, price numeric(8, 2), moment timestamptz");
            String in = "COPY copied_again FROM STDIN (FORMAT binary)";
            same(copies.copyIn(in, new ByteArrayInputStream(bytes.toByteArray())), 1000L);
            same(column(connection, "SELECT count(*) FROM (SELECT * FROM copied_again INTERSECT"
                    + " SELECT * FROM copied_in_binary) s"), List.of(1000L));
            fails("22P04", () -> copies.copyIn(in, new ByteArrayInputStream(bytes.toByteArray(), 0, 500)));
            same(column(connection, "SELECT count(*) FROM copied_again"), List.of(1000L));
        }
    }

    private static void cursorsThatScrollAndAreHeld() throws Exception {
        try (Connection connection = connect()) {
            connection.setAutoCommit(false);
            execute(connection, "DECLARE back SCROLL CURSOR WITH HOLD FOR SELECT generate_series(1, 100)");
            same(column(connection, "FETCH 3 FROM back"), List.of(1, 2, 3));
            same(column(connection, "FETCH BACKWARD 2 FROM back"), List.of(2, 1));
            same(column(connection, "FETCH ABSOLUTE 50 FROM back"), List.of(50));
            same(column(connection, "FETCH LAST FROM back"), List.of(100));
            connection.commit();
            same(column(connection, "FETCH PRIOR FROM back"), List.of(99));
            same(column(connection, "FETCH FIRST FROM back"), List.of(1));
            connection.rollback();
            same(column(connection, "FETCH RELATIVE 2 FROM back"), List.of(3));
            execute(connection, "CLOSE back");
            fails("34000", () -> column(connection, "FETCH back"));
            connection.rollback();
        }
        // The driver's own: rows are fetched in portions from a cursor that outlives its transaction, or gone back among.
        try (Connection connection = connect()) {
            connection.setAutoCommit(false);
            try (Statement statement = connection.createStatement(
                    ResultSet.TYPE_SCROLL_INSENSITIVE, ResultSet.CONCUR_READ_ONLY)) {
                statement.setFetchSize(10);
                try (ResultSet rows = statement.executeQuery("SELECT generate_series(1, 100)")) {
                    demand(rows.absolute(-1) && rows.getInt(1) == 100, "no last row");
                    demand(rows.absolute(7) && rows.previous() && rows.getInt(1) == 6, "no sixth row");
                }
            }
            connection.commit();
        }
    }

    private static void aBinaryCursor() throws Exception {
        for (String mode : new String[] {"simple", "extended"}) {
            try (Connection connection = connect("preferQueryMode", mode)) {
                connection.setAutoCommit(false);
                execute(connection, "DECLARE raw BINARY CURSOR FOR SELECT 258, 'word'::text, 3.5::float8");
                try (Statement statement = connection.createStatement();
                        ResultSet row = statement.executeQuery("FETCH raw")) {
                    demand(row.next(), "no row");
                    same(row.getInt(1), 258);
                    same(row.getString(2), "word");
                    same(row.getDouble(3), 3.5);
                }
                connection.commit();
            }
        }
    }

    private static void rowsAreChangedThroughACursor() throws Exception {
        try (Connection connection = connect()) {
            table(connection, "walked", "id int PRIMARY KEY, word text");
            execute(connection, "INSERT INTO walked SELECT n, 'row ' || n FROM generate_series(1, 9) n");
            connection.setAutoCommit(false);
            execute(connection, "DECLARE walk SCROLL CURSOR FOR SELECT id FROM walked WHERE id > 3");
            same(column(connection, "FETCH 3 FROM walk"), List.of(4, 5, 6));
            same(column(connection, "FETCH PRIOR FROM walk"), List.of(5));
            try (PreparedStatement update =
                    connection.prepareStatement("UPDATE walked SET word = ? WHERE CURRENT OF walk")) {
                update.setString(1, "changed");
                same(update.executeUpdate(), 1);
            }
            connection.commit();
            same(column(connection, "SELECT id FROM walked WHERE word = 'changed'"), List.of(5));
            connection.commit();
            // The driver's own way: by the primary key.
            try (Statement statement = connection.createStatement(
                            ResultSet.TYPE_FORWARD_ONLY, ResultSet.CONCUR_UPDATABLE);
                    ResultSet rows = statement.executeQuery("SELECT id, word FROM walked WHERE id = 7")) {
                demand(rows.next(), "no row");
                rows.updateString(2, "by key");
                rows.updateRow();
            }
            connection.commit();
            same(column(connection, "SELECT word FROM walked WHERE id = 7"), List.of("by key"));
        }
    }

    private static PGXADataSource distributed() {
        PGXADataSource source = new PGXADataSource();
        source.setUrl("jdbc:postgresql://" + System.getenv("PGHOST") + ":" + System.getenv("PGPORT") + "/"
                + System.getenv("PGDATABASE"));
        source.setUser(System.getenv("PGUSER"));
        source.setPassword(System.getenv("PGPASSWORD"));
        source.setSslMode("verify-full");
        source.setSslRootCert(System.getenv("PGSSLROOTCERT"));
        return source;
    }

    /** A branch of a global transaction. */
    private static final class Branch implements Xid {
        private final byte[] global;

        Branch(String global) {
            this.global = global.getBytes(StandardCharsets.UTF_8);
        }

        @Override
        public int getFormatId() {
            return 17;
        }

        @Override
        public byte[] getGlobalTransactionId() {
            return global;
        }

        @Override
        public byte[] getBranchQualifier() {
            return new byte[] {0, 1, -1};
        }

        /** Whether the server has it prepared. */
        boolean isPrepared(XAResource resource) throws XAException {
            for (Xid found : resource.recover(XAResource.TMSTARTRSCAN | XAResource.TMENDRSCAN)) {
                if (found.getFormatId() == 17 && Arrays.equals(found.getGlobalTransactionId(), global)
                        && Arrays.equals(found.getBranchQualifier(), getBranchQualifier())) {
                    return true;
                }
            }
            return false;
        }
    }

    private interface DistributedTest {
        void run() throws XAException;
    }

    private static void failsDistributed(int code, DistributedTest test) throws Exception {
        try {
            test.run();
        } catch (XAException error) {
            same(error.errorCode, code);
            return;
        }
        throw new AssertionError("it did not fail with " + code);
    }

    /** Does something in a branch, and ends it. */
    private static void work(XAConnection distributed, Xid branch, String statement) throws Exception {
        distributed.getXAResource().start(branch, XAResource.TMNOFLAGS);
        try (Connection connection = distributed.getConnection()) {
            execute(connection, statement);
        }
        distributed.getXAResource().end(branch, XAResource.TMSUCCESS);
    }

    private static void distributedTransactions() throws Exception {
        try (Connection connection = connect()) {
            table(connection, "distributed", "id int PRIMARY KEY");
            String count = "SELECT count(*) FROM distributed";
            XAConnection first = distributed().getXAConnection();
            XAResource resource = first.getXAResource();
            // One phase; and none.
            Branch single = new Branch("single");
            work(first, single, "INSERT INTO distributed VALUES (1)");
            same(column(connection, count), List.of(0L));
            resource.commit(single, true);
            same(column(connection, count), List.of(1L));
            work(first, single, "INSERT INTO distributed VALUES (2)");
            resource.rollback(single);
            same(column(connection, count), List.of(1L));
            // Two phases, the second in the same connection.
            Branch committed = new Branch("committed");
            work(first, committed, "INSERT INTO distributed VALUES (3)");
            same(resource.prepare(committed), XAResource.XA_OK);
            demand(committed.isPrepared(resource), "it is not prepared");
            same(column(connection, count), List.of(1L));
            resource.commit(committed, false);
            demand(!committed.isPrepared(resource), "it is prepared still");
            same(column(connection, count), List.of(2L));
            // Prepared, and left behind by its connection.
            Branch kept = new Branch("kept");
            Branch undone = new Branch("undone");
            work(first, kept, "INSERT INTO distributed VALUES (4)");
            same(resource.prepare(kept), XAResource.XA_OK);
            work(first, undone, "INSERT INTO distributed VALUES (5)");
            same(resource.prepare(undone), XAResource.XA_OK);
            first.close();
            XAConnection second = distributed().getXAConnection();
            XAResource recovered = second.getXAResource();
            demand(kept.isPrepared(recovered) && undone.isPrepared(recovered), "they are not there");
            recovered.commit(kept, false);
            recovered.rollback(undone);
            demand(!kept.isPrepared(recovered) && !undone.isPrepared(recovered), "they are there still");
            same(column(connection, "SELECT id FROM distributed ORDER BY id"), List.of(1, 3, 4));
            // What there is not, and what the server does not do.
            failsDistributed(XAException.XAER_NOTA, () -> recovered.commit(kept, false));
            failsDistributed(XAException.XAER_NOTA, () -> recovered.rollback(undone));
            failsDistributed(XAException.XAER_NOTA, () -> recovered.forget(kept));
            // A statement that has failed: there is nothing to prepare.
            Branch failed = new Branch("failed");
            recovered.start(failed, XAResource.TMNOFLAGS);
            try (Connection inner = second.getConnection()) {
                fails("23505", () -> execute(inner, "INSERT INTO distributed VALUES (1)"));
            }
            recovered.end(failed, XAResource.TMFAIL);
            recovered.rollback(failed);
            demand(recovered.isSameRM(recovered), "it is another one");
            second.close();
            // A name that is taken.
            execute(connection, "BEGIN; INSERT INTO distributed VALUES (6); PREPARE TRANSACTION 'taken'");
            fails("42710", () -> execute(connection, "BEGIN; PREPARE TRANSACTION 'taken'"));
            execute(connection, "ROLLBACK PREPARED 'taken'");
            same(column(connection, count), List.of(3L));
        }
    }

    private static void aStatementIsCancelled() throws Exception {
        try (Connection connection = connect(); Statement statement = connection.createStatement()) {
            Thread canceller = new Thread(() -> {
                try {
                    Thread.sleep(300);
                    statement.cancel();
                } catch (InterruptedException | SQLException error) {
                    throw new IllegalStateException(error);
                }
            });
            canceller.start();
            fails("57014", () -> statement.execute(LONG));
            canceller.join();
            same(column(connection, "SELECT 1"), List.of(1));
            statement.setQueryTimeout(1);
            fails("57014", () -> statement.execute("SELECT pg_sleep(600)"));
        }
    }

    private static void savepoints() throws Exception {
        try (Connection connection = connect()) {
            table(connection, "saved", "id int PRIMARY KEY");
            connection.setAutoCommit(false);
            connection.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
            execute(connection, "INSERT INTO saved VALUES (1)");
            Savepoint savepoint = connection.setSavepoint("here");
            execute(connection, "INSERT INTO saved VALUES (2)");
            fails("23505", () -> execute(connection, "INSERT INTO saved VALUES (1)"));
            connection.rollback(savepoint);
            execute(connection, "INSERT INTO saved VALUES (3)");
            connection.releaseSavepoint(savepoint);
            connection.commit();
            same(column(connection, "SELECT id FROM saved ORDER BY id"), List.of(1, 3));
            connection.commit();
        }
        // The driver sets a savepoint of its own before each statement.
        try (Connection connection = connect("autosave", "always")) {
            connection.setAutoCommit(false);
            execute(connection, "INSERT INTO saved VALUES (5)");
            fails("23505", () -> execute(connection, "INSERT INTO saved VALUES (5)"));
            execute(connection, "INSERT INTO saved VALUES (6)");
            connection.commit();
            same(column(connection, "SELECT count(*) FROM saved"), List.of(4L));
        }
    }

    private static void errorsHaveTheirFields() throws Exception {
        try (Connection connection = connect()) {
            table(connection, "strict", "id int CONSTRAINT strict_key PRIMARY KEY, word text NOT NULL");
            execute(connection, "INSERT INTO strict VALUES (1, 'a')");
            SQLException error = fails("23505", () -> execute(connection, "INSERT INTO strict VALUES (1, 'b')"));
            ServerErrorMessage message = ((PSQLException) error).getServerErrorMessage();
            same(message.getConstraint(), "strict_key");
            same(message.getTable(), "strict");
            same(message.getSchema(), "public");
            same(message.getDetail(), "Key (id)=(1) already exists.");
            error = fails("23502", () -> execute(connection, "INSERT INTO strict VALUES (2, NULL)"));
            same(((PSQLException) error).getServerErrorMessage().getColumn(), "word");
            error = fails("42703", () -> execute(connection, "SELECT nothing FROM strict"));
            same(((PSQLException) error).getServerErrorMessage().getPosition(), 8);
        }
    }

    private static void describesTables() throws Exception {
        try (Connection connection = connect()) {
            table(connection, "described", "id int PRIMARY KEY, word varchar(20) NOT NULL, price numeric(8, 2)");
            List<String> columns = new ArrayList<>();
            try (ResultSet rows = connection.getMetaData().getColumns(null, "public", "described", null)) {
                while (rows.next()) {
                    columns.add(rows.getString("COLUMN_NAME") + " " + rows.getString("TYPE_NAME") + " "
                            + rows.getInt("COLUMN_SIZE") + " " + rows.getString("IS_NULLABLE"));
                }
            }
            same(columns, List.of("id int4 10 NO", "word varchar 20 NO", "price numeric 8 YES"));
            try (ResultSet keys = connection.getMetaData().getPrimaryKeys(null, "public", "described")) {
                demand(keys.next() && keys.getString("COLUMN_NAME").equals("id"), "no primary key");
                demand(!keys.next(), "two of them");
            }
        }
    }

    private static void functionsAreCalled() throws Exception {
        try (Connection connection = connect()) {
            execute(connection,
                    "CREATE OR REPLACE FUNCTION called_sum(a int, b int) RETURNS int LANGUAGE sql AS 'SELECT a + b'",
                    "CREATE OR REPLACE FUNCTION called_parts(a int, OUT half int, OUT name text, INOUT n numeric)"
                            + " LANGUAGE plpgsql AS 'BEGIN half := a / 2; name := ''n'' || a; n := n * 2; END'",
                    "CREATE OR REPLACE FUNCTION called_rows(upto int) RETURNS refcursor LANGUAGE plpgsql AS"
                            + " 'DECLARE c refcursor; BEGIN OPEN c FOR SELECT n, n * n FROM generate_series(1, upto) n;"
                            + " RETURN c; END'",
                    "CREATE OR REPLACE FUNCTION called_nothing() RETURNS void LANGUAGE plpgsql AS 'BEGIN END'",
                    "CREATE OR REPLACE FUNCTION called_refused(a int) RETURNS int LANGUAGE plpgsql AS"
                            + " 'BEGIN RAISE EXCEPTION ''no %'', a USING ERRCODE = ''P9999'', HINT = ''another''; END'");
            try (CallableStatement call = connection.prepareCall("{? = call called_sum(?, ?)}")) {
                call.registerOutParameter(1, Types.INTEGER);
                for (int round = 0; round < 8; round++) {
                    call.setInt(2, round);
                    call.setInt(3, 40);
                    call.execute();
                    same(call.getInt(1), 40 + round);
                }
            }
            try (CallableStatement call = connection.prepareCall("{call called_parts(?, ?, ?, ?)}")) {
                call.setInt(1, 9);
                call.registerOutParameter(2, Types.INTEGER);
                call.registerOutParameter(3, Types.VARCHAR);
                call.registerOutParameter(4, Types.NUMERIC);
                call.setBigDecimal(4, new BigDecimal("1.5"));
                call.execute();
                same(call.getInt(2), 4);
                same(call.getString(3), "n9");
                same(call.getBigDecimal(4), new BigDecimal("3.0"));
            }
            connection.setAutoCommit(false);
            try (CallableStatement call = connection.prepareCall("{? = call called_rows(?)}")) {
                call.registerOutParameter(1, Types.REF_CURSOR);
                call.setInt(2, 5);
                call.execute();
                List<Object> squares = new ArrayList<>();
                try (ResultSet rows = (ResultSet) call.getObject(1)) {
                    while (rows.next()) {
                        squares.add(rows.getInt(2));
                    }
                }
                same(squares, List.of(1, 4, 9, 16, 25));
            }
            connection.commit();
            connection.setAutoCommit(true);
            try (CallableStatement call = connection.prepareCall("{call called_nothing()}")) {
                call.execute();
            }
            try (CallableStatement call = connection.prepareCall("{? = call called_refused(?)}")) {
                call.registerOutParameter(1, Types.INTEGER);
                call.setInt(2, 3);
                SQLException error = fails("P9999", call::execute);
                ServerErrorMessage said = ((PSQLException) error).getServerErrorMessage();
                same(said.getMessage(), "no 3");
                same(said.getHint(), "another");
                same(said.getWhere(), "PL/pgSQL function called_refused(integer) line 1 at RAISE");
            }
        }
    }

    private static void proceduresAreCalled() throws Exception {
        try (Connection connection = connect("escapeSyntaxCallMode", "call")) {
            table(connection, "called_log", "n int");
            execute(connection,
                    "CREATE OR REPLACE PROCEDURE called_twice(a int, INOUT b int) LANGUAGE plpgsql AS"
                            + " 'BEGIN INSERT INTO called_log VALUES (a); COMMIT; b := a + b;"
                            + " RAISE NOTICE ''% is done'', a; END'");
            try (CallableStatement call = connection.prepareCall("{call called_twice(?, ?)}")) {
                call.setInt(1, 3);
                call.setInt(2, 4);
                call.registerOutParameter(2, Types.INTEGER);
                call.execute();
                same(call.getInt(2), 7);
                same(call.getWarnings().getMessage(), "3 is done");
            }
            try (Statement statement = connection.createStatement()) {
                statement.execute("DO $$ BEGIN RAISE NOTICE 'within %', 'DO'; RAISE WARNING 'and more'; END $$");
                same(statement.getWarnings().getMessage(), "within DO");
                same(statement.getWarnings().getNextWarning().getMessage(), "and more");
            }
            same(column(connection, "SELECT n FROM called_log"), List.of(3));
        }
    }

    public static void main(String[] arguments) {
        Map<String, Test> tests = new LinkedHashMap<>();
        tests.put("it_is_encrypted_and_authenticated", Script::isEncryptedAndAuthenticated);
        tests.put("types_in_text", Script::typesInText);
        tests.put("types_in_binary", Script::typesInBinary);
        tests.put("types_by_simple_queries", Script::typesBySimpleQueries);
        tests.put("statements_are_prepared", Script::statementsArePrepared);
        tests.put("batches", Script::batches);
        tests.put("an_error_in_the_middle_of_a_batch", Script::anErrorInTheMiddleOfABatch);
        tests.put("portals_in_portions", Script::portalsInPortions);
        tests.put("copy_in_and_out", Script::copyInAndOut);
        tests.put("copy_in_binary", Script::copyInBinary);
        tests.put("cursors_that_scroll_and_are_held", Script::cursorsThatScrollAndAreHeld);
        tests.put("a_binary_cursor", Script::aBinaryCursor);
        tests.put("rows_are_changed_through_a_cursor", Script::rowsAreChangedThroughACursor);
        tests.put("distributed_transactions", Script::distributedTransactions);
        tests.put("a_statement_is_cancelled", Script::aStatementIsCancelled);
        tests.put("savepoints", Script::savepoints);
        tests.put("errors_have_their_fields", Script::errorsHaveTheirFields);
        tests.put("tables_are_described", Script::describesTables);
        tests.put("functions_are_called", Script::functionsAreCalled);
        tests.put("procedures_are_called", Script::proceduresAreCalled);
        int failed = 0;
        for (Map.Entry<String, Test> test : tests.entrySet()) {
            try {
                test.getValue().run();
                System.out.println("test " + test.getKey() + " ... ok");
            } catch (Exception | AssertionError error) {
                failed++;
                System.out.println("test " + test.getKey() + " ... FAILED");
                error.printStackTrace(System.out);
            }
        }
        System.out.println("test result: " + (failed == 0 ? "ok" : "FAILED") + ". " + (tests.size() - failed)
                + " passed; " + failed + " failed; 0 ignored; pgjdbc " + org.postgresql.Driver.getVersion());
        System.exit(failed == 0 ? 0 : 1);
    }
}
