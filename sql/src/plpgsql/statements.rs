//! Statements (PostgreSQL 15 manual, sections 43.5 to 43.9).

use super::condition;
use super::parse::{Gives, Parser, unrecognized};
use super::tree::{
    self, Action, Assignment, ForEach, ForInteger, ForQuery, Into, Level, Place, Query, Raise,
    RaiseOption, Sql, Statement, VariableType,
};
use crate::error::{Result, SqlError};
use crate::parse::lexer::Kind;
use crate::sqlstate::SqlState;
use crate::types::{SqlType, oids};
use std::sync::Arc;

/// A name in a list.
pub(super) struct Listed {
    /// It with its qualifiers.
    pub parts: Vec<Arc<str>>,
    /// Where it begins.
    at: u32,
    /// Where what follows it begins.
    behind: u32,
}

impl Parser<'_, '_> {
    /// One statement with its semicolon.
    pub(super) fn statement(&mut self) -> Result<Statement> {
        let label = self.label()?;
        let line = self.reader.line(self.reader.here());
        let number = self.statements_met;
        self.statements_met += 1;
        let action = self.action(label)?;
        Ok(Statement { line, number, action })
    }

    fn action(&mut self, label: Option<Arc<str>>) -> Result<Action> {
        if self.reader.at_word("declare") || self.reader.at_word("begin") {
            let block =
                self.block(Some(label.unwrap_or_default()).filter(|label| !label.is_empty()))?;
            self.reader.expect_symbol(b';')?;
            return Ok(Action::Block(block));
        }
        if self.reader.accept("loop") {
            return self.looped(label, None);
        }
        if self.reader.accept("while") {
            let condition = self.expression_of(&["loop"], "LOOP", oids::BOOL)?;
            self.reader.expect("loop")?;
            return self.looped(label, Some(condition));
        }
        if self.reader.accept("for") {
            return self.for_loop(label);
        }
        if self.reader.accept("foreach") {
            return self.for_each(label);
        }
        if label.is_some() {
            return Err(self.reader.error());
        }
        let at = self.reader.here();
        if let Some(place) = self.assigned()? {
            self.may_assign(place.variable, at)?;
            return self.assignment(place, at);
        }
        let token = self.reader.token();
        let word = self.reader.text_of(token).to_ascii_lowercase();
        if !matches!(token.kind, Kind::Keyword(_) | Kind::Word) {
            return match token.kind {
                Kind::Symbol(b'(') => self.execute_sql(),
                _ => Err(self.reader.error()),
            };
        }
        match &*word {
            "if" => self.branches(),
            "case" => self.case(),
            "exit" | "continue" => self.leave(&word),
            "return" => self.returned(),
            "raise" => self.raise(),
            "assert" => {
                self.reader.advance();
                let condition = self.expression_of(&[",", ";"], ";", oids::BOOL)?;
                let message = if self.reader.accept_symbol(b',') {
                    Some(self.expression_of(&[";"], ";", oids::TEXT)?)
                } else {
                    None
                };
                self.reader.expect_symbol(b';')?;
                Ok(Action::Assert(condition, message))
            }
            "perform" => {
                let start = self.reader.advance().end;
                let (_, end) = self.reader.until(&[";"], ";", false)?;
                let text = format!("SELECT{}", self.reader.slice(start, end));
                // The text is as long as it was behind its first word.
                let sql = self.sql_text(text.into(), start.saturating_sub(6), false)?;
                self.reader.expect_symbol(b';')?;
                Ok(Action::Perform(sql))
            }
            "execute" => self.dynamic(),
            "get" => self.diagnostics(),
            "commit" | "rollback" => {
                self.reader.advance();
                self.reader.accept("work");
                let chain = self.reader.accept("and") && {
                    let no = self.reader.accept("no");
                    self.reader.expect("chain")?;
                    !no
                };
                self.reader.expect_symbol(b';')?;
                self.ends_transactions = true;
                Ok(Action::EndTransaction(word == "commit", chain))
            }
            "null" => {
                self.reader.advance();
                self.reader.expect_symbol(b';')?;
                Ok(Action::Nothing)
            }
            "call" | "do" => {
                let span = self.reader.until(&[";"], ";", false)?;
                let sql = self.sql(span, false)?;
                self.reader.expect_symbol(b';')?;
                self.ends_transactions = true;
                Ok(Action::Call(sql, word == "call"))
            }
            "open" => {
                self.reader.advance();
                self.open()
            }
            "fetch" | "move" => {
                let at = self.reader.advance().start;
                self.fetch(word == "move", at)
            }
            "close" => {
                self.reader.advance();
                self.close()
            }
            "else" | "elsif" | "elseif" | "end" | "exception" | "when" | "then" | "using" => {
                Err(self.reader.error())
            }
            _ => self.execute_sql(),
        }
    }

    /// The target of an assignment, if the statement is one.
    fn assigned(&mut self) -> Result<Option<Place>> {
        let mut parts = Vec::new();
        let mut ahead = 0;
        loop {
            let token = self.reader.token_at(ahead);
            if !self.reader.is_name(token) && parts.is_empty()
                || !matches!(
                    token.kind,
                    Kind::Word
                        | Kind::Keyword(_)
                        | Kind::Quoted
                        | Kind::UnicodeQuoted
                        | Kind::Parameter
                )
            {
                break;
            }
            parts.push(self.reader.name_of(token)?);
            ahead += 1;
            if self.reader.kind_at(ahead) != Kind::Symbol(b'.') {
                break;
            }
            ahead += 1;
        }
        let assigns =
            matches!(self.reader.kind_at(ahead), Kind::ColonEquals | Kind::Symbol(b'=' | b'['));
        if parts.is_empty() {
            if self.reader.token().kind == Kind::Parameter
                && matches!(self.reader.kind_at(1), Kind::ColonEquals | Kind::Symbol(b'='))
            {
                let token = self.reader.advance();
                let number: u32 = self.reader.text_of(token)[1..].parse().unwrap_or(0);
                let variable = number.checked_sub(1).ok_or_else(|| self.reader.error())?;
                return Ok(Some(Place { variable, path: Vec::new() }));
            }
            return Ok(None);
        }
        if !assigns {
            return Ok(None);
        }
        let Some((variable, taken)) = self.find(&parts) else {
            let begin = self.reader.token();
            let kept = ["if", "case", "for", "select", "insert", "update", "delete", "with"];
            if kept.iter().any(|word| self.reader.is_word(begin, word)) {
                return Ok(None);
            }
            // A name is a label, a variable and a field at most (`word_is_not_variable`).
            let shown = parts[..parts.len().min(3)].join(".");
            let message = format!("\"{shown}\" is not a known variable");
            return Err(self.reader.complaint(message, begin.start));
        };
        let path = parts[taken..].to_vec();
        for _ in 0..ahead {
            self.reader.advance();
        }
        Ok(Some(Place { variable, path }))
    }

    /// Behind the target of an assignment, which begins here.
    fn assignment(&mut self, place: Place, target: u32) -> Result<Action> {
        let whole = match self.variables[place.variable as usize].ty {
            VariableType::Scalar(ty) | VariableType::Row(ty) if place.path.is_empty() => Some(ty),
            _ => None,
        };
        if self.reader.at_symbol(b'[')
            || (!place.path.is_empty() && !self.is_record(place.variable))
        {
            let start = self.reader.here();
            let mut depth = 0u32;
            while depth > 0 || !self.reader.at_assignment() {
                match self.reader.token().kind {
                    Kind::Symbol(b'[' | b'(') => depth += 1,
                    Kind::Symbol(b']' | b')') => depth = depth.saturating_sub(1),
                    Kind::End | Kind::Symbol(b';') => return Err(self.reader.error()),
                    _ => {}
                }
                self.reader.advance();
            }
            let path = self.reader.slice(start, self.reader.here()).trim().to_owned();
            self.reader.advance();
            let (from, end) = self.reader.until(&[";"], ";", true)?;
            let value = self.reader.slice(from, end);
            let field: String =
                place.path.iter().map(|field| format!(".{}", quoted(field))).collect();
            // Messages call it what is written first.
            let name = self.reader.name_at(target)?;
            // A part of a value is assigned as a part of a column is.
            let set = format!("UPDATE x SET {}{field}", quoted(&name));
            let before = self.reader.position(start) - self.reader.position(target);
            let path_at = Some((before, set.chars().count() as u32));
            let set = format!("{set}{path} = ");
            let made = set.chars().count() as u32;
            let sql = self.sql_text(format!("{set}{value}").into(), from, false)?;
            let written = self.written(target, (from, end), made);
            let assignment = Some(Assignment { path: path_at, ..written });
            self.reader.expect_symbol(b';')?;
            let sql = Sql { assignment, ..sql };
            return Ok(Action::AssignElement(Place { path: Vec::new(), ..place }, sql));
        }
        if !self.reader.at_assignment() {
            return Err(self.reader.error());
        }
        self.reader.advance();
        let span = self.reader.until(&[";"], ";", true)?;
        let sql = self.sql(span, true)?;
        let assignment = Some(self.written(target, span, tree::SELECT));
        self.reader.expect_symbol(b';')?;
        Ok(Action::Assign(place, Sql { wanted: whole, assignment, ..sql }))
    }

    /// An assignment from its target on; `made` characters stand before its value in what is made ready.
    fn written(&self, target: u32, (from, end): (u32, u32), made: u32) -> Assignment {
        let before = self.reader.position(from) - self.reader.position(target);
        Assignment { text: self.reader.slice(target, end).into(), before, made, path: None }
    }

    fn is_record(&self, variable: u32) -> bool {
        matches!(self.variables[variable as usize].ty, VariableType::Record)
    }

    /// 22005 for a constant.
    pub(super) fn may_assign(&self, variable: u32, at: u32) -> Result<()> {
        let variable = &self.variables[variable as usize];
        if !variable.constant {
            return Ok(());
        }
        Err(SqlError::new(
            SqlState::ERROR_IN_ASSIGNMENT,
            format!("variable \"{}\" is declared CONSTANT", variable.name),
        )
        .at(self.reader.position(at)))
    }

    fn branches(&mut self) -> Result<Action> {
        let mut branches = Vec::new();
        self.reader.advance();
        let mut otherwise = Vec::new();
        loop {
            let condition = self.expression_of(&["then"], "THEN", oids::BOOL)?;
            self.reader.expect("then")?;
            let body = self.statements(&["elsif", "elseif", "else", "end"])?;
            branches.push((condition, body));
            if self.reader.accept("elsif") || self.reader.accept("elseif") {
                continue;
            }
            if self.reader.accept("else") {
                otherwise = self.statements(&["end"])?;
            }
            break;
        }
        self.reader.expect("end")?;
        self.reader.expect("if")?;
        self.reader.expect_symbol(b';')?;
        Ok(Action::If(branches, otherwise))
    }

    fn case(&mut self) -> Result<Action> {
        self.reader.advance();
        let operand = if self.reader.at_word("when") {
            None
        } else {
            Some(self.expression(&["when"], "WHEN")?)
        };
        let outside = self.innermost;
        // What is tested is a variable that no body can name.
        let tested = operand.as_ref().map(|_| {
            let name: Arc<str> = format!("__Case__Variable_{}__", self.variables.len()).into();
            let number = self.variable(Arc::clone(&name), VariableType::Record);
            self.push_name(&name, number);
            (number, name)
        });
        let mut branches = Vec::new();
        while self.reader.accept("when") {
            let (start, end) = self.reader.until(&["then"], "THEN", true)?;
            let condition = match &tested {
                Some((_, name)) => {
                    // As it stands it has to be a list of expressions already.
                    self.check(self.reader.slice(start, end), start, true)?;
                    let text = format!("\"{name}\" IN ({})", self.reader.slice(start, end));
                    self.sql_text(text.into(), start, true)?
                }
                None => self.sql((start, end), true)?,
            };
            let condition = Sql { wanted: Some(SqlType::plain(oids::BOOL)), ..condition };
            self.reader.expect("then")?;
            branches.push((condition, self.statements(&["when", "else", "end"])?));
        }
        if branches.is_empty() {
            return Err(self.reader.error());
        }
        let otherwise =
            if self.reader.accept("else") { Some(self.statements(&["end"])?) } else { None };
        self.innermost = outside;
        self.reader.expect("end")?;
        self.reader.expect("case")?;
        self.reader.expect_symbol(b';')?;
        let operand = tested.map(|(number, _)| number).zip(operand);
        Ok(Action::Case(operand, branches, otherwise))
    }

    /// The statements of a loop, LOOP read, and its end.
    pub(super) fn loop_body(&mut self, label: Option<&Arc<str>>) -> Result<Vec<Arc<Statement>>> {
        let outside = self.innermost;
        self.push_label(label.cloned().unwrap_or_default(), false);
        let body = self.statements(&["end"])?;
        self.innermost = outside;
        self.reader.expect("end")?;
        self.reader.expect("loop")?;
        self.end_label(label)?;
        self.reader.expect_symbol(b';')?;
        Ok(body)
    }

    fn looped(&mut self, label: Option<Arc<str>>, condition: Option<Sql>) -> Result<Action> {
        let body = self.loop_body(label.as_ref())?;
        Ok(Action::Loop(label, condition, body))
    }

    fn for_loop(&mut self, label: Option<Arc<str>>) -> Result<Action> {
        let outside = self.innermost;
        let at = self.reader.here();
        let first = self.qualified()?;
        if self.reader.at_symbol(b',')
            && self.target(&first, at).is_ok_and(|one| self.takes_row(&one))
        {
            return Err(self.reader.error());
        }
        let names = self.listed(first, at)?;
        self.reader.expect("in")?;
        if !self.reader.at_word("execute") {
            let reverse = self.reader.at_word("reverse") && {
                self.reader.advance();
                true
            };
            if reverse || self.reader.comes(Kind::DotDot, &["loop"]) {
                return self.for_integer(label, &names, reverse, at, outside);
            }
        }
        let query = if self.reader.accept("execute") {
            let text = self.expression_of(&["using", "loop"], "LOOP", oids::TEXT)?;
            let values = self.using(&["loop"], "LOOP")?;
            Query::Dynamic(text, values)
        } else {
            if let Some(variable) = self.looped_cursor()? {
                return self.for_cursor(label, &names, at, variable);
            }
            let span = self.reader.until(&["loop"], "LOOP", false)?;
            Query::Static(self.sql(span, false)?)
        };
        let places = self.places(&names)?;
        self.reader.expect("loop")?;
        let body = self.loop_body(label.as_ref())?;
        self.innermost = outside;
        Ok(Action::ForQuery(Box::new(ForQuery { label, places, query, body })))
    }

    fn for_integer(
        &mut self,
        label: Option<Arc<str>>,
        names: &[Listed],
        reverse: bool,
        at: u32,
        outside: Option<u32>,
    ) -> Result<Action> {
        let low = self.expression_of(&[".."], "..", oids::INT4)?;
        self.reader.advance();
        let high = self.expression_of(&["loop", "by"], "LOOP", oids::INT4)?;
        let step = if self.reader.accept("by") {
            Some(self.expression_of(&["loop"], "LOOP", oids::INT4)?)
        } else {
            None
        };
        let [Listed { parts, .. }] = names else {
            let message = "integer FOR loop must have only one target variable";
            return Err(self.reader.complaint(message, at));
        };
        let [name] = &parts[..] else { return Err(self.reader.error()) };
        let variable =
            self.variable(Arc::clone(name), VariableType::Scalar(SqlType::plain(oids::INT4)));
        // The loop's label qualifies its variable.
        self.push_label(label.clone().unwrap_or_default(), true);
        self.push_name(name, variable);
        self.reader.expect("loop")?;
        let body = self.loop_body(label.as_ref())?;
        self.innermost = outside;
        let looped = ForInteger { label, variable, reverse, low, high, step, body };
        Ok(Action::ForInteger(Box::new(looped)))
    }

    fn for_each(&mut self, label: Option<Arc<str>>) -> Result<Action> {
        let places = self.targets()?;
        let slice = if self.reader.accept("slice") {
            let token = self.reader.advance();
            self.reader.text_of(token).parse().map_err(|_| self.reader.error())?
        } else {
            0
        };
        self.reader.expect("in")?;
        self.reader.expect("array")?;
        let array = self.expression(&["loop"], "LOOP")?;
        self.reader.expect("loop")?;
        let body = self.loop_body(label.as_ref())?;
        Ok(Action::ForEach(Box::new(ForEach { label, places, slice, array, body })))
    }

    fn leave(&mut self, word: &str) -> Result<Action> {
        let at = self.reader.advance().start;
        let exits = word == "exit";
        let token = self.reader.token();
        let label = if self.reader.is_name(token) { Some(self.reader.name()?) } else { None };
        let condition = if self.reader.accept("when") {
            Some(self.expression_of(&[";"], ";", oids::BOOL)?)
        } else {
            None
        };
        self.reader.expect_symbol(b';')?;
        let mut item = self.innermost;
        let mut known = None;
        let mut loops = false;
        while let Some(number) = item {
            let name = &self.names[number as usize];
            if name.variable.is_none() {
                loops |= !name.is_block;
                if label.as_ref() == Some(&name.name) && known.is_none_or(|block| block) {
                    known = Some(name.is_block);
                }
            }
            item = name.previous;
        }
        let of_loop = self.has_loop(label.as_ref());
        match (&label, known) {
            (Some(label), None) => Err(self.reader.complaint(
                format!("there is no label \"{label}\" attached to any block or loop enclosing this statement"),
                token.start,
            )),
            (Some(label), Some(_)) if !exits && !of_loop => Err(self.reader.complaint(
                format!("block label \"{label}\" cannot be used in CONTINUE"),
                token.start,
            )),
            (None, _) if !loops => {
                let message = if exits {
                    "EXIT cannot be used outside a loop, unless it has a label"
                } else {
                    "CONTINUE cannot be used outside a loop"
                };
                Err(self.reader.complaint(message, at))
            }
            _ => Ok(Action::Leave(exits, label, condition)),
        }
    }

    /// Whether a loop around has this label.
    fn has_loop(&self, label: Option<&Arc<str>>) -> bool {
        let mut item = self.innermost;
        while let Some(number) = item {
            let name = &self.names[number as usize];
            if name.variable.is_none() && !name.is_block && Some(&name.name) == label {
                return true;
            }
            item = name.previous;
        }
        false
    }

    /// 42804 for a RETURN that does not fit what the body returns, at this place.
    fn misfit(&self, message: &str, at: u32) -> SqlError {
        SqlError::new(SqlState::DATATYPE_MISMATCH, message).at(self.reader.position(at))
    }

    fn returned(&mut self) -> Result<Action> {
        let at = self.reader.advance().start;
        let gives = self.declared.gives();
        let is_set = matches!(gives, Gives::Set { .. });
        if self.reader.accept("next") {
            if !is_set {
                return Err(self.misfit("cannot use RETURN NEXT in a non-SETOF function", at));
            }
            let here = self.reader.here();
            if gives == (Gives::Set { outputs: true }) {
                if self.reader.accept_symbol(b';') {
                    return Ok(Action::ReturnNext(None));
                }
                let message = "RETURN NEXT cannot have a parameter in function with OUT parameters";
                return Err(self.misfit(message, here));
            }
            let value = self.expression(&[";"], ";")?;
            self.reader.expect_symbol(b';')?;
            return Ok(Action::ReturnNext(Some(value)));
        }
        if self.reader.at_word("query") {
            self.reader.advance();
            if !is_set {
                return Err(self.misfit("cannot use RETURN QUERY in a non-SETOF function", at));
            }
            let query = if self.reader.accept("execute") {
                let text = self.expression_of(&["using", ";"], ";", oids::TEXT)?;
                let values = self.using(&[";"], ";")?;
                Query::Dynamic(text, values)
            } else {
                let span = self.reader.until(&[";"], ";", false)?;
                Query::Static(self.sql(span, false)?)
            };
            self.reader.expect_symbol(b';')?;
            return Ok(Action::ReturnQuery(query));
        }
        let here = self.reader.here();
        if gives != Gives::Value {
            if self.reader.accept_symbol(b';') {
                return Ok(Action::Return(None));
            }
            let hint = "Use RETURN NEXT or RETURN QUERY.";
            return Err(match gives {
                Gives::Set { .. } => self
                    .misfit("RETURN cannot have a parameter in function returning set", here)
                    .hint(hint),
                Gives::Nothing { procedure: true } => {
                    self.reader.complaint("RETURN cannot have a parameter in a procedure", here)
                }
                Gives::Outputs => {
                    let message = "RETURN cannot have a parameter in function with OUT parameters";
                    self.misfit(message, here)
                }
                _ => self.misfit("RETURN cannot have a parameter in function returning void", here),
            });
        }
        let value = self.expression(&[";"], ";")?;
        self.reader.expect_symbol(b';')?;
        Ok(Action::Return(Some(value)))
    }

    /// A statement of SQL, INTO taken out of it.
    fn execute_sql(&mut self) -> Result<Action> {
        let start = self.reader.here();
        let mut text = String::new();
        let (mut from, mut into) = (start, None);
        let mut depth = 0u32;
        // In the body of a routine in the standard's form semicolons stand between statements.
        let (makes_routine, mut bodies) = (self.reader.at_routine(), 0u32);
        let mut previous = self.reader.token();
        loop {
            let token = self.reader.token();
            let is = |word: &str| makes_routine && self.reader.is_word(token, word);
            if is("begin") || bodies > 0 && is("case") {
                bodies += 1;
            } else if bodies > 0 && is("end") {
                bodies -= 1;
            }
            match token.kind {
                Kind::Symbol(b'(' | b'[') => depth += 1,
                Kind::Symbol(b')' | b']') => depth = depth.saturating_sub(1),
                Kind::Symbol(b';') if depth == 0 && bodies == 0 => break,
                Kind::End => return Err(self.reader.error()),
                Kind::Error(_) => return Err(self.reader.error()),
                _ if depth == 0
                    && bodies == 0
                    && self.reader.is_word(token, "into")
                    && token.start > start
                    && !["insert", "merge"]
                        .iter()
                        .any(|word| self.reader.is_word(previous, word)) =>
                {
                    if into.is_some() {
                        return Err(self
                            .reader
                            .complaint("INTO specified more than once", token.start));
                    }
                    text.push_str(self.reader.slice(from, token.start));
                    self.reader.advance();
                    into = Some(self.into()?);
                    from = self.reader.here();
                    // What stands behind has its place still.
                    text.extend(std::iter::repeat_n(' ', (from - token.start) as usize));
                    previous = token;
                    continue;
                }
                _ => {}
            }
            previous = token;
            self.reader.advance();
        }
        text.push_str(self.reader.slice(from, self.reader.before().max(from)));
        self.reader.expect_symbol(b';')?;
        let sql = self.sql_text(text.trim_end().into(), start, false)?;
        Ok(Action::Execute(sql, into))
    }

    fn into(&mut self) -> Result<Into> {
        let strict = self.reader.accept("strict");
        Ok(Into { strict, places: self.targets()? })
    }

    /// The targets behind INTO.
    pub(super) fn targets(&mut self) -> Result<Vec<Place>> {
        let at = self.reader.here();
        let first = self.qualified()?;
        let names = self.listed(first, at)?;
        self.places(&names)
    }

    /// The names of a list, of which the first has been read.
    fn listed(&mut self, first: Vec<Arc<str>>, at: u32) -> Result<Vec<Listed>> {
        let mut names = vec![Listed { parts: first, at, behind: self.reader.here() }];
        while self.reader.accept_symbol(b',') {
            let at = self.reader.here();
            let parts = self.qualified()?;
            names.push(Listed { parts, at, behind: self.reader.here() });
        }
        Ok(names)
    }

    /// A name with its qualifiers.
    pub(super) fn qualified(&mut self) -> Result<Vec<Arc<str>>> {
        if self.reader.token().kind == Kind::Parameter {
            let token = self.reader.advance();
            return Ok(vec![self.reader.text_of(token).into()]);
        }
        let mut parts = vec![self.reader.name()?];
        while self.reader.accept_symbol(b'.') {
            let token = self.reader.advance();
            parts.push(self.reader.name_of(token)?);
        }
        Ok(parts)
    }

    /// The variables of these names, of which only one that stands alone takes a row.
    fn places(&mut self, names: &[Listed]) -> Result<Vec<Place>> {
        let mut places = Vec::with_capacity(names.len());
        for (number, Listed { parts, at, behind }) in names.iter().enumerate() {
            let mut place = self.target(parts, *at)?;
            // As in PostgreSQL a field of a field is none here: what follows the first is not looked at.
            place.path.truncate(1);
            self.may_assign(place.variable, *at)?;
            if names.len() > 1 && self.takes_row(&place) {
                return Err(match number {
                    0 => {
                        let message = "record variable cannot be part of multiple-item INTO list";
                        self.reader.complaint(message, *behind)
                    }
                    _ => self.no_scalar(parts, *at),
                });
            }
            places.push(place);
        }
        Ok(places)
    }

    /// Whether what is put into a place is a row.
    fn takes_row(&self, place: &Place) -> bool {
        let own = &self.variables[place.variable as usize].ty;
        place.path.is_empty() && !matches!(own, VariableType::Scalar(_))
    }

    /// 42601 for a variable that takes rows.
    fn no_scalar(&self, parts: &[Arc<str>], at: u32) -> SqlError {
        self.reader.complaint(format!("\"{}\" is not a scalar variable", parts.join(".")), at)
    }

    /// The variable that a name is, or the part of one.
    pub(super) fn target(&self, parts: &[Arc<str>], at: u32) -> Result<Place> {
        let parameter = parts[0].strip_prefix('$').and_then(|digits| digits.parse::<u32>().ok());
        let found = match parameter {
            Some(number) => number
                .checked_sub(1)
                .filter(|number| (*number as usize) < self.variables.len())
                .map(|number| (number, 1)),
            None => self.find(parts),
        };
        let (variable, taken) = found.ok_or_else(|| {
            let message = format!("\"{}\" is not a known variable", parts.join("."));
            self.reader.complaint(message, at)
        })?;
        Ok(Place { variable, path: parts[taken..].to_vec() })
    }

    /// `USING a, b`, if it is there.
    pub(super) fn using(&mut self, ends: &[&str], missing: &str) -> Result<Vec<Sql>> {
        let mut values = Vec::new();
        if self.reader.accept("using") {
            let ends: Vec<&str> = ends.iter().copied().chain([",", "into"]).collect();
            loop {
                values.push(self.expression(&ends, missing)?);
                if !self.reader.accept_symbol(b',') {
                    break;
                }
            }
        }
        Ok(values)
    }

    fn dynamic(&mut self) -> Result<Action> {
        self.reader.advance();
        let text = self.expression_of(&["into", "using", ";"], ";", oids::TEXT)?;
        let (mut into, mut values) = (None, Vec::new());
        loop {
            if into.is_none() && self.reader.accept("into") {
                into = Some(self.into()?);
            } else if values.is_empty() && self.reader.at_word("using") {
                values = self.using(&[";"], ";")?;
            } else {
                break;
            }
        }
        self.reader.expect_symbol(b';')?;
        Ok(Action::Dynamic(text, into, values))
    }

    fn diagnostics(&mut self) -> Result<Action> {
        let start = self.reader.advance().start;
        let stacked = self.reader.accept("stacked");
        if !stacked {
            self.reader.accept("current");
        }
        self.reader.expect("diagnostics")?;
        let mut items = Vec::new();
        let mut misplaced = None;
        loop {
            let at = self.reader.here();
            let parts = self.qualified()?;
            let name = Listed { parts, at, behind: self.reader.here() };
            let place = self.places(std::slice::from_ref(&name))?.remove(0);
            if self.takes_row(&place) {
                return Err(self.no_scalar(&name.parts, at));
            }
            if !self.reader.at_assignment() {
                return Err(self.reader.error());
            }
            self.reader.advance();
            let token = self.reader.token();
            let item = self.reader.name()?;
            const STACKED: [&str; 10] = [
                "returned_sqlstate",
                "column_name",
                "constraint_name",
                "pg_datatype_name",
                "message_text",
                "table_name",
                "schema_name",
                "pg_exception_detail",
                "pg_exception_hint",
                "pg_exception_context",
            ];
            const CURRENT: [&str; 2] = ["row_count", "pg_context"];
            let is_stacked = STACKED.contains(&&*item);
            if !is_stacked && !CURRENT.contains(&&*item) {
                return Err(self
                    .reader
                    .complaint("unrecognized GET DIAGNOSTICS item", token.start));
            }
            let fits = is_stacked == stacked || &*item == "pg_context";
            if !fits && misplaced.is_none() {
                misplaced = Some(item.to_ascii_uppercase());
            }
            items.push((place, item));
            if !self.reader.accept_symbol(b',') {
                break;
            }
        }
        self.reader.expect_symbol(b';')?;
        if let Some(item) = misplaced {
            let which = if stacked { "STACKED" } else { "CURRENT" };
            let message =
                format!("diagnostics item {item} is not allowed in GET {which} DIAGNOSTICS");
            return Err(self.reader.complaint(message, start));
        }
        Ok(Action::Diagnostics(stacked, items))
    }

    fn raise(&mut self) -> Result<Action> {
        self.reader.advance();
        let mut raise = Raise {
            level: Level::Exception,
            condition: None,
            format: None,
            values: Vec::new(),
            options: Vec::new(),
            again: false,
        };
        if self.reader.accept_symbol(b';') {
            raise.again = true;
            return Ok(Action::Raise(Box::new(raise)));
        }
        const LEVELS: [(&str, Level); 6] = [
            ("exception", Level::Exception),
            ("warning", Level::Warning),
            ("notice", Level::Notice),
            ("info", Level::Info),
            ("log", Level::Log),
            ("debug", Level::Debug),
        ];
        for (word, level) in LEVELS {
            if self.reader.accept(word) {
                raise.level = level;
                break;
            }
        }
        let token = self.reader.token();
        if self.reader.accept_symbol(b';') {
            return Err(self.reader.complaint(
                format!("syntax error at or near \"{}\"", self.reader.text_of(token)),
                token.start,
            ));
        }
        if matches!(token.kind, Kind::String | Kind::EscapeString | Kind::DollarString) {
            let format = self.reader.string()?;
            while self.reader.accept_symbol(b',') {
                raise.values.push(self.expression(&[",", ";", "using"], ";")?);
            }
            let wanted = places_in(&format);
            if raise.values.len() != wanted {
                let few = if raise.values.len() < wanted { "few" } else { "many" };
                let message = format!("too {few} parameters specified for RAISE");
                return Err(SqlError::new(SqlState::SYNTAX_ERROR, message));
            }
            raise.format = Some(format);
        } else if !self.reader.at_word("using") {
            let name = self.reader.name()?;
            if &*name == "sqlstate" {
                let token = self.reader.token();
                let text = self.reader.string()?;
                let state = condition::state(&text)
                    .ok_or_else(|| self.reader.complaint_near("invalid SQLSTATE code", token))?;
                raise.condition = Some((text, state));
            } else {
                let state = condition::states(&name).next().ok_or_else(|| unrecognized(&name))?;
                raise.condition = Some((name, state));
            }
        }
        if self.reader.accept("using") {
            loop {
                let token = self.reader.token();
                let name = self.reader.name()?;
                let option = match &*name {
                    "errcode" => RaiseOption::Errcode,
                    "message" => RaiseOption::Message,
                    "detail" => RaiseOption::Detail,
                    "hint" => RaiseOption::Hint,
                    "column" => RaiseOption::Column,
                    "constraint" => RaiseOption::Constraint,
                    "datatype" => RaiseOption::Datatype,
                    "table" => RaiseOption::Table,
                    "schema" => RaiseOption::Schema,
                    _ => {
                        let message = "unrecognized RAISE statement option";
                        return Err(self.reader.complaint_near(message, token));
                    }
                };
                if !self.reader.at_assignment() {
                    return Err(self.reader.error());
                }
                self.reader.advance();
                raise.options.push((option, self.expression_of(&[",", ";"], ";", oids::TEXT)?));
                if !self.reader.accept_symbol(b',') {
                    break;
                }
            }
        }
        self.reader.expect_symbol(b';')?;
        Ok(Action::Raise(Box::new(raise)))
    }
}

/// How many values a format has places for.
fn places_in(format: &str) -> usize {
    let mut count = 0;
    let mut characters = format.chars().peekable();
    while let Some(character) = characters.next() {
        if character == '%' {
            if characters.peek() == Some(&'%') {
                characters.next();
            } else {
                count += 1;
            }
        }
    }
    count
}

fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}
