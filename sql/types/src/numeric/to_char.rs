//! `to_char` of numbers.
//!
//! PostgreSQL: `formatting.c` (`NUM_processor`, `NUM_numpart_to_char` and `numeric_to_char` with its neighbours); manual, 9.8. Each type
//! first prints the number's magnitude with as many decimals as the template has ([`Printed`]); then the template is
//! walked ([`Writer`]), one printed digit for each digit of it, from the right place on. A number with more digits before the
//! point than the template shows is printed as `#`.

use super::decimal::{Decimal, Rounding};
use super::stored::{Number, View};
use super::template::{Anchor, Item, Template};
use crate::account;
use crate::error::{Result, SqlError};
use crate::failure::out_of_range;
use crate::function::Callable::{self, Plain};
use crate::sqlstate::SqlState;
use crate::{CallContext, Datum};

/// By OID.
pub(crate) const FUNCTIONS: &[(u32, Callable)] = &[
    (1772, Plain(|c, a| formatted(c, a, of_numeric))),
    (1773, Plain(|c, a| formatted(c, a, |t, value| of_int4(t, value.int4())))),
    (1774, Plain(|c, a| formatted(c, a, |t, value| of_int8(t, value.int8())))),
    (1775, Plain(|c, a| formatted(c, a, |t, value| of_float4(t, value.float4())))),
    (1776, Plain(|c, a| formatted(c, a, |t, value| of_float8(t, value.float8())))),
];

/// A number as digits, before the template is walked.
enum Printed {
    /// The sign, and the magnitude's digits: `12.50`, `##.##`, `NaN`.
    Digits { negative: bool, text: String },
    /// Shown as it stands: with an exponent.
    Whole(String),
}

fn formatted<'a>(
    context: &CallContext<'a>,
    a: &[Datum<'a>],
    print: impl Fn(&mut Template, &Datum<'a>) -> Result<Printed>,
) -> Result<Datum<'a>> {
    let pattern = a[1].text();
    if pattern.is_empty() {
        return Ok(Datum::Text(""));
    }
    let mut template = Template::parse(pattern)?;
    let text = match print(&mut template, &a[0])? {
        Printed::Whole(text) => text,
        Printed::Digits { negative, text } => Writer::new(&template, negative, &text).write()?,
    };
    Ok(Datum::Text(account::copied_text(context.arena, &text)))
}

/// A number's text, with `#` for its digits where the template has too few places.
fn fitted(template: &Template, text: &str) -> Printed {
    let (negative, magnitude) = match text.strip_prefix('-') {
        Some(magnitude) => (true, magnitude),
        None => (false, text),
    };
    let before = magnitude.find('.').unwrap_or(magnitude.len());
    let text = if before > template.before {
        format!("{}.{}", "#".repeat(template.before), "#".repeat(template.behind))
    } else {
        magnitude.to_owned()
    };
    Printed::Digits { negative, text }
}

/// An integer has only zeros behind the point.
fn of_integer(template: &Template, mut text: String) -> Printed {
    if template.behind > 0 {
        text.push('.');
        text.extend(std::iter::repeat_n('0', template.behind));
    }
    fitted(template, &text)
}

fn roman(value: i32) -> Printed {
    const PLACES: [[&str; 10]; 4] = [
        ["", "M", "MM", "MMM", "", "", "", "", "", ""],
        ["", "C", "CC", "CCC", "CD", "D", "DC", "DCC", "DCCC", "CM"],
        ["", "X", "XX", "XXX", "XL", "L", "LX", "LXX", "LXXX", "XC"],
        ["", "I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX"],
    ];
    let text = match u16::try_from(value) {
        Ok(value @ 1..=3999) => {
            let digits = [value / 1000, value / 100 % 10, value / 10 % 10, value % 10];
            PLACES.iter().zip(digits).map(|(place, digit)| place[usize::from(digit)]).collect()
        }
        _ => "#".repeat(15),
    };
    Printed::Digits { negative: false, text }
}

/// What NaN and the infinities are with an exponent.
fn no_exponent(template: &Template) -> Printed {
    let mut text = "#".repeat(template.before + template.behind + 6);
    text.replace_range(..1, " ");
    let point = template.before + 1;
    text.replace_range(point..=point, ".");
    Printed::Whole(text)
}

/// A mantissa's text with its exponent, aligned where it has no sign.
fn with_exponent(mantissa: &str, exponent: i32) -> Printed {
    let space = if mantissa.starts_with('-') { "" } else { " " };
    Printed::Whole(format!("{space}{mantissa}e{exponent:+03}"))
}

fn decimal_with_exponent(template: &Template, value: &Decimal) -> Printed {
    let exponent = value
        .digits
        .first()
        .map_or(0, |&first| value.weight * super::decimal::DIGITS + first.ilog10() as i32);
    let mut power = Decimal::from_i128(1);
    power.weight = exponent.div_euclid(super::decimal::DIGITS);
    power.digits[0] = 10u16.pow(exponent.rem_euclid(super::decimal::DIGITS) as u32);
    let mut shown = Vec::new();
    value.divide(&power, template.behind as i32, Rounding::Nearest).write(&mut shown);
    with_exponent(&String::from_utf8_lossy(&shown), exponent)
}

fn of_numeric(template: &mut Template, value: &Datum<'_>) -> Result<Printed> {
    let view = View::of(value.numeric());
    if template.roman {
        let number = match view {
            View::Finite(number) => number.to_decimal().rounded(0).to_i128(),
            View::Nan => return Err(no_integer("NaN")),
            View::Infinity | View::NegativeInfinity => return Err(no_integer("infinity")),
        };
        let fits = number.and_then(|number| i32::try_from(number).ok());
        return fits.map(roman).ok_or_else(|| out_of_range("integer"));
    }
    let Some(finite) = view.finite() else {
        if template.exponent {
            return Ok(no_exponent(template));
        }
        if template.shifts {
            template.before += template.shift;
        }
        let mut text = Vec::new();
        super::text::write(Number::from(view).store(&bumpalo::Bump::new()), &mut text);
        return Ok(fitted(template, &String::from_utf8_lossy(&text)));
    };
    let mut number = finite.to_decimal();
    if template.exponent {
        return Ok(decimal_with_exponent(template, &number));
    }
    if template.shifts {
        number = number.multiply(&power_of_ten(template.shift)?).checked()?;
        template.before += template.shift;
    }
    let mut text = Vec::new();
    number.rounded(template.behind as i32).write(&mut text);
    Ok(fitted(template, &String::from_utf8_lossy(&text)))
}

/// 10 to this power, as the function `power` gives it.
fn power_of_ten(exponent: usize) -> Result<Decimal> {
    Decimal::from_i128(10).power(&Decimal::from_i128(exponent as i128))?.checked()
}

#[cold]
fn no_integer(what: &str) -> SqlError {
    SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, format!("cannot convert {what} to integer"))
}

fn of_int4(template: &mut Template, value: i32) -> Result<Printed> {
    if template.roman {
        return Ok(roman(value));
    }
    if template.exponent {
        return Ok(float_with_exponent(template, f64::from(value)));
    }
    let mut value = value;
    if template.shifts {
        // As the cast in C does, where the power does not fit either.
        let power = 10i32.checked_pow(template.shift as u32).unwrap_or(i32::MIN);
        value = value.wrapping_mul(power);
        template.before += template.shift;
    }
    Ok(of_integer(template, value.to_string()))
}

fn of_int8(template: &mut Template, value: i64) -> Result<Printed> {
    if template.roman {
        return i32::try_from(value).map(roman).map_err(|_| out_of_range("integer"));
    }
    if template.exponent {
        return Ok(decimal_with_exponent(template, &Decimal::from_i128(i128::from(value))));
    }
    let mut value = value;
    if template.shifts {
        let power = 10i64.checked_pow(template.shift as u32);
        value = power
            .and_then(|power| value.checked_mul(power))
            .ok_or_else(|| out_of_range("bigint"))?;
        template.before += template.shift;
    }
    Ok(of_integer(template, value.to_string()))
}

fn float_with_exponent(template: &Template, value: f64) -> Printed {
    if !value.is_finite() {
        return no_exponent(template);
    }
    let shown = format!("{value:.*e}", template.behind);
    let (mantissa, exponent) = shown.split_once('e').expect("it is written with an exponent");
    with_exponent(mantissa, exponent.parse().expect("an exponent is a number"))
}

fn of_float4(template: &mut Template, value: f32) -> Result<Printed> {
    if template.roman {
        return Ok(float_roman(f64::from(value)));
    }
    if template.exponent {
        return Ok(float_with_exponent(template, f64::from(value)));
    }
    let mut value = value;
    if template.shifts {
        value *= 10f64.powi(template.shift as i32) as f32;
        template.before += template.shift;
    }
    Ok(of_float(template, f64::from(value), f32::DIGITS as usize))
}

fn of_float8(template: &mut Template, value: f64) -> Result<Printed> {
    if template.roman {
        return Ok(float_roman(value));
    }
    if template.exponent {
        return Ok(float_with_exponent(template, value));
    }
    let mut value = value;
    if template.shifts {
        value *= 10f64.powi(template.shift as i32);
        template.before += template.shift;
    }
    Ok(of_float(template, value, f64::DIGITS as usize))
}

fn float_roman(value: f64) -> Printed {
    let value = value.round_ties_even();
    let fits = value >= f64::from(i32::MIN) && value < -f64::from(i32::MIN);
    roman(if fits { value as i32 } else { i32::MAX })
}

/// No more decimals are shown than the type is good for.
fn of_float(template: &mut Template, value: f64, significant: usize) -> Printed {
    let print = |value: f64, decimals: usize| {
        if value.is_infinite() {
            if value > 0.0 { "Infinity" } else { "-Infinity" }.to_owned()
        } else {
            format!("{value:.decimals$}")
        }
    };
    let before = print(value.abs(), 0).len();
    template.behind = template.behind.min(significant.saturating_sub(before));
    let text = print(value, template.behind);
    fitted(template, &text)
}

/// Walks a template over a printed number.
struct Writer<'t> {
    template: &'t Template,
    /// `-`, `+`, or NUL, which ends the text (PostgreSQL's is a C string): a Roman number's.
    sign: char,
    sign_written: bool,
    brackets: bool,
    anchor: Anchor,
    number: &'t [u8],
    /// How many of the number's characters have been written.
    at: usize,
    /// The last character behind the point that is not left out under `FM`.
    last_relevant: Option<usize>,
    /// How many of the template's digits come before the number's first.
    spaces: usize,
    /// Where in the template's digits the walk is, and where they end.
    place: usize,
    places: usize,
    /// A digit has been written, so that commas are.
    inside: bool,
    out: String,
}

impl<'t> Writer<'t> {
    fn new(template: &'t Template, negative: bool, number: &'t str) -> Writer<'t> {
        let number = number.as_bytes();
        let roman = template.roman;
        let point = number.iter().position(|&byte| byte == b'.');
        let before = if roman { 0 } else { template.before };
        let behind = if roman { 0 } else { template.behind };
        let spaces = before.saturating_sub(point.unwrap_or(number.len()));
        let sign = match (roman, negative) {
            (true, _) => '\0',
            (false, true) => '-',
            (false, false) => '+',
        };
        let mut writer = Writer {
            template,
            sign,
            sign_written: false,
            brackets: template.brackets && !roman,
            anchor: if roman { Anchor::None } else { template.anchor },
            number,
            at: 0,
            last_relevant: None,
            spaces,
            place: 0,
            places: before + behind,
            inside: false,
            out: String::new(),
        };
        if roman {
            return writer;
        }
        if template.plus || template.minus {
            writer.sign_written = template.minus;
        } else {
            if !negative && template.fill_mode {
                writer.brackets = false;
            }
            writer.sign_written = !negative && template.fill_mode && !template.signed;
            if template.anchor == Anchor::Before && template.before == template.anchor_at {
                writer.anchor = Anchor::Behind;
            }
        }
        if template.fill_mode && template.decimal {
            writer.last_relevant = point.map(|point| {
                let last = number.iter().rposition(|&byte| byte != b'0').unwrap_or(point);
                let kept = template.zeros_to.checked_sub(spaces).filter(|&kept| kept > 0);
                last.max(kept.unwrap_or(0).min(number.len() - 1))
            });
        }
        writer
    }

    fn write(mut self) -> Result<String> {
        let (template, fill_mode) = (self.template, self.template.fill_mode);
        let padding = if fill_mode { None } else { Some(' ') };
        for &item in account::stepping(template.items.iter()) {
            match item {
                Item::Digit { .. } | Item::Point if template.roman => {}
                Item::Digit { zero } => self.digit(zero),
                Item::Point => self.digit(false),
                Item::Comma { .. } if self.inside => self.out.push(','),
                Item::Comma { .. } => self.out.extend(padding),
                Item::Currency => self.out.push(' '),
                Item::Roman { upper } => {
                    let text = String::from_utf8_lossy(&self.number[self.at..]);
                    let text = if upper { text.into_owned() } else { text.to_lowercase() };
                    let width = if fill_mode { 0 } else { 15 };
                    self.out.push_str(&format!("{text:>width$}"));
                }
                Item::Ordinal { upper } => {
                    let none = template.roman
                        || self.number.first() == Some(&b'#')
                        || self.sign == '-'
                        || template.decimal;
                    if !none {
                        self.out.push_str(ordinal(self.number, upper)?);
                    }
                }
                Item::Minus if self.sign == '-' => self.out.push('-'),
                Item::Plus if self.sign == '+' => self.out.push('+'),
                Item::Minus | Item::Plus => self.out.extend(padding),
                Item::Sign => self.out.push(self.sign),
                Item::Whole => {}
                Item::Text(character) => self.out.push(character),
            }
        }
        if let Some(end) = self.out.find('\0') {
            self.out.truncate(end);
        }
        Ok(self.out)
    }

    fn current(&self) -> u8 {
        self.number.get(self.at).copied().unwrap_or(0)
    }

    /// Whether the number's only digit before the point is a zero that is not shown: ` .1`.
    fn hides_zero(&self) -> bool {
        self.template.zeros_from.is_none()
            && self.at == 0
            && self.number.first() == Some(&b'0')
            && self.template.behind != 0
    }

    /// Whether under `FM` nothing is left behind the point.
    fn ends_at_point(&self) -> bool {
        self.last_relevant.is_some_and(|last| self.number.get(last) == Some(&b'.'))
    }

    fn put_sign(&mut self) {
        let zeros = self.template.zeros_from;
        let due = self.place >= self.spaces || zeros == Some(self.place);
        if self.sign_written || !due || (self.hides_zero() && !self.ends_at_point()) {
            return;
        }
        if self.template.signed {
            if self.anchor == Anchor::Before {
                self.out.push(self.sign);
                self.sign_written = true;
            }
            return;
        }
        if self.brackets {
            self.out.push(if self.sign == '+' { ' ' } else { '<' });
        } else if self.sign == '-' {
            self.out.push('-');
        } else if !self.template.fill_mode {
            self.out.push(' ');
        }
        self.sign_written = true;
    }

    fn digit(&mut self, zero: bool) {
        self.inside = false;
        self.put_sign();
        let zeros = self.template.zeros_from.is_some_and(|from| from <= self.place);
        if self.place < self.spaces && !zeros {
            if !self.template.fill_mode {
                self.out.push(' ');
            }
        } else if self.place < self.spaces {
            self.out.push('0');
            self.inside = true;
        } else {
            self.printed(zero);
        }
        let counted = usize::from(!self.sign_written_at_start() && self.spaces == 0);
        let mut end = self.places + counted + usize::from(self.spaces > 0);
        end += usize::from(self.template.decimal);
        if self.last_relevant == Some(self.at) {
            end = self.place + 1;
        }
        if self.place + 2 == end {
            if self.sign_written && self.brackets {
                self.out.push(if self.sign == '+' { ' ' } else { '>' });
            } else if self.template.signed && self.anchor == Anchor::Behind {
                self.out.push(self.sign);
            }
        }
        self.place += 1;
    }

    /// Whether no sign was to be written when the walk began.
    fn sign_written_at_start(&self) -> bool {
        let template = self.template;
        if template.plus || template.minus {
            template.minus
        } else {
            self.sign == '+' && template.fill_mode && !template.signed
        }
    }

    /// Writes the number's next character.
    fn printed(&mut self, zero: bool) {
        let character = self.current();
        if character == b'.' {
            self.out.push('.');
        } else if self.last_relevant.is_some_and(|last| self.at > last) && !zero {
            // Left out.
        } else if self.hides_zero() {
            if !self.template.fill_mode {
                self.out.push(' ');
            } else if self.ends_at_point() {
                self.out.push('0');
            }
        } else {
            self.out.push(char::from(character));
            self.inside = true;
        }
        if self.at < self.number.len() {
            self.at += 1;
        }
    }
}

/// The ending of an ordinal number.
fn ordinal(number: &[u8], upper: bool) -> Result<&'static str> {
    let last = number.last().copied().unwrap_or(0);
    if !last.is_ascii_digit() {
        return Err(SqlError::new(
            SqlState::INVALID_TEXT_REPRESENTATION,
            format!("\"{}\" is not a number", String::from_utf8_lossy(number)),
        ));
    }
    let teen = number.len() > 1 && number[number.len() - 2] == b'1';
    Ok(match (if teen { b'0' } else { last }, upper) {
        (b'1', true) => "ST",
        (b'1', false) => "st",
        (b'2', true) => "ND",
        (b'2', false) => "nd",
        (b'3', true) => "RD",
        (b'3', false) => "rd",
        (_, true) => "TH",
        (_, false) => "th",
    })
}
