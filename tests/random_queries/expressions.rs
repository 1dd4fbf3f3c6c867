//! Expressions by type: total ones, so that no order of evaluation makes an error of them; and, where that is wanted, a
//! value of another type in the place of one, which is refused or is not.

use crate::queries::Maker;
use crate::world::{TYPES, Type, literal};

/// What an expression may name.
#[derive(Clone, Debug, Default)]
pub struct Scope {
    /// Texts that mean a value, and their types.
    pub columns: Vec<(String, Type)>,
    /// Those of queries around, as plain columns.
    pub outer: Vec<(String, Type)>,
    /// What stands for whole rows.
    pub rows: Vec<String>,
}

impl Scope {
    /// What a subquery sees of this scope. Grouping expressions that are no columns mean nothing there.
    pub fn within(&self) -> Vec<(String, Type)> {
        let plain =
            |text: &str| text.bytes().all(|b| b.is_ascii_alphanumeric() || b"._\"".contains(&b));
        self.columns.iter().chain(&self.outer).filter(|(text, _)| plain(text)).cloned().collect()
    }
}

impl Maker<'_> {
    pub fn any_type(&mut self) -> Type {
        // The first ones more often.
        let bound = self.below(TYPES.len()) + 1;
        TYPES[self.below(bound)]
    }

    /// A column of the type, or a literal.
    pub fn leaf(&mut self, ty: Type, scope: &Scope) -> String {
        let fitting = |columns: &[(String, Type)]| -> Vec<String> {
            columns.iter().filter(|(_, of)| *of == ty).map(|(text, _)| text.clone()).collect()
        };
        let (own, outer) = (fitting(&scope.columns), fitting(&scope.outer));
        if !own.is_empty() && self.below(6) > 0 {
            return own[self.below(own.len())].clone();
        }
        if !outer.is_empty() && self.below(3) > 0 {
            return outer[self.below(outer.len())].clone();
        }
        if self.parameters.is_some() && self.below(2) == 0 {
            return self.parameter(ty);
        }
        if self.below(12) == 0 {
            return format!("NULL::{}", ty.name());
        }
        literal(&mut self.chance, ty)
    }

    /// A parameter of the type: a new one, or one that is there.
    fn parameter(&mut self, ty: Type) -> String {
        let again = self.below(3) == 0;
        let parameters = self.parameters.get_or_insert_default();
        let known = parameters.iter().position(|of| again && *of == ty);
        let at = known.unwrap_or_else(|| {
            parameters.push(ty);
            parameters.len() - 1
        });
        format!("${}", at + 1)
    }

    pub fn expression(&mut self, ty: Type, scope: &Scope, depth: usize) -> String {
        if self.mistakes > 0 && self.below(12) == 0 {
            self.mistakes -= 1;
            let other = self.any_type();
            return self.leaf(other, scope);
        }
        if depth == 0 || self.below(4) == 0 {
            return self.leaf(ty, scope);
        }
        if !self.functions.is_empty()
            && self.below(4) == 0
            && let Some(call) = self.call(ty, scope, depth)
        {
            return call;
        }
        if self.below(4) == 0 {
            return self.of_any_type(ty, scope, depth - 1);
        }
        if self.below(12) == 0
            && let Some(text) = self.of_rows(ty, scope, depth - 1)
        {
            return text;
        }
        let of = |maker: &mut Self, ty| maker.expression(ty, scope, depth - 1);
        match ty {
            Type::Int => match self.below(30) {
                13 => format!("array_position({}, {})", of(self, Type::Ints), of(self, ty)),
                14 => format!("array_length({}, 1)", of(self, Type::Ints)),
                15 => format!("ascii({})", of(self, Type::Text)),
                16 => format!("({} & 7)", of(self, ty)),
                17 => format!("({} # {})", of(self, ty), of(self, ty)),
                18 => format!("({} % 8 << 2)", of(self, ty)),
                19 => format!("sign({})::int", of(self, ty)),
                20 => format!("position({} IN {})", of(self, Type::Text), of(self, Type::Text)),
                21 => format!("regexp_count({}, '[ab]')", of(self, Type::Text)),
                22 => format!("extract(day FROM {})::int", of(self, Type::Stamp)),
                23 => format!("width_bucket({}, 0, 9, 4)", of(self, ty)),
                24 => format!("octet_length({})", of(self, Type::Text)),
                25 => format!("mod({}, 7)", of(self, ty)),
                26 => format!("gcd({}, 6)", self.leaf(ty, scope)),
                27 => format!("({} % 100::numeric)::int", of(self, Type::Num)),
                28 => format!(
                    "jsonb_array_length(jsonb_build_array({}, {}))",
                    of(self, Type::Json),
                    of(self, ty)
                ),
                0 => format!("({} + {})", of(self, ty), of(self, ty)),
                1 => format!("({} - {})", of(self, ty), of(self, ty)),
                2 => format!("({} * {} % 100)", self.leaf(ty, scope), self.leaf(ty, scope)),
                3 => format!("({} / nullif({}, 0))", of(self, ty), of(self, ty)),
                4 => format!("length({})", of(self, Type::Text)),
                5 => format!("({})::int", of(self, Type::Bool)),
                6 => format!("({} - {})", of(self, Type::Date), of(self, Type::Date)),
                7 => format!("extract(month FROM {})::int", of(self, Type::Date)),
                8 => format!("cardinality({})", of(self, Type::Ints)),
                9 => format!("({})[{}]", of(self, Type::Ints), of(self, ty)),
                10 => format!("({} % 1000)::int", of(self, Type::Big)),
                11 => format!("strpos({}, {})", of(self, Type::Text), of(self, Type::Text)),
                12 => format!("(- {})", of(self, ty)),
                _ => format!("abs({})", of(self, ty)),
            },
            Type::Big => match self.below(8) {
                3 => format!("extract(epoch FROM {})::bigint", of(self, Type::Date)),
                4 => format!("({} % 1000 * {})", of(self, ty), of(self, Type::Int)),
                5 => format!("(- {})", of(self, ty)),
                6 => format!("abs({})", of(self, ty)),
                0 => format!("({} + {})", of(self, ty), of(self, ty)),
                1 => format!("({})::bigint", of(self, Type::Int)),
                2 => format!("({} - {})", of(self, ty), of(self, Type::Int)),
                _ => self.aggregated_subquery(ty, scope, depth - 1),
            },
            Type::Num => match self.below(14) {
                4 => format!("round(trunc({}, 1), 2)", of(self, ty)),
                5 => format!("round(ceil({}), 2)", of(self, ty)),
                6 => format!("round(floor({}), 2)", of(self, ty)),
                7 => format!("round(mod({}, 3.5), 2)", of(self, ty)),
                8 => format!("round(extract(epoch FROM {}), 2)", of(self, Type::Stamp)),
                9 => format!("round(sqrt(abs({})), 2)", of(self, ty)),
                10 => format!("round(div({}, 2.5), 2)", of(self, ty)),
                11 => format!("({} - {})", of(self, ty), of(self, ty)),
                12 => format!("round(extract(second FROM {}), 2)", of(self, Type::Stamp)),
                0 => format!("({} + {})", of(self, ty), of(self, ty)),
                1 => format!("round({} * {}, 2)", self.leaf(ty, scope), self.leaf(ty, scope)),
                2 => format!("round(({})::numeric, 2)", of(self, Type::Int)),
                3 => format!("round({} / nullif({}, 0), 2)", of(self, ty), of(self, ty)),
                _ => format!("abs({})", of(self, ty)),
            },
            Type::Float => match self.below(9) {
                2 => format!("floor({})", of(self, ty)),
                3 => format!("trunc({} / 2)", of(self, ty)),
                4 => format!("sign({})", of(self, ty)),
                5 => format!("({} * 2)", of(self, ty)),
                6 => format!("abs({})", of(self, ty)),
                7 => format!("round({})::float8", of(self, Type::Num)),
                0 => format!("({} + {})", of(self, ty), of(self, ty)),
                1 => format!("({})::float8", of(self, Type::Int)),
                _ => format!("({} - {})", of(self, ty), of(self, Type::Int)),
            },
            Type::Text => match self.below(38) {
                12 => format!("split_part({}, 'b', {})", of(self, ty), [1, 2, -1][self.below(3)]),
                13 => format!("regexp_replace({}, '[ab]', 'x', 'g')", of(self, ty)),
                14 => format!("regexp_substr({}, 'b.?')", of(self, ty)),
                15 => format!("translate({}, 'ab', 'b')", of(self, ty)),
                16 => format!("initcap({})", of(self, ty)),
                17 => format!("md5({})", of(self, ty)),
                18 => format!(
                    "format('%s-%L-%5s', {}, {}, {})",
                    of(self, ty),
                    of(self, ty),
                    of(self, Type::Int)
                ),
                19 => format!("to_char({}, 'YYYY-MM \"q\"Q Day')", of(self, Type::Date)),
                20 => format!("to_char({}, 'FM9990.0S')", of(self, Type::Num)),
                21 => format!("array_to_string({}, ',', '*')", of(self, Type::Ints)),
                22 => format!("quote_nullable({})", of(self, ty)),
                23 => format!("overlay({} PLACING 'x' FROM 2 FOR 1)", of(self, ty)),
                24 => format!("repeat({}, {} % 3)", of(self, ty), of(self, Type::Int)),
                25 => format!("rpad({}, 3, 'yz')", of(self, ty)),
                26 => format!(
                    "concat_ws('-', {}, {}, {})",
                    of(self, ty),
                    of(self, Type::Int),
                    of(self, ty)
                ),
                27 => format!("({} #>> '{{a}}')", of(self, Type::Json)),
                28 => format!("jsonb_typeof({})", of(self, Type::Json)),
                29 => format!("right({}, {} % 4)", of(self, ty), of(self, Type::Int)),
                30 => format!("btrim({}, 'a')", of(self, ty)),
                31 => format!("({})::char(3)::text", of(self, ty)),
                32 => format!("({} COLLATE \"C\")", of(self, ty)),
                33 => format!("encode({}::bytea, 'hex')", self.leaf(ty, scope)),
                34 => format!("substring({} FROM 'a(.)')", of(self, ty)),
                35 => format!("chr(97 + abs({} % 20))", of(self, Type::Int)),
                36 => format!("starts_with({}, {})::text", of(self, ty), of(self, ty)),
                0 => format!("({} || {})", of(self, ty), of(self, ty)),
                1 => format!("({} || {})", of(self, ty), of(self, Type::Int)),
                2 => format!("upper({})", of(self, ty)),
                3 => format!("substr({}, {}, 2)", of(self, ty), self.leaf(Type::Int, scope)),
                4 => format!("left({}, {})", of(self, ty), of(self, Type::Int)),
                5 => format!("replace({}, 'a', {})", of(self, ty), self.leaf(ty, scope)),
                6 => {
                    let from = self.any_type();
                    format!("({})::text", of(self, from))
                }
                7 => format!("lpad({}, 4, 'x')", of(self, ty)),
                8 => format!("concat({}, {})", of(self, ty), of(self, Type::Int)),
                9 => format!("({} ->> 'a')", of(self, Type::Json)),
                10 => format!("reverse({})", of(self, ty)),
                11 => format!("trim({})", of(self, ty)),
                _ => format!("({})::varchar(3)", of(self, ty)),
            },
            Type::Bool => self.condition(scope, depth - 1),
            Type::Date => match self.below(7) {
                2 => format!("({} - {} % 40)", of(self, ty), of(self, Type::Int)),
                3 => format!("make_date(2024, 1 + abs({} % 12), 1)", of(self, Type::Int)),
                4 => format!("greatest({}, {})", of(self, ty), of(self, ty)),
                5 => format!(
                    "to_date('2024-' || (1 + abs({} % 12)), 'YYYY-MM')",
                    of(self, Type::Int)
                ),
                0 => format!("({} + {})", of(self, ty), self.leaf(Type::Int, scope)),
                1 => format!("({})::date", of(self, Type::Stamp)),
                _ => format!("date_trunc('month', {})::date", of(self, ty)),
            },
            Type::Stamp => match self.below(8) {
                2 => format!("date_bin('1 hour', {}, timestamp '2001-01-01')", of(self, ty)),
                3 => format!("({} - interval '1 month')", of(self, ty)),
                4 => format!(
                    "({} + make_interval(0, 0, 0, {} % 10))",
                    of(self, ty),
                    of(self, Type::Int)
                ),
                5 => format!("(({} AT TIME ZONE 'Asia/Kolkata') AT TIME ZONE 'UTC')", of(self, ty)),
                6 => format!("({} + time '10:30')", of(self, Type::Date)),
                0 => format!("({} + interval '1 day')", of(self, ty)),
                1 => format!("({})::timestamp", of(self, Type::Date)),
                _ => format!("date_trunc('hour', {})", of(self, ty)),
            },
            Type::Ints => match self.below(11) {
                5 => format!("array_append({}, {})", of(self, ty), of(self, Type::Int)),
                6 => format!("array_prepend({}, {})", of(self, Type::Int), of(self, ty)),
                7 => format!(
                    "array_replace({}, {}, {})",
                    of(self, ty),
                    of(self, Type::Int),
                    of(self, Type::Int)
                ),
                8 => format!("array_positions({}, {})", of(self, ty), of(self, Type::Int)),
                9 => format!("array_cat({}, {})", of(self, ty), of(self, ty)),
                0 => format!("ARRAY[{}, {}]", of(self, Type::Int), of(self, Type::Int)),
                1 => format!("({} || {})", of(self, ty), of(self, Type::Int)),
                2 => format!("({} || {})", of(self, ty), of(self, ty)),
                3 => format!("array_remove({}, {})", of(self, ty), of(self, Type::Int)),
                4 => format!("({})[1:{}]", of(self, ty), self.leaf(Type::Int, scope)),
                _ => {
                    let query = self.query(&[Type::Int], &scope.within(), depth - 1);
                    format!("ARRAY(SELECT q.c1 FROM ({query}) q ORDER BY 1)")
                }
            },
            Type::Json => match self.below(12) {
                3 => format!("({} || {})", of(self, ty), of(self, ty)),
                4 => format!("jsonb_strip_nulls({})", of(self, ty)),
                5 => format!("({} #> '{{a}}')", of(self, ty)),
                6 => format!("to_jsonb({})", of(self, Type::Ints)),
                7 => format!("jsonb_path_query_first({}, '$.a')", of(self, ty)),
                8 => format!("jsonb_path_query_array({}, '$.*')", of(self, ty)),
                9 => format!("(jsonb_build_object('a', {}) - 'a')", of(self, ty)),
                10 => format!(
                    "jsonb_set(jsonb_build_object('a', {}), '{{a}}', {})",
                    of(self, ty),
                    of(self, ty)
                ),
                0 => {
                    let (one, other) = (self.any_type(), self.any_type());
                    format!("jsonb_build_object('a', {}, 'b', {})", of(self, one), of(self, other))
                }
                1 => {
                    let from = self.any_type();
                    format!("to_jsonb({})", self.leaf(from, scope))
                }
                2 => format!("({} -> 'a')", of(self, ty)),
                _ => {
                    format!("jsonb_build_array({}, {})", of(self, Type::Int), of(self, Type::Text))
                }
            },
            Type::Mood => format!("coalesce({}, {})", of(self, ty), of(self, ty)),
        }
    }

    /// What reads a whole row, a value of a composite type, or one of a domain.
    fn of_rows(&mut self, ty: Type, scope: &Scope, depth: usize) -> Option<String> {
        let of = |maker: &mut Self, ty| maker.expression(ty, scope, depth);
        let pair = |maker: &mut Self| match maker.below(3) {
            0 => "NULL::pair".to_owned(),
            1 => format!("jsonb_populate_record(NULL::pair, '{{\"a\": {}}}')", maker.below(4)),
            _ => format!(
                "ROW({}, {})::pair",
                maker.expression(Type::Int, scope, depth),
                maker.expression(Type::Text, scope, depth)
            ),
        };
        let row = match scope.rows.len() {
            0 => pair(self),
            count => match self.below(3) {
                0 => pair(self),
                _ => scope.rows[self.below(count)].clone(),
            },
        };
        let named = !row.ends_with(')') && !row.starts_with("NULL");
        Some(match ty {
            Type::Int => match self.below(3) {
                0 => format!("({}).a", pair(self)),
                1 => format!("({})::whole", of(self, ty)),
                _ => format!("CAST({} AS whole)", of(self, Type::Num)),
            },
            Type::Text => match self.below(4) {
                0 => format!("({}).b", pair(self)),
                1 => format!("({})::word", of(self, ty)),
                2 => format!("({row})::text"),
                _ => format!("({})::text::word", of(self, Type::Int)),
            },
            Type::Bool => match self.below(7) {
                0 => format!("({row} IS NULL)"),
                1 => format!("({row} IS NOT NULL)"),
                2 => format!("({} {} {})", pair(self), self.comparison(), pair(self)),
                3 => format!("({row} IS DISTINCT FROM {row})"),
                4 if named => format!("({row}.* = {row}.*)"),
                5 => format!("({} = ANY (ARRAY[{}, {}]))", pair(self), pair(self), pair(self)),
                _ => format!("(NOT {row} IS NULL)"),
            },
            Type::Json => match self.below(3) {
                0 => format!("to_jsonb({row})"),
                1 => format!("row_to_json({row})::jsonb"),
                _ => format!("to_jsonb(ARRAY[{}])", pair(self)),
            },
            Type::Ints => format!("ARRAY[({}).a]", pair(self)),
            _ => return None,
        })
    }

    /// What gives several rows where it stands in a select list.
    pub fn set(&mut self, ty: Type, scope: &Scope, depth: usize) -> Option<String> {
        let of = |maker: &mut Self, ty| maker.expression(ty, scope, depth);
        Some(match ty {
            Type::Int => match self.below(4) {
                0 => format!("unnest({})", of(self, Type::Ints)),
                1 => format!("generate_series({} % 5, 3)", self.leaf(ty, scope)),
                // PostgreSQL computes an operand that is NULL while it plans, and drops the set.
                2 => format!("(unnest({}) + 1)", of(self, Type::Ints)),
                _ => format!("generate_series(1, generate_series(1, {}))", self.below(3)),
            },
            Type::Text => match self.below(3) {
                0 => format!("unnest(string_to_array({}, 'b'))", of(self, ty)),
                1 => format!("regexp_split_to_table({}, 'b')", of(self, ty)),
                _ => format!("(unnest({}) || 'x')", of(self, Type::Ints)),
            },
            Type::Json => format!("jsonb_path_query({}, '$.*')", of(self, ty)),
            Type::Date => format!(
                "generate_series(date '2024-01-01', {}, '1 month')::date",
                literal(&mut self.chance, ty)
            ),
            _ => return None,
        })
    }

    /// What gives a value of any type.
    fn of_any_type(&mut self, ty: Type, scope: &Scope, depth: usize) -> String {
        let of = |maker: &mut Self, ty| maker.expression(ty, scope, depth);
        match self.below(9) {
            0 => format!("CASE WHEN {} THEN {} END", of(self, Type::Bool), of(self, ty)),
            1 => format!(
                "CASE WHEN {} THEN {} WHEN {} THEN {} ELSE {} END",
                of(self, Type::Bool),
                of(self, ty),
                of(self, Type::Bool),
                of(self, ty),
                of(self, ty)
            ),
            2 => {
                let tested = self.any_type();
                format!(
                    "CASE {} WHEN {} THEN {} WHEN {} THEN {} ELSE NULL END",
                    of(self, tested),
                    of(self, tested),
                    of(self, ty),
                    of(self, tested),
                    of(self, ty)
                )
            }
            3 => format!("coalesce({}, {})", of(self, ty), of(self, ty)),
            4 => format!("nullif({}, {})", of(self, ty), of(self, ty)),
            5 if ty != Type::Json => format!("greatest({}, {})", of(self, ty), of(self, ty)),
            6 if ty != Type::Json => format!("least({}, {}, NULL)", of(self, ty), of(self, ty)),
            7 => self.aggregated_subquery(ty, scope, depth),
            _ => {
                let query = self.query(&[ty], &scope.within(), depth);
                format!(
                    "(SELECT q.c1 FROM ({query}) q ORDER BY 1 {}LIMIT 1)",
                    ["", "DESC "][self.below(2)]
                )
            }
        }
    }

    /// An aggregate over a subquery: one value, whatever there is.
    fn aggregated_subquery(&mut self, ty: Type, scope: &Scope, depth: usize) -> String {
        let (from, inner) = self.from(&scope.within(), depth);
        let aggregate = self.aggregate(ty, &inner, depth);
        let mut text = format!("(SELECT {aggregate} FROM {from}");
        if self.below(2) == 0 {
            text.push_str(&format!(" WHERE {}", self.expression(Type::Bool, &inner, depth)));
        }
        text.push(')');
        text
    }

    /// An aggregate call of the type.
    pub fn aggregate(&mut self, ty: Type, scope: &Scope, depth: usize) -> String {
        // What an aggregate is computed of is its own query's: of others' columns alone it would be theirs.
        let own = Scope { outer: Vec::new(), ..scope.clone() };
        let of = |maker: &mut Self, ty| maker.expression(ty, &own, depth.min(1));
        let plain = match ty {
            Type::Int => match self.below(3) {
                0 => format!("max({})", of(self, ty)),
                1 => format!("min({})", of(self, ty)),
                _ => {
                    return format!(
                        "count({}{})::int",
                        ["", "DISTINCT "][self.below(2)],
                        of(self, Type::Text)
                    );
                }
            },
            Type::Big => match self.below(4) {
                0 => "count(*)".to_owned(),
                1 => format!("sum({})", of(self, Type::Int)),
                2 => format!("count(DISTINCT {})", of(self, Type::Int)),
                _ => {
                    let counted = self.any_type();
                    format!("count({})", of(self, counted))
                }
            },
            Type::Num => match self.below(3) {
                0 => {
                    return format!(
                        "round(avg({}{}), 2)",
                        ["", "DISTINCT "][self.below(2)],
                        of(self, Type::Int)
                    );
                }
                1 => format!("sum({})", of(self, ty)),
                _ => format!("max({})", of(self, ty)),
            },
            Type::Float => format!("sum({})", of(self, ty)),
            Type::Text => match self.below(2) {
                0 => {
                    let text = of(self, ty);
                    format!(
                        "string_agg({text}, ',' ORDER BY {text}{})",
                        ["", " DESC"][self.below(2)]
                    )
                }
                _ => format!("max({})", of(self, ty)),
            },
            Type::Bool => match self.below(2) {
                0 => format!("bool_and({})", of(self, ty)),
                _ => format!("bool_or({})", of(self, ty)),
            },
            Type::Ints => {
                let value = of(self, Type::Int);
                let distinct = ["", "DISTINCT "][self.below(2)];
                format!("array_agg({distinct}{value} ORDER BY {value})")
            }
            Type::Json => {
                let value = of(self, Type::Int);
                format!("jsonb_agg({value} ORDER BY {value})")
            }
            Type::Date | Type::Stamp | Type::Mood => format!("max({})", of(self, ty)),
        };
        let plain = match self.below(8) {
            0 if ty != Type::Json && ty != Type::Bool => {
                let place = ["0", "0.25", "0.5", "1"][self.below(4)];
                let order = ["", " DESC"][self.below(2)];
                format!("percentile_disc({place}) WITHIN GROUP (ORDER BY {}{order})", of(self, ty))
            }
            1 if ty == Type::Big => {
                let ranked = self.any_type();
                let function = ["rank", "dense_rank"][self.below(2)];
                let hypothetical = literal(&mut self.chance, ranked);
                format!("{function}({hypothetical}) WITHIN GROUP (ORDER BY {})", of(self, ranked))
            }
            2 if ty == Type::Big && !scope.rows.is_empty() => {
                format!("count({})", scope.rows[self.below(scope.rows.len())])
            }
            _ => plain,
        };
        if self.below(4) == 0 {
            let condition = self.expression(Type::Bool, &own, 1);
            return format!("{plain} FILTER (WHERE {condition})");
        }
        plain
    }

    fn comparison(&mut self) -> &'static str {
        ["=", "<>", "<", "<=", ">", ">=", "=", "="][self.below(8)]
    }

    fn condition(&mut self, scope: &Scope, depth: usize) -> String {
        let of = |maker: &mut Self, ty| maker.expression(ty, scope, depth);
        let ty = self.any_type();
        match self.below(36) {
            0 | 1 => format!("({} AND {})", of(self, Type::Bool), of(self, Type::Bool)),
            2 | 3 => format!("({} OR {})", of(self, Type::Bool), of(self, Type::Bool)),
            4 => format!("(NOT {})", of(self, Type::Bool)),
            5 => format!("({} IS NULL)", of(self, ty)),
            6 => format!("({} IS NOT NULL)", of(self, ty)),
            7 => format!("({} IS DISTINCT FROM {})", of(self, ty), of(self, ty)),
            8 => format!("({} IS NOT TRUE)", of(self, Type::Bool)),
            9 => {
                let form = ["BETWEEN", "NOT BETWEEN", "BETWEEN SYMMETRIC"][self.below(3)];
                format!("({} {form} {} AND {})", of(self, ty), of(self, ty), of(self, ty))
            }
            10 => {
                let form = ["IN", "NOT IN"][self.below(2)];
                format!(
                    "({} {form} ({}, {}, {}))",
                    of(self, ty),
                    of(self, ty),
                    self.leaf(ty, scope),
                    self.leaf(ty, scope)
                )
            }
            11 | 12 => {
                let form = ["IN", "NOT IN"][self.below(2)];
                let query = self.query(&[ty], &scope.within(), depth);
                format!("({} {form} ({query}))", of(self, ty))
            }
            13 | 14 => {
                let form = ["EXISTS", "NOT EXISTS"][self.below(2)];
                let query = self.query(&[ty], &scope.within(), depth);
                format!("({form} ({query}))")
            }
            15 => {
                let (operator, form) = (self.comparison(), ["ANY", "ALL"][self.below(2)]);
                let query = self.query(&[ty], &scope.within(), depth);
                format!("({} {operator} {form} ({query}))", of(self, ty))
            }
            16 => {
                let (operator, form) = (self.comparison(), ["ANY", "ALL"][self.below(2)]);
                format!("({} {operator} {form} ({}))", of(self, Type::Int), of(self, Type::Ints))
            }
            17 => {
                let (operator, other) = (self.comparison(), self.any_type());
                format!(
                    "(({}, {}) {operator} ({}, {}))",
                    of(self, ty),
                    of(self, other),
                    of(self, ty),
                    of(self, other)
                )
            }
            18 => {
                let form = ["IN", "NOT IN"][self.below(2)];
                let query = self.query(&[ty, Type::Int], &scope.within(), depth);
                format!("(({}, {}) {form} ({query}))", of(self, ty), of(self, Type::Int))
            }
            19 => {
                let form = [
                    "LIKE 'a%'",
                    "LIKE '%b'",
                    "NOT LIKE '_'",
                    "~ '^a'",
                    "ILIKE 'A%'",
                    "SIMILAR TO '(a|b)%'",
                ][self.below(6)];
                format!("({} {form})", of(self, Type::Text))
            }
            20 => format!(
                "({} {} {})",
                of(self, Type::Ints),
                ["@>", "<@", "&&"][self.below(3)],
                of(self, Type::Ints)
            ),
            21 => format!("({} @> {})", of(self, Type::Json), self.leaf(Type::Json, scope)),
            22 => format!(
                "({} {} {})",
                self.leaf(Type::Int, scope),
                self.comparison(),
                of(self, Type::Big)
            ),
            26 => format!("({} ? 'a')", of(self, Type::Json)),
            27 => format!("({} ^@ {})", of(self, Type::Text), of(self, Type::Text)),
            28 => format!(
                "(({}, {}) OVERLAPS ({}, {}))",
                of(self, Type::Date),
                of(self, Type::Date),
                of(self, Type::Date),
                of(self, Type::Date)
            ),
            29 => format!(
                "({} LIKE ALL (ARRAY['a%', '%', {}]))",
                of(self, Type::Text),
                of(self, Type::Text)
            ),
            30 => format!(
                "(({}, {}) IN (({}, {}), (1, {})))",
                of(self, Type::Int),
                of(self, Type::Text),
                of(self, Type::Int),
                of(self, Type::Text),
                of(self, Type::Text)
            ),
            31 => format!(
                "(ROW({}, {}) IS {}NULL)",
                of(self, Type::Int),
                of(self, Type::Text),
                ["", "NOT "][self.below(2)]
            ),
            32 => format!(
                "(({}, {}) IS DISTINCT FROM ({}, {}))",
                of(self, Type::Int),
                of(self, Type::Text),
                of(self, Type::Int),
                of(self, Type::Text)
            ),
            33 => format!("({} IS UNKNOWN)", of(self, Type::Bool)),
            34 => format!(
                "({} = ANY (ARRAY[{}, {}]::text[]))",
                of(self, Type::Text),
                of(self, Type::Text),
                of(self, Type::Text)
            ),
            35 => format!("({} <@ {})", of(self, Type::Json), of(self, Type::Json)),
            _ => format!("({} {} {})", of(self, ty), self.comparison(), of(self, ty)),
        }
    }
}
