//! Random operands: numbers, floats, dates, times and intervals, computed, compared, cast and shown as PostgreSQL 15 does.
//!
//! Operands come from a seed and go into a table on both servers; each expression is asked for all rows by one statement.
//! Where an operand fails, the rows are halved until the failing ones are found, whose errors are compared like values.
//! `ATOLL_OPERANDS` is the number of rows of each table (5,000 in the full run), `ATOLL_SEED` another seed. A failure names
//! the seed, the expression and the operands.

use std::fmt::Write as _;
use tests::atoll::Atoll;
use tests::client::Client;
use tests::oracle;

/// Rows of each table, unless `ATOLL_OPERANDS` says otherwise.
const ROWS: usize = 250;
/// The seed, unless `ATOLL_SEED` says otherwise.
const SEED: u64 = 20_261_122;
/// Differences that are shown of one expression, and in all.
const SHOWN_MAX: usize = 3;

fn setting(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

/// A small generator of its own (splitmix64), so that a run can be told by its seed.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }

    fn between(&mut self, low: i64, high: i64) -> i64 {
        low + self.below((high - low) as u64 + 1) as i64
    }

    fn one_in(&mut self, times: u64) -> bool {
        self.below(times) == 0
    }

    fn pick<'p>(&mut self, all: &[&'p str]) -> &'p str {
        all[self.below(all.len() as u64) as usize]
    }

    fn sign(&mut self) -> &'static str {
        if self.one_in(2) { "-" } else { "" }
    }

    fn digits(&mut self, count: u64) -> String {
        (0..count).map(|_| char::from(b'0' + self.below(10) as u8)).collect()
    }

    fn numeric(&mut self) -> String {
        match self.below(20) {
            0 => self.pick(&["0", "0.00", "1", "-1", "NaN", "Infinity", "-Infinity"]).to_owned(),
            1 => format!("{}{}e{}", self.sign(), self.below(1000), self.between(-30, 30)),
            2 => format!(
                "{}0.{}{}",
                self.sign(),
                "0".repeat(self.below(12) as usize),
                self.below(99_999)
            ),
            _ => {
                let (whole, scale) = (self.below(14) + 1, self.below(12));
                let point = if scale == 0 { "" } else { "." };
                format!("{}{}{point}{}", self.sign(), self.digits(whole), self.digits(scale))
            }
        }
    }

    fn float(&mut self) -> String {
        match self.below(16) {
            0 => self
                .pick(&[
                    "0",
                    "-0",
                    "NaN",
                    "Infinity",
                    "-Infinity",
                    "1e15",
                    "1e-5",
                    "123456789012345680",
                ])
                .to_owned(),
            1..=4 => {
                // Any bits, but for those that are no number.
                let value = f64::from_bits(self.next());
                if value.is_finite() { format!("{value:e}") } else { "1.5".to_owned() }
            }
            5..=9 => format!("{}{}.{}", self.sign(), self.below(100_000), self.below(1000)),
            10..=12 => format!("{}{}.5", self.sign(), self.below(50)),
            _ => format!("{}{}e{}", self.sign(), self.below(1_000_000), self.between(-20, 20)),
        }
    }

    fn float4(&mut self) -> String {
        match self.below(6) {
            0 => {
                let value = f32::from_bits(self.next() as u32);
                if value.is_finite() { format!("{value:e}") } else { "2.5".to_owned() }
            }
            1 => format!("{}{}.5", self.sign(), self.below(40)),
            2 => self
                .pick(&["0", "-0", "NaN", "Infinity", "-Infinity", "16777216", "1e6", "1e-5"])
                .to_owned(),
            _ => format!("{}{}e{}", self.sign(), self.below(100_000), self.between(-10, 10)),
        }
    }

    fn integer(&mut self, bits: u32) -> String {
        let limit = 1i128 << (bits - 1);
        match self.below(12) {
            0 => (limit - 1).to_string(),
            1 => (-limit).to_string(),
            2 => self.between(-1, 1).to_string(),
            _ => {
                let width = self.below(u64::from(bits)) as u32;
                let value = i128::from(self.next() as i64 >> (63 - width.min(62)));
                value.clamp(-limit, limit - 1).to_string()
            }
        }
    }

    fn date(&mut self) -> String {
        let (month, day) = (self.between(1, 12), self.between(1, 28));
        match self.below(24) {
            0 => self
                .pick(&["infinity", "-infinity", "epoch", "2000-02-29", "1999-12-31"])
                .to_owned(),
            1 => format!("{:04}-{month:02}-{day:02} BC", self.between(1, 4713 - 1)),
            2 => format!("{}-{month:02}-{day:02}", self.between(10_000, 200_000)),
            3 => format!("{:04}-{month:02}-01", self.between(1, 1500)),
            _ => format!("{}-{month:02}-{day:02}", self.between(1600, 2400)),
        }
    }

    fn time(&mut self) -> String {
        let mut text = format!("{:02}:{:02}:{:02}", self.below(24), self.below(60), self.below(60));
        if !self.one_in(3) {
            let count = self.below(6) + 1;
            write!(text, ".{}", self.digits(count)).expect("a string grows");
        }
        if self.one_in(40) { "24:00:00".to_owned() } else { text }
    }

    fn zone(&mut self) -> String {
        let sign = if self.one_in(2) { '-' } else { '+' };
        match self.below(4) {
            0 => format!("{sign}{:02}:{:02}", self.below(13), self.below(60)),
            1 => format!("{sign}{:02}:{:02}:{:02}", self.below(13), self.below(60), self.below(60)),
            _ => format!("{sign}{:02}", self.below(15)),
        }
    }

    fn timestamp(&mut self) -> String {
        let date = self.date();
        if date.contains("inf") || date == "epoch" {
            return date;
        }
        match date.strip_suffix(" BC") {
            Some(date) => format!("{date} {} BC", self.time()),
            None => format!("{date} {}", self.time()),
        }
    }

    fn interval(&mut self) -> String {
        let mut text = String::new();
        let months = self.below(3) == 0;
        if months {
            write!(text, "{} mons ", self.between(-400, 400)).expect("a string grows");
        }
        if !self.one_in(3) {
            write!(text, "{} days ", self.between(-4000, 4000)).expect("a string grows");
        }
        if !self.one_in(3) || text.is_empty() {
            let hours = if self.one_in(5) { self.below(10_000) } else { self.below(30) };
            let (minutes, seconds) = (self.below(60), self.below(60));
            let micros = self.below(1_000_000);
            write!(text, "{}{hours}:{minutes:02}:{seconds:02}.{micros:06}", self.sign())
                .expect("a string grows");
        }
        text
    }
}

/// A table of operands and what is asked of it.
struct Family {
    name: &'static str,
    /// Each column: its name, its type, and how an operand is made.
    columns: &'static [(&'static str, &'static str, fn(&mut Random) -> String)],
    expressions: &'static [&'static str],
}

const FAMILIES: &[Family] = &[
    Family {
        name: "numerics",
        columns: &[
            ("a", "numeric", Random::numeric),
            ("b", "numeric", Random::numeric),
            ("n", "int", |random| random.between(-8, 12).to_string()),
            ("i", "int", |random| random.integer(32)),
        ],
        expressions: &[
            "a + b",
            "a - b",
            "a * b",
            "a / b",
            "a % b",
            "div(a, b)",
            "-a",
            "abs(a)",
            "sign(a)",
            "a = b",
            "a < b",
            "a <= b",
            "a > b",
            "a <> b",
            "greatest(a, b)",
            "least(a, b)",
            "round(a, n)",
            "trunc(a, n)",
            "round(a)",
            "trunc(a)",
            "ceil(a)",
            "floor(a)",
            "scale(a)",
            "min_scale(a)",
            "trim_scale(a)",
            "a::text",
            "a::int2",
            "a::int4",
            "a::int8",
            "a::float8",
            "a::float4",
            "a::numeric(12, 4)",
            "a::numeric(30, -2)",
            "sqrt(abs(a))",
            "power(abs(a) % 100, n)",
            "exp(a % 50)",
            "ln(abs(a) + 0.5)",
            "log(abs(a) + 0.25)",
            "log(2.5, abs(a) + 1)",
            "gcd(trunc(a), trunc(b))",
            "lcm(trunc(a % 1000), trunc(b % 1000))",
            "mod(a, b)",
            "a + i",
            "i * a",
            "a / i",
            "width_bucket(a, -1000, 100000, 17)",
            "to_char(a, 'FM999999999990.999999')",
            "to_char(a, '999,999,999.99')",
            "to_char(a, 'S09999.9')",
            "to_char(a, '9.999EEEE')",
            "to_char(a, 'MI9999999PR')",
            "to_char(a, 'L99999.00')",
            "to_char(a % 5000, 'RN')",
            "to_char(a, '9999999TH')",
            "to_char(a, '099999V99')",
            "to_char(a, 'FMSG999999.9')",
            "factorial(abs(n)::bigint)",
        ],
    },
    Family {
        name: "integers",
        columns: &[
            ("a", "int8", |random| random.integer(64)),
            ("b", "int4", |random| random.integer(32)),
            ("c", "int2", |random| random.integer(16)),
        ],
        expressions: &[
            "a + b",
            "a - c",
            "b * c",
            "a * b",
            "a / b",
            "b / c",
            "a % b",
            "b % c",
            "-b",
            "abs(c)",
            "a = b",
            "b < c",
            "a & b",
            "b | c",
            "b # c",
            "~c",
            "b << (c & 31)",
            "a >> (c & 63)",
            "a::int4",
            "b::int2",
            "a::float4",
            "a::float8",
            "b::float4",
            "a::numeric",
            "b::text",
            "gcd(a, b)",
            "lcm(b, c)",
            "to_hex(b)",
            "to_hex(a)",
            "to_char(b, '9,999,999,999')",
            "to_char(a, 'S9999999999999999999')",
            "to_char(c, 'RN')",
            "chr(abs(c) % 100 + 40)",
            "b::bool",
            "mod(a, c)",
            "width_bucket(b, -1000, 1000, 7)",
            "a::oid",
            "sqrt(abs(b))",
        ],
    },
    Family {
        name: "floats",
        columns: &[
            ("a", "float8", Random::float),
            ("b", "float8", Random::float),
            ("f", "float4", Random::float4),
            ("g", "float4", Random::float4),
        ],
        expressions: &[
            "a",
            "f",
            "a::text",
            "f::text",
            "a + b",
            "a - b",
            "a * b",
            "a / b",
            "f + g",
            "f - g",
            "f * g",
            "f / g",
            "a + f",
            "a = b",
            "a < b",
            "f = g",
            "f < g",
            "a = f",
            "-a",
            "-f",
            "abs(a)",
            "sign(a)",
            "round(a)",
            "trunc(a)",
            "ceil(a)",
            "floor(a)",
            "sqrt(abs(a))",
            "cbrt(a)::float4",
            "a::float4",
            "f::float8",
            "a::int2",
            "a::int4",
            "a::int8",
            "f::int4",
            "f::int8",
            "a::numeric",
            "f::numeric",
            "a::numeric(20, 3)",
            "greatest(a, b)",
            "to_char(a, '9999999.999')",
            "to_char(f, 'FM999990.99')",
            "to_char(a, '9.99EEEE')",
            "width_bucket(a, -1000::float8, 1000, 9)",
            "a::text::float8 = a",
            "f::text::float4 = f",
            "degrees(a)",
            "radians(a)",
        ],
    },
    Family {
        name: "dates",
        columns: &[
            ("d", "date", Random::date),
            ("e", "date", Random::date),
            ("t", "time", Random::time),
            ("u", "time", Random::time),
            ("i", "interval", Random::interval),
            ("n", "int", |random| random.between(-100_000, 100_000).to_string()),
        ],
        expressions: &[
            "d",
            "t",
            "d - e",
            "d + n",
            "d - n",
            "d = e",
            "d < e",
            "d + i",
            "d - i",
            "d + t",
            "t + d",
            "t - u",
            "t + i",
            "t - i",
            "t < u",
            "t = u",
            "age(d, e)",
            "d::timestamp",
            "d::timestamptz",
            "d::text",
            "t::text",
            "t::interval",
            "t(2)::text",
            "extract(year FROM d)",
            "extract(doy FROM d)",
            "extract(isodow FROM d)",
            "extract(week FROM d)",
            "extract(isoyear FROM d)",
            "extract(century FROM d)",
            "extract(millennium FROM d)",
            "extract(decade FROM d)",
            "extract(quarter FROM d)",
            "extract(epoch FROM d)",
            "extract(julian FROM d)",
            "extract(epoch FROM t)",
            "extract(second FROM t)",
            "extract(microseconds FROM t)",
            "date_part('dow', d)",
            "date_part('minute', t)",
            "date_trunc('month', d)",
            "to_char(d, 'YYYY-MM-DD')",
            "to_char(d, 'Day DD Month YYYY BC')",
            "to_char(d, 'IYYY-IW-ID J Q WW DDD CC')",
            "to_char(t, 'HH12:MI:SS.US AM')",
            "isfinite(d)",
            "greatest(d, e)",
            "make_date(extract(year FROM d)::int, 2, 28)",
            "(d, e) OVERLAPS (d + 10, e + 10)",
        ],
    },
    Family {
        name: "timestamps",
        columns: &[
            ("a", "timestamp", Random::timestamp),
            ("b", "timestamp", Random::timestamp),
            ("z", "timestamptz", Random::timestamp),
            ("y", "timestamptz", Random::timestamp),
            ("i", "interval", Random::interval),
        ],
        expressions: &[
            "a",
            "z",
            "a - b",
            "z - y",
            "a + i",
            "a - i",
            "z + i",
            "z - i",
            "a = b",
            "a < b",
            "z < y",
            "a < z",
            "age(a, b)",
            "age(z, y)",
            "a::date",
            "a::time",
            "z::date",
            "z::time",
            "a::timestamptz",
            "z::timestamp",
            "a(3)",
            "z(0)",
            "a::text",
            "z::text",
            "date_trunc('millennium', a)",
            "date_trunc('century', a)",
            "date_trunc('decade', a)",
            "date_trunc('year', a)",
            "date_trunc('quarter', z)",
            "date_trunc('month', z)",
            "date_trunc('week', a)",
            "date_trunc('day', z)",
            "date_trunc('hour', a)",
            "date_trunc('minute', z)",
            "date_trunc('second', a)",
            "date_trunc('milliseconds', a)",
            "date_trunc('day', z, 'Australia/Sydney')",
            "date_bin('15 minutes', a, '2001-01-01')",
            "date_bin('3 days 01:02:03', z, '2001-01-01 00:00:00+00')",
            "extract(epoch FROM a)",
            "extract(epoch FROM z)",
            "extract(julian FROM a)",
            "extract(week FROM z)",
            "extract(dow FROM a)",
            "extract(doy FROM z)",
            "extract(timezone FROM z)",
            "extract(microseconds FROM a)",
            "extract(milliseconds FROM a)",
            "date_part('epoch', a)",
            "date_part('second', z)",
            "a AT TIME ZONE 'America/New_York'",
            "z AT TIME ZONE 'Europe/Berlin'",
            "z AT TIME ZONE '+05:30'",
            "isfinite(a)",
            "to_char(a, 'YYYY-MM-DD HH24:MI:SS.US')",
            "to_char(a, 'DY, DD Mon YY HH:MI AM BC')",
            "to_char(z, 'YYYY-MM-DD HH24:MI:SS TZ OF')",
            "to_char(a, 'IYYY IW ID SSSS MS J CC RM')",
            "to_char(a, 'FMDay, FMDDth FMMonth YYYY')",
            "to_json(a)",
            "greatest(a, b)",
            "to_timestamp(to_char(a, 'YYYY-MM-DD HH24:MI:SS.US BC'), 'YYYY-MM-DD HH24:MI:SS.US BC')",
            "(a, i) OVERLAPS (b, i)",
            "to_timestamp(extract(epoch FROM a)::float8)",
        ],
    },
    Family {
        name: "intervals",
        columns: &[
            ("i", "interval", Random::interval),
            ("j", "interval", Random::interval),
            ("f", "float8", |random| {
                format!("{}{}.{}", random.sign(), random.below(100), random.below(1000))
            }),
        ],
        expressions: &[
            "i",
            "i::text",
            "i + j",
            "i - j",
            "-i",
            "i * f",
            "f * i",
            "i / f",
            "i = j",
            "i < j",
            "i > j",
            "justify_days(i)",
            "justify_hours(i)",
            "justify_interval(i)",
            "extract(epoch FROM i)",
            "extract(month FROM i)",
            "extract(year FROM i)",
            "extract(day FROM i)",
            "extract(hour FROM i)",
            "extract(second FROM i)",
            "extract(microseconds FROM i)",
            "extract(quarter FROM i)",
            "extract(decade FROM i)",
            "date_part('epoch', i)",
            "date_part('milliseconds', i)",
            "date_trunc('hour', i)",
            "date_trunc('month', i)",
            "date_trunc('year', i)",
            "i::time",
            "i(2)",
            "i::interval day to minute",
            "i::interval year to month",
            "i::interval second(1)",
            "to_char(i, 'YYYY MM DD HH24:MI:SS.US')",
            "to_char(i, 'FMDD FMHH12 MS')",
            "greatest(i, j)",
            "make_interval(days => 3) + i",
            "timestamp '2001-02-28' + i",
            "date '2024-02-29' + i * 2",
        ],
    },
    Family {
        name: "timetzs",
        columns: &[
            ("a", "timetz", |random| format!("{}{}", random.time(), random.zone())),
            ("b", "timetz", |random| format!("{}{}", random.time(), random.zone())),
            ("i", "interval", Random::interval),
            ("d", "date", Random::date),
        ],
        expressions: &[
            "a",
            "a::text",
            "a = b",
            "a < b",
            "a >= b",
            "a + i",
            "a - i",
            "i + a",
            "d + a",
            "a + d",
            "a::time",
            "a(3)",
            "extract(epoch FROM a)",
            "extract(timezone FROM a)",
            "extract(timezone_hour FROM a)",
            "extract(timezone_minute FROM a)",
            "extract(second FROM a)",
            "date_part('epoch', a)",
            "a AT TIME ZONE 'UTC'",
            "a AT TIME ZONE '-07'",
            "a AT TIME ZONE interval '05:30'",
            "greatest(a, b)",
            "(a, b) OVERLAPS (b, a)",
        ],
    },
];

/// What one row's value was, or how it failed.
type Answer = Result<Option<String>, (String, String)>;

/// The answers for the rows from `low` to `high`, in order. Where a statement fails, each half is asked alone.
fn ask(client: &mut Client, table: &str, expression: &str, low: usize, high: usize) -> Vec<Answer> {
    let sql =
        format!("SELECT {expression} FROM {table} WHERE id >= {low} AND id < {high} ORDER BY id");
    let reply = client.query(&sql);
    match reply.error {
        None => {
            assert_eq!(reply.rows.len(), high - low, "{sql}");
            reply.rows.into_iter().map(|mut row| Ok(row.remove(0))).collect()
        }
        Some(error) if high - low == 1 => {
            vec![Err((error.field(b'C').to_owned(), error.field(b'M').to_owned()))]
        }
        // What is not about a row is the same for all of them.
        Some(error)
            if matches!(error.field(b'C'), "42883" | "42601" | "0A000" | "42725" | "42846") =>
        {
            let failed = (error.field(b'C').to_owned(), error.field(b'M').to_owned());
            vec![Err(failed); high - low]
        }
        Some(_) => {
            let middle = usize::midpoint(low, high);
            let mut answers = ask(client, table, expression, low, middle);
            answers.extend(ask(client, table, expression, middle, high));
            answers
        }
    }
}

fn load(client: &mut Client, family: &Family, rows: &[Vec<String>]) {
    let columns: Vec<String> =
        family.columns.iter().map(|(name, ty, _)| format!("{name} {ty}")).collect();
    let table = family.name;
    client.run(&format!("CREATE TABLE {table} (id int PRIMARY KEY, {})", columns.join(", ")));
    let mut data = String::new();
    for (id, row) in rows.iter().enumerate() {
        writeln!(data, "{id}\t{}", row.join("\t")).expect("a string grows");
    }
    let reply = client.copy_in(&format!("COPY {table} FROM STDIN"), data.as_bytes());
    assert!(reply.error.is_none(), "{table}: {:?}", reply.error);
}

#[test]
fn random_operands_give_what_they_give_in_postgresql() {
    let rows = setting("ATOLL_OPERANDS", ROWS as u64) as usize;
    let seed = setting("ATOLL_SEED", SEED);
    let atoll = Atoll::start(&[]);
    let ports = [oracle::shared(), atoll.port()];
    Client::connect(ports[0], "postgres", "postgres").run("CREATE DATABASE operands");
    Client::connect(ports[1], "postgres", "postgres").run("CREATE DATABASE operands");
    let mut clients = ports.map(|port| Client::connect(port, "postgres", "operands"));
    let mut failures = String::new();
    let mut compared = 0;
    for (number, family) in FAMILIES.iter().enumerate() {
        let mut random = Random(seed.wrapping_mul(1009).wrapping_add(number as u64));
        let operands: Vec<Vec<String>> = (0..rows)
            .map(|_| family.columns.iter().map(|(_, _, make)| make(&mut random)).collect())
            .collect();
        for client in &mut clients {
            load(client, family, &operands);
        }
        for expression in family.expressions {
            let [wanted, actual] =
                clients.each_mut().map(|client| ask(client, family.name, expression, 0, rows));
            compared += rows;
            let mut different = 0;
            for (id, (wanted, actual)) in wanted.iter().zip(&actual).enumerate() {
                if wanted == actual {
                    continue;
                }
                different += 1;
                if different <= SHOWN_MAX {
                    writeln!(
                        failures,
                        "{expression} of {:?}:\n  PostgreSQL {wanted:?}\n  Atoll      {actual:?}",
                        operands[id]
                    )
                    .expect("a string grows");
                }
            }
            if different > SHOWN_MAX {
                writeln!(failures, "{expression}: {different} differences")
                    .expect("a string grows");
            }
        }
    }
    Client::connect(ports[0], "postgres", "postgres").run("DROP DATABASE operands WITH (FORCE)");
    println!("{compared} answers compared");
    assert!(failures.is_empty(), "ATOLL_SEED={seed} ATOLL_OPERANDS={rows}:\n{failures}");
}
