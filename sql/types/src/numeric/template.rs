//! The templates of `to_char` and `to_number`, taken apart.
//!
//! PostgreSQL: `formatting.c` (`NUMDesc_prepare`); manual, table 9.31. A template is a row of patterns; quoted text and whatever is no
//! pattern stands for itself. Some patterns describe the number as a whole (`FM`, `S`, `PR`, `V`, `EEEE`, `RN`): these are
//! gathered in [`Template`], and some forbid others.

use crate::account;
use crate::error::{Result, SqlError};
use crate::sqlstate::SqlState;

/// One pattern, or a character that is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Item {
    /// `9`, or `0` with `zero`.
    Digit { zero: bool },
    /// `.` and `D`.
    Point,
    /// `,` and `G`: the thousands separator of the locale C is none, for which PostgreSQL takes a comma.
    Comma { group: bool },
    /// `L`.
    Currency,
    /// `MI`.
    Minus,
    /// `PL`.
    Plus,
    /// `SG`.
    Sign,
    /// `RN`.
    Roman { upper: bool },
    /// `TH`.
    Ordinal { upper: bool },
    /// A pattern without a place of its own: `B`, `C`, `EEEE`, `FM`, `PR`, `S`, `SP`, `V`.
    Whole,
    /// Any other character.
    Text(char),
}

/// Where `S` stands: its sign is written beside the number's first or last digit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Anchor {
    #[default]
    None,
    Before,
    Behind,
}

/// A template taken apart.
#[derive(Clone, Debug, Default)]
pub(super) struct Template {
    pub items: Vec<Item>,
    /// `FM`: no padding.
    pub fill_mode: bool,
    /// There is a decimal point.
    pub decimal: bool,
    /// `PR`: negative numbers in angle brackets.
    pub brackets: bool,
    /// `MI` or `SG`.
    pub minus: bool,
    /// `PL` or `SG`.
    pub plus: bool,
    pub roman: bool,
    /// `EEEE`.
    pub exponent: bool,
    /// `V`.
    pub shifts: bool,
    /// `S`.
    pub signed: bool,
    pub anchor: Anchor,
    /// How many digits stood before `S`.
    pub anchor_at: usize,
    /// Digits before and behind the decimal point.
    pub before: usize,
    pub behind: usize,
    /// Digits behind `V`: powers of ten to multiply by.
    pub shift: usize,
    /// There is a `0` before the decimal point, so many digits from the first.
    pub zeros_from: Option<usize>,
    /// How many digits there are up to the last `0`.
    pub zeros_to: usize,
    blank: bool,
}

/// What a pattern's text stands for, a longer one before its beginnings.
const PATTERNS: &[(&str, Pattern)] = &[
    (",", Pattern::Item(Item::Comma { group: false })),
    (".", Pattern::Point),
    ("0", Pattern::Digit { zero: true }),
    ("9", Pattern::Digit { zero: false }),
    ("B", Pattern::Blank),
    ("C", Pattern::Item(Item::Whole)),
    ("D", Pattern::Point),
    ("EEEE", Pattern::Exponent),
    ("FM", Pattern::FillMode),
    ("G", Pattern::Item(Item::Comma { group: true })),
    ("L", Pattern::Item(Item::Currency)),
    ("MI", Pattern::Minus),
    ("PL", Pattern::Plus),
    ("PR", Pattern::Brackets),
    ("RN", Pattern::Roman),
    ("SG", Pattern::Sign),
    ("SP", Pattern::Item(Item::Whole)),
    ("S", Pattern::Anchored),
    ("TH", Pattern::Ordinal),
    ("V", Pattern::Shift),
];

#[derive(Clone, Copy)]
enum Pattern {
    Item(Item),
    Digit { zero: bool },
    Point,
    Blank,
    Exponent,
    FillMode,
    Minus,
    Plus,
    Brackets,
    Roman,
    Sign,
    Anchored,
    Ordinal,
    Shift,
}

fn pattern(text: &str) -> Option<(Pattern, bool, usize)> {
    PATTERNS.iter().find_map(|&(name, pattern)| {
        let head = text.as_bytes().get(..name.len())?;
        let upper = head == name.as_bytes();
        let lower = || name.bytes().map(|byte| byte.to_ascii_lowercase());
        (upper || head.iter().copied().eq(lower())).then_some((pattern, upper, name.len()))
    })
}

impl Template {
    /// Takes a template apart.
    ///
    /// # Errors
    /// 42601 for patterns that do not go together.
    pub fn parse(text: &str) -> Result<Template> {
        let mut template = Template::default();
        let mut rest = text;
        while let Some(first) = rest.chars().next() {
            account::step();
            if let Some((pattern, upper, length)) = pattern(rest) {
                let item = template.take(pattern, upper)?;
                template.items.push(item);
                rest = &rest[length..];
            } else if first == '"' {
                rest = template.quoted(&rest[1..]);
            } else {
                let behind = if rest.starts_with("\\\"") { &rest[1..] } else { rest };
                let character = behind.chars().next().expect("something is left");
                template.items.push(Item::Text(character));
                rest = &behind[character.len_utf8()..];
            }
        }
        Ok(template)
    }

    /// Takes text up to a closing quote; gives what is behind it.
    fn quoted<'t>(&mut self, text: &'t str) -> &'t str {
        let mut characters = text.char_indices();
        while let Some((at, character)) = characters.next() {
            account::step();
            let character = match character {
                '"' => return &text[at + 1..],
                '\\' => characters.next().map_or('\\', |(_, escaped)| escaped),
                other => other,
            };
            self.items.push(Item::Text(character));
        }
        ""
    }

    fn take(&mut self, pattern: Pattern, upper: bool) -> Result<Item> {
        if self.exponent && !matches!(pattern, Pattern::Exponent) {
            return Err(clash("\"EEEE\" must be the last pattern used"));
        }
        let signs = self.plus || self.minus;
        Ok(match pattern {
            Pattern::Item(item) => item,
            Pattern::Digit { zero } => {
                self.digit(zero)?;
                Item::Digit { zero }
            }
            Pattern::Point => {
                if self.decimal {
                    return Err(clash("multiple decimal points"));
                }
                if self.shifts {
                    return Err(clash("cannot use \"V\" and decimal point together"));
                }
                self.decimal = true;
                Item::Point
            }
            Pattern::Blank => {
                self.blank |= self.before == 0 && self.behind == 0 && self.zeros_from.is_none();
                Item::Whole
            }
            Pattern::FillMode => {
                self.fill_mode = true;
                Item::Whole
            }
            Pattern::Anchored => {
                if self.signed {
                    return Err(clash("cannot use \"S\" twice"));
                }
                if signs || self.brackets {
                    return Err(clash("cannot use \"S\" and \"PL\"/\"MI\"/\"SG\"/\"PR\" together"));
                }
                self.signed = true;
                self.anchor = if self.decimal { Anchor::Behind } else { Anchor::Before };
                self.anchor_at = self.before;
                Item::Whole
            }
            Pattern::Minus => {
                self.unless_signed("MI")?;
                self.minus = true;
                Item::Minus
            }
            Pattern::Plus => {
                self.unless_signed("PL")?;
                self.plus = true;
                Item::Plus
            }
            Pattern::Sign => {
                self.unless_signed("SG")?;
                (self.minus, self.plus) = (true, true);
                Item::Sign
            }
            Pattern::Brackets => {
                if self.signed || signs {
                    return Err(clash("cannot use \"PR\" and \"S\"/\"PL\"/\"MI\"/\"SG\" together"));
                }
                self.brackets = true;
                Item::Whole
            }
            Pattern::Roman => {
                self.roman = true;
                Item::Roman { upper }
            }
            Pattern::Ordinal => Item::Ordinal { upper },
            Pattern::Shift => {
                if self.decimal {
                    return Err(clash("cannot use \"V\" and decimal point together"));
                }
                self.shifts = true;
                Item::Whole
            }
            Pattern::Exponent => {
                if self.exponent {
                    return Err(clash("cannot use \"EEEE\" twice"));
                }
                let others = self.blank
                    || self.fill_mode
                    || self.signed
                    || self.brackets
                    || signs
                    || self.roman
                    || self.shifts;
                if others {
                    return Err(clash("\"EEEE\" is incompatible with other formats").detail(
                        "\"EEEE\" may only be used together with digit and decimal point patterns.",
                    ));
                }
                self.exponent = true;
                Item::Whole
            }
        })
    }

    fn digit(&mut self, zero: bool) -> Result<()> {
        if self.brackets {
            let digit = if zero { "0" } else { "9" };
            return Err(clash(&format!("\"{digit}\" must be ahead of \"PR\"")));
        }
        if self.shifts && !zero {
            self.shift += 1;
            return Ok(());
        }
        if zero && !self.decimal && self.zeros_from.is_none() {
            self.zeros_from = Some(self.before);
        }
        if self.decimal {
            self.behind += 1;
        } else {
            self.before += 1;
        }
        if zero {
            self.zeros_to = self.before + self.behind;
        }
        Ok(())
    }

    fn unless_signed(&self, pattern: &str) -> Result<()> {
        if self.signed {
            return Err(clash(&format!("cannot use \"S\" and \"{pattern}\" together")));
        }
        Ok(())
    }
}

#[cold]
fn clash(message: &str) -> SqlError {
    SqlError::new(SqlState::SYNTAX_ERROR, message)
}
