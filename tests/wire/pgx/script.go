// What an application does with pgx. It says the same of Atoll and of PostgreSQL.
package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"reflect"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
)

// What takes minutes.
const long = "SELECT sum(a * b) FROM generate_series(1, 100000) AS a, generate_series(1, 1000000) AS b"

var everywhere = context.Background()

type failure string

// demand ends the test that runs.
func demand(holds bool, format string, arguments ...any) {
	if !holds {
		panic(failure(fmt.Sprintf(format, arguments...)))
	}
}

func succeed(err error) {
	demand(err == nil, "%v", err)
}

func connect() *pgx.Conn {
	connection, err := pgx.Connect(everywhere, "")
	succeed(err)
	return connection
}

func execute(connection *pgx.Conn, statement string, arguments ...any) pgconn.CommandTag {
	tag, err := connection.Exec(everywhere, statement, arguments...)
	succeed(err)
	return tag
}

func table(connection *pgx.Conn, name, columns string) {
	execute(connection, "DROP TABLE IF EXISTS "+name)
	execute(connection, "CREATE TABLE "+name+" ("+columns+")")
}

func state(err error) string {
	var failed *pgconn.PgError
	if errors.As(err, &failed) {
		return failed.Code
	}
	return fmt.Sprint(err)
}

func one[T any](connection *pgx.Conn, statement string, arguments ...any) T {
	var value T
	succeed(connection.QueryRow(everywhere, statement, arguments...).Scan(&value))
	return value
}

func itIsEncryptedAndAuthenticated() {
	connection := connect()
	defer connection.Close(everywhere)
	demand(connection.Config().TLSConfig != nil, "no TLS")
	demand(one[string](connection, "SELECT current_user") == "driver", "another user")
	config, err := pgx.ParseConfig("")
	succeed(err)
	config.Password = "wrong"
	_, err = pgx.ConnectConfig(everywhere, config)
	demand(state(err) == "28P01", "a wrong password: %v", err)
	config, err = pgx.ParseConfig("sslmode=disable")
	succeed(err)
	_, err = pgx.ConnectConfig(everywhere, config)
	demand(state(err) == "28000", "no TLS: %v", err)
}

// held stores a value, gets it back, and looks for it.
func held[T any](connection *pgx.Conn, name string, values ...T) {
	place := "held_" + strings.NewReplacer("[]", "_array", "(", "_", ")", "").Replace(name)
	table(connection, place, "id int PRIMARY KEY, value "+name)
	for at, value := range values {
		back := one[T](connection, "INSERT INTO "+place+" VALUES ($1, $2) RETURNING value", at, value)
		same := reflect.DeepEqual(back, value)
		if moment, is := any(value).(time.Time); is {
			same = moment.Equal(any(back).(time.Time))
		}
		demand(same, "%s: %v became %v", name, value, back)
	}
	execute(connection, "INSERT INTO "+place+" VALUES ($1, $2)", len(values), nil)
	demand(one[*T](connection, "SELECT value FROM "+place+" WHERE id = $1", len(values)) == nil, "%s: no NULL", name)
	demand(one[int](connection, "SELECT count(*) FROM "+place+" WHERE value IS NOT NULL") == len(values), "%s", name)
}

func types(connection *pgx.Conn) {
	held(connection, "bool", true, false)
	held[int16](connection, "int2", math.MinInt16, math.MaxInt16)
	held[int32](connection, "int4", math.MinInt32, math.MaxInt32)
	held[int64](connection, "int8", math.MinInt64, math.MaxInt64)
	held[float32](connection, "float4", 0.5, -1<<20, float32(math.Inf(1)))
	held(connection, "float8", 0.1, -1e300, math.Inf(-1))
	held(connection, "text", "", "naïve 日本")
	held(connection, "varchar(5)", "abcde")
	held(connection, "bytea", []byte{}, []byte{0, 1, 255, '\\'})
	held(connection, "date", time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC))
	held(connection, "timestamp", time.Date(1999, 12, 31, 23, 59, 59, 123456000, time.UTC))
	held(connection, "timestamptz", time.Date(2026, 3, 29, 1, 0, 0, 0, time.UTC))
	held(connection, "time", pgtype.Time{Microseconds: 86399999999, Valid: true})
	held(connection, "interval", pgtype.Interval{Months: 14, Days: 3, Microseconds: 5, Valid: true})
	held(connection, "uuid", pgtype.UUID{Bytes: [16]byte{0xa0, 0xee, 0xbc, 0x99, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, Valid: true})
	held(connection, "int4[]", []int32{1, 2, -3}, []int32{})
	held(connection, "text[]", []string{"a", "b\"c", "d,e"})
	price := one[pgtype.Numeric](connection, "SELECT $1::numeric", "-12345678901234567890.0123456789")
	text, err := price.Value()
	succeed(err)
	demand(text == "-12345678901234567890.0123456789", "numeric: %v", text)
}

func typesInBinary() {
	connection := connect()
	defer connection.Close(everywhere)
	types(connection)
}

func typesInText() {
	config, err := pgx.ParseConfig("")
	succeed(err)
	config.DefaultQueryExecMode = pgx.QueryExecModeSimpleProtocol
	connection, err := pgx.ConnectConfig(everywhere, config)
	succeed(err)
	defer connection.Close(everywhere)
	types(connection)
}

func everyWayToPrepare() {
	for _, mode := range []pgx.QueryExecMode{
		pgx.QueryExecModeCacheStatement, pgx.QueryExecModeCacheDescribe,
		pgx.QueryExecModeDescribeExec, pgx.QueryExecModeExec, pgx.QueryExecModeSimpleProtocol,
	} {
		connection := connect()
		table(connection, "numbers", "id int PRIMARY KEY, word text")
		for number := 0; number < 5; number++ {
			execute(connection, "INSERT INTO numbers VALUES ($1, $2)", mode, number, fmt.Sprint(number))
		}
		demand(one[string](connection, "SELECT word FROM numbers WHERE id = $1", mode, 3) == "3", "%v", mode)
		connection.Close(everywhere)
	}
	connection := connect()
	defer connection.Close(everywhere)
	description, err := connection.Prepare(everywhere, "find", "SELECT id, word FROM numbers WHERE id = $1")
	succeed(err)
	demand(len(description.ParamOIDs) == 1 && description.ParamOIDs[0] == pgtype.Int4OID, "parameters")
	demand(description.Fields[1].Name == "word" && description.Fields[1].DataTypeOID == pgtype.TextOID, "fields")
	succeed(connection.Deallocate(everywhere, "find"))
	_, err = connection.Exec(everywhere, "EXECUTE find(1)")
	demand(state(err) == "26000", "%v", err)
}

func batches() {
	connection := connect()
	defer connection.Close(everywhere)
	table(connection, "batched", "id int PRIMARY KEY")
	batch := &pgx.Batch{}
	for number := 0; number < 100; number++ {
		batch.Queue("INSERT INTO batched VALUES ($1)", number)
	}
	batch.Queue("SELECT count(*) FROM batched")
	results := connection.SendBatch(everywhere, batch)
	for number := 0; number < 100; number++ {
		tag, err := results.Exec()
		succeed(err)
		demand(tag.RowsAffected() == 1, "%v", tag)
	}
	var count int
	succeed(results.QueryRow().Scan(&count))
	succeed(results.Close())
	demand(count == 100, "%d rows", count)
}

func anErrorInTheMiddleOfABatch() {
	connection := connect()
	defer connection.Close(everywhere)
	table(connection, "broken", "id int PRIMARY KEY")
	batch := &pgx.Batch{}
	for _, number := range []int{1, 2, 1, 3} {
		batch.Queue("INSERT INTO broken VALUES ($1)", number)
	}
	results := connection.SendBatch(everywhere, batch)
	for at, expected := range []string{"", "", "23505", "23505"} {
		_, err := results.Exec()
		demand((err == nil) == (expected == ""), "%d: %v", at, err)
	}
	demand(state(results.Close()) == "23505", "the batch closed well")
	demand(one[int](connection, "SELECT count(*) FROM broken") == 0, "half a batch")
}

func cursors() {
	connection := connect()
	defer connection.Close(everywhere)
	transaction, err := connection.Begin(everywhere)
	succeed(err)
	_, err = transaction.Exec(everywhere, "DECLARE walk CURSOR FOR SELECT generate_series(1, 250)")
	succeed(err)
	total := 0
	for {
		rows, err := transaction.Query(everywhere, "FETCH 100 FROM walk")
		succeed(err)
		numbers, err := pgx.CollectRows(rows, pgx.RowTo[int])
		succeed(err)
		if len(numbers) == 0 {
			break
		}
		total += len(numbers)
	}
	demand(total == 250, "%d rows", total)
	succeed(transaction.Commit(everywhere))
}

func rowsThatAreNotReadToTheEnd() {
	connection := connect()
	defer connection.Close(everywhere)
	rows, err := connection.Query(everywhere, "SELECT n, repeat('x', 100) FROM generate_series(1, 20000) AS n")
	succeed(err)
	demand(rows.Next(), "no row")
	rows.Close()
	succeed(rows.Err())
	demand(one[int](connection, "SELECT 1") == 1, "the connection is of no more use")
	// An error behind rows.
	rows, err = connection.Query(everywhere, "SELECT 10 / (5 - n) FROM generate_series(1, 9) AS n")
	succeed(err)
	for rows.Next() {
	}
	demand(state(rows.Err()) == "22012", "%v", rows.Err())
}

func copyInAndOut() {
	connection := connect()
	defer connection.Close(everywhere)
	table(connection, "copied", "id int, word text")
	var lines strings.Builder
	for number := 0; number < 1000; number++ {
		fmt.Fprintf(&lines, "%d\ttab\\tand %d\n", number, number)
	}
	wire := connection.PgConn()
	tag, err := wire.CopyFrom(everywhere, strings.NewReader(lines.String()), "COPY copied FROM STDIN")
	succeed(err)
	demand(tag.RowsAffected() == 1000, "%v", tag)
	var out bytes.Buffer
	tag, err = wire.CopyTo(everywhere, &out, "COPY copied TO STDOUT")
	succeed(err)
	demand(tag.RowsAffected() == 1000 && out.String() == lines.String(), "%v", tag)
	_, err = wire.CopyFrom(everywhere, strings.NewReader("x\ty\n"), "COPY copied FROM STDIN")
	demand(state(err) == "22P02", "%v", err)
	demand(one[int](connection, "SELECT count(*) FROM copied") == 1000, "rows of a COPY that failed")
}

func copyInBinary() {
	connection := connect()
	defer connection.Close(everywhere)
	table(connection, "copied_in_binary", "id int, word text, moment timestamptz")
	moment := time.Date(2026, 3, 29, 1, 0, 0, 123456000, time.UTC)
	source := pgx.CopyFromSlice(1000, func(number int) ([]any, error) {
		return []any{number, fmt.Sprintf("naïve %d", number), moment}, nil
	})
	columns := []string{"id", "word", "moment"}
	count, err := connection.CopyFrom(everywhere, pgx.Identifier{"copied_in_binary"}, columns, source)
	succeed(err)
	demand(count == 1000, "%d rows", count)
	demand(one[int](connection, "SELECT count(*) FROM copied_in_binary WHERE moment = $1 AND word = 'naïve ' || id", moment) == 1000, "other rows")
	// What comes out goes in again as it is.
	var out bytes.Buffer
	wire := connection.PgConn()
	tag, err := wire.CopyTo(everywhere, &out, "COPY copied_in_binary TO STDOUT (FORMAT binary)")
	succeed(err)
	demand(tag.RowsAffected() == 1000 && bytes.HasPrefix(out.Bytes(), []byte("PGCOPY\n\xff\r\n\x00")), "%v", tag)
	cut := out.Bytes()[:out.Len()-10]
	tag, err = wire.CopyFrom(everywhere, bytes.NewReader(out.Bytes()), "COPY copied_in_binary FROM STDIN (FORMAT binary)")
	succeed(err)
	demand(tag.RowsAffected() == 1000, "%v", tag)
	_, err = wire.CopyFrom(everywhere, bytes.NewReader(cut), "COPY copied_in_binary FROM STDIN (FORMAT binary)")
	demand(state(err) == "22P04", "%v", err)
	demand(one[int](connection, "SELECT count(DISTINCT id) FROM copied_in_binary") == 1000, "other rows")
}

// fetched tells the numbers that a FETCH gives.
func fetched(connection *pgx.Conn, statement string) []int {
	rows, err := connection.Query(everywhere, statement)
	succeed(err)
	numbers, err := pgx.CollectRows(rows, pgx.RowTo[int])
	succeed(err)
	return numbers
}

func cursorsThatScrollAndAreHeld() {
	connection := connect()
	defer connection.Close(everywhere)
	execute(connection, "BEGIN")
	execute(connection, "DECLARE back SCROLL CURSOR WITH HOLD FOR SELECT generate_series(1, 100)")
	steps := []struct {
		statement string
		numbers   []int
	}{
		{"FETCH 3 FROM back", []int{1, 2, 3}},
		{"FETCH BACKWARD 2 FROM back", []int{2, 1}},
		{"FETCH ABSOLUTE 50 FROM back", []int{50}},
		{"FETCH RELATIVE -10 FROM back", []int{40}},
		{"FETCH LAST FROM back", []int{100}},
		{"COMMIT", []int{}},
		{"FETCH PRIOR FROM back", []int{99}},
		{"FETCH FIRST FROM back", []int{1}},
		{"FETCH ABSOLUTE -3 FROM back", []int{98}},
		{"FETCH ALL FROM back", []int{99, 100}},
	}
	for _, step := range steps {
		numbers := fetched(connection, step.statement)
		demand(reflect.DeepEqual(numbers, step.numbers), "%s: %v", step.statement, numbers)
	}
	execute(connection, "CLOSE back")
	_, err := connection.Exec(everywhere, "FETCH back")
	demand(state(err) == "34000", "%v", err)
}

func aBinaryCursor() {
	connection := connect()
	defer connection.Close(everywhere)
	execute(connection, "BEGIN")
	execute(connection, "DECLARE raw BINARY CURSOR FOR SELECT 258, 'word'::text")
	// A Query message: the cursor decides the format.
	results, err := connection.PgConn().Exec(everywhere, "FETCH raw").ReadAll()
	succeed(err)
	demand(len(results) == 1 && len(results[0].Rows) == 1, "%v", results)
	for _, field := range results[0].FieldDescriptions {
		demand(field.Format == 1, "%v", field)
	}
	row := results[0].Rows[0]
	demand(bytes.Equal(row[0], []byte{0, 0, 1, 2}) && string(row[1]) == "word", "%v", row)
}

func rowsAreChangedThroughACursor() {
	connection := connect()
	defer connection.Close(everywhere)
	table(connection, "walked", "id int PRIMARY KEY, word text")
	execute(connection, "INSERT INTO walked SELECT n, 'row ' || n FROM generate_series(1, 9) n")
	execute(connection, "BEGIN")
	execute(connection, "DECLARE walk CURSOR FOR SELECT id FROM walked WHERE id > 3")
	demand(reflect.DeepEqual(fetched(connection, "FETCH 2 FROM walk"), []int{4, 5}), "other rows")
	id := one[int](connection, "UPDATE walked SET word = $1 WHERE CURRENT OF walk RETURNING id", "changed")
	demand(id == 5, "row %d", id)
	execute(connection, "MOVE walk")
	tag := execute(connection, "DELETE FROM walked WHERE CURRENT OF walk")
	demand(tag.RowsAffected() == 1, "%v", tag)
	execute(connection, "COMMIT")
	demand(one[int](connection, "SELECT sum(id) FROM walked WHERE word <> 'changed'") == 45-5-6, "other rows")
}

func aStatementIsCancelled() {
	connection := connect()
	started := time.Now()
	soon, cancel := context.WithTimeout(everywhere, 300*time.Millisecond)
	defer cancel()
	_, err := connection.Exec(soon, long)
	demand(errors.Is(err, context.DeadlineExceeded) && time.Since(started) < 10*time.Second, "%v", err)
	other := connect()
	defer other.Close(everywhere)
	go func() {
		time.Sleep(300 * time.Millisecond)
		_ = other.PgConn().CancelRequest(everywhere)
	}()
	_, err = other.Exec(everywhere, long)
	demand(state(err) == "57014", "%v", err)
	demand(one[int](other, "SELECT 1") == 1, "the connection is of no more use")
	_, err = other.Exec(everywhere, "SET statement_timeout = 100")
	succeed(err)
	_, err = other.Exec(everywhere, "SELECT pg_sleep(600)")
	demand(state(err) == "57014", "%v", err)
}

func savepoints() {
	connection := connect()
	defer connection.Close(everywhere)
	table(connection, "saved", "id int PRIMARY KEY")
	err := pgx.BeginTxFunc(everywhere, connection, pgx.TxOptions{IsoLevel: pgx.RepeatableRead}, func(outer pgx.Tx) error {
		_, err := outer.Exec(everywhere, "INSERT INTO saved VALUES (1)")
		succeed(err)
		inner, err := outer.Begin(everywhere)
		succeed(err)
		_, err = inner.Exec(everywhere, "INSERT INTO saved VALUES (2)")
		succeed(err)
		_, err = inner.Exec(everywhere, "INSERT INTO saved VALUES (1)")
		demand(state(err) == "23505", "%v", err)
		_, err = inner.Exec(everywhere, "SELECT 1")
		demand(state(err) == "25P02", "%v", err)
		succeed(inner.Rollback(everywhere))
		_, err = outer.Exec(everywhere, "INSERT INTO saved VALUES (3)")
		return err
	})
	succeed(err)
	rows, err := connection.Query(everywhere, "SELECT id FROM saved ORDER BY id")
	succeed(err)
	numbers, err := pgx.CollectRows(rows, pgx.RowTo[int])
	succeed(err)
	demand(reflect.DeepEqual(numbers, []int{1, 3}), "%v", numbers)
}

func errorsHaveTheirFields() {
	connection := connect()
	defer connection.Close(everywhere)
	table(connection, "strict", "id int CONSTRAINT strict_key PRIMARY KEY, word text NOT NULL")
	execute(connection, "INSERT INTO strict VALUES (1, 'a')")
	var failed *pgconn.PgError
	_, err := connection.Exec(everywhere, "INSERT INTO strict VALUES ($1, $2)", 1, "b")
	demand(errors.As(err, &failed), "%v", err)
	demand(failed.ConstraintName == "strict_key" && failed.TableName == "strict" && failed.SchemaName == "public", "%+v", failed)
	demand(failed.Detail == "Key (id)=(1) already exists.", "%s", failed.Detail)
	_, err = connection.Exec(everywhere, "INSERT INTO strict VALUES ($1, $2)", 2, nil)
	demand(errors.As(err, &failed) && failed.ColumnName == "word", "%v", err)
	_, err = connection.Exec(everywhere, "SELECT nothing FROM strict")
	demand(errors.As(err, &failed) && failed.Code == "42703" && failed.Position == 8, "%v", err)
}

func main() {
	tests := []struct {
		name string
		run  func()
	}{
		{"it_is_encrypted_and_authenticated", itIsEncryptedAndAuthenticated},
		{"types_in_binary", typesInBinary},
		{"types_in_text", typesInText},
		{"every_way_to_prepare", everyWayToPrepare},
		{"batches", batches},
		{"an_error_in_the_middle_of_a_batch", anErrorInTheMiddleOfABatch},
		{"cursors", cursors},
		{"rows_that_are_not_read_to_the_end", rowsThatAreNotReadToTheEnd},
		{"copy_in_and_out", copyInAndOut},
		{"copy_in_binary", copyInBinary},
		{"cursors_that_scroll_and_are_held", cursorsThatScrollAndAreHeld},
		{"a_binary_cursor", aBinaryCursor},
		{"rows_are_changed_through_a_cursor", rowsAreChangedThroughACursor},
		{"a_statement_is_cancelled", aStatementIsCancelled},
		{"savepoints", savepoints},
		{"errors_have_their_fields", errorsHaveTheirFields},
	}
	failed := 0
	for _, test := range tests {
		func() {
			defer func() {
				if reason := recover(); reason != nil {
					failed++
					fmt.Printf("test %s ... FAILED\n%v\n", test.name, reason)
				}
			}()
			test.run()
			fmt.Printf("test %s ... ok\n", test.name)
		}()
	}
	word := "ok"
	if failed > 0 {
		word = "FAILED"
	}
	fmt.Printf("test result: %s. %d passed; %d failed; 0 ignored; pgx\n", word, len(tests)-failed, failed)
	if failed > 0 {
		os.Exit(1)
	}
}
