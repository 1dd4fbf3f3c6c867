//! A body as a program: control flow is always compiled, an expression as soon as its text has been made ready.
//!
//! So nothing is made ready before it is reached, and nothing fails there that would not fail otherwise: what has not been
//! reached yet is an operation that has the session evaluate it. When the machine meets such an operation again, the program is
//! made anew. Statements, loops and handlers have the same numbers in every program of a body, and so have the slots of
//! variables and of what loops count with: a body goes on in another program wherever one of its statements begins.

use super::code::{Caught, Op, Program, Slot};
use crate::catalog::routine::Routine;
use crate::plan::scalar::CallTypes;
use crate::plan::scalar::{Scalar, Target};
use crate::plpgsql::tree::{
    Action, Block, Body, Condition, ForInteger, Place, Raise, Sql, Statement, VariableType,
};
use crate::session::routine::Compiled;
use crate::session::routine::frame::Shape;
use crate::session::routine::text::Text;
use crate::tuple::RowBuf;
use crate::types::assign::AssignStep;
use crate::types::primitive::Primitive;
use crate::types::{Datum, SqlType, oids};
use std::sync::Arc;

/// The constants that every program has.
pub(super) const NULL: usize = 0;
pub(super) const TRUE: usize = 1;
pub(super) const FALSE: usize = 2;
const ONE: usize = 3;

/// How many slots there may be.
const SLOTS_MAX: usize = 60_000;

/// Routines whose bodies the machine runs, by what an expression names them.
pub type Callees = Vec<(Arc<Routine>, Arc<CallTypes>, Arc<Compiled>)>;

/// What a body is compiled from.
pub struct Given<'b> {
    pub body: &'b Body,
    /// The texts that have been made ready and may be evaluated as they are.
    pub texts: Vec<Option<Arc<Text>>>,
    pub callees: Callees,
}

/// Where EXIT, CONTINUE and RETURN lead.
#[derive(Clone, Copy, PartialEq)]
enum Leave<'l> {
    /// Behind this loop or block.
    Exit(Option<&'l Arc<str>>),
    /// To the next round of this loop.
    Continue(Option<&'l Arc<str>>),
    /// To the end of the body.
    Return,
}

/// What is left to do behind a loop.
#[derive(Clone, Copy, PartialEq)]
enum Behind {
    Nothing,
    /// It says FOUND.
    Found,
    /// It is over rows, and is closed.
    Rows,
}

/// What is around the statement at hand.
enum Around {
    /// A loop: its label, what leaves it and what goes on with it.
    Loop { label: Option<Arc<str>>, exits: Vec<usize>, nexts: Vec<usize>, behind: Behind },
    /// A block with its label.
    Block { label: Arc<str>, exits: Vec<usize> },
    /// A subtransaction.
    Try,
    /// A handler.
    Handler,
}

/// Where slots begin that are no variables.
#[derive(Clone, Copy)]
struct Bases {
    constants: usize,
    computed: usize,
}

/// How far a compilation has come, for one that is to be undone.
#[derive(Clone, Copy)]
pub(super) struct Mark {
    ops: usize,
    landed: u32,
}

/// Makes a program.
pub struct Compiler<'b> {
    given: &'b Given<'b>,
    pub(super) program: Program,
    ops: Vec<Op>,
    at: Vec<u32>,
    /// The place of what is compiled.
    place: u32,
    pub(super) constants: Vec<Arc<RowBuf>>,
    bases: Bases,
    /// How many slots of values on the way there are.
    computed: usize,
    /// How many loops have been met, and how many of these are over integers.
    points: u32,
    counted: usize,
    around: Vec<Around>,
    /// Whether something may have changed since a statement has looked.
    pub(super) dirty: bool,
    /// How many operations there are that may change something.
    pub(super) dirt: u32,
    /// The operation that a jump leads to last.
    landed: u32,
    /// The text at hand, and how deep it is.
    pub(super) text: Option<(Arc<Text>, Sql)>,
    pub(super) height: u32,
}

/// An expression that has been compiled: its slot and type, the jump that leads on where it does not fit.
struct Inlined {
    slot: Slot,
    ty: SqlType,
    unfit: Option<usize>,
}

/// The program of a body; none where it has more variables than there are slots.
pub fn compile(given: &Given<'_>) -> Option<Program> {
    let variables = given.body.variables.len();
    if variables + 3 * given.body.statements as usize > SLOTS_MAX / 2 {
        return None;
    }
    // Once to see how many there are of what, and once with that.
    let mut first =
        Compiler::new(given, Bases { constants: SLOTS_MAX / 2, computed: SLOTS_MAX * 3 / 4 });
    first.body();
    let constants = variables + 3 * first.counted;
    let computed = constants + first.constants.len();
    if computed + first.computed > SLOTS_MAX || first.constants.len() > SLOTS_MAX / 4 {
        return None;
    }
    let mut compiler = Compiler::new(given, Bases { constants, computed });
    compiler.body();
    Some(compiler.finish())
}

/// Whether a scalar gives the same when it is evaluated once more, and does nothing else.
pub(super) fn may_repeat(scalar: &Scalar) -> bool {
    let mut same = true;
    scalar.walk(&mut |part| {
        same &= !matches!(part, Scalar::Call { callee, .. } if callee.volatile || matches!(callee.target, Target::Routine(..)));
        same
    });
    same
}

impl<'b> Compiler<'b> {
    fn new(given: &'b Given<'b>, bases: Bases) -> Compiler<'b> {
        let one = |datum: Datum<'_>| {
            let mut row = RowBuf::new();
            row.push(datum);
            Arc::new(row)
        };
        Compiler {
            given,
            program: Program::default(),
            ops: Vec::new(),
            at: Vec::new(),
            place: 0,
            constants: vec![
                one(Datum::Null),
                one(Datum::Bool(true)),
                one(Datum::Bool(false)),
                one(Datum::Int4(1)),
            ],
            bases,
            computed: 0,
            points: given.body.statements,
            counted: 0,
            around: Vec::new(),
            dirty: true,
            dirt: 0,
            landed: 0,
            text: None,
            height: 0,
        }
    }

    fn finish(self) -> Program {
        let mut program = self.program;
        let mut layout = RowBuf::new();
        layout.set_nulls(self.bases.constants);
        layout.set(self.given.body.found as usize, Datum::Bool(false));
        for constant in &self.constants {
            layout.push_column(constant, 0);
        }
        program.constants = self.bases.constants..layout.len();
        layout.widen(self.bases.computed + self.computed);
        program.layout = layout;
        program.ops = self.ops.into();
        program.at = self.at.into();
        program.texts = self.given.texts.iter().flatten().cloned().collect();
        program.written = program.written_below(self.given.body.variables.len());
        debug_assert!(program.verify(), "{program:?}");
        program
    }

    pub(super) fn mark(&self) -> Mark {
        Mark { ops: self.ops.len(), landed: self.landed }
    }

    pub(super) fn back_to(&mut self, mark: Mark) {
        self.ops.truncate(mark.ops);
        self.at.truncate(mark.ops);
        self.landed = mark.landed;
    }

    fn here(&self) -> u32 {
        self.ops.len() as u32
    }

    pub(super) fn push(&mut self, op: Op) -> usize {
        self.ops.push(op);
        self.at.push(self.place);
        self.ops.len() - 1
    }

    /// An operation that may change what programs are made of.
    fn push_other(&mut self, op: Op) -> usize {
        self.dirt += 1;
        self.dirty = true;
        self.push(op)
    }

    /// Has the jumps at these operations lead here.
    pub(super) fn land(&mut self, jumps: &[usize]) {
        if !jumps.is_empty() {
            self.landed = self.here();
        }
        for at in jumps {
            self.ops[*at].land(self.landed);
        }
    }

    /// Whether a slot is that of a variable that holds rows.
    pub(super) fn holds_rows(&self, slot: Slot) -> bool {
        let variable = self.given.body.variables.get(usize::from(slot));
        variable.is_some_and(|variable| !matches!(variable.ty, VariableType::Scalar(_)))
    }

    /// The slot of a constant, by its number.
    pub(super) fn fixed(&self, number: usize) -> Slot {
        (self.bases.constants + number) as Slot
    }

    /// The first slot for values on the way.
    fn free(&self) -> Slot {
        self.bases.computed as Slot
    }

    /// Has the frame have this slot; none where that is too many.
    pub(super) fn reach(&mut self, slot: Slot) -> Option<()> {
        let wanted = (usize::from(slot) + 2).saturating_sub(self.bases.computed);
        self.computed = self.computed.max(wanted);
        (self.computed < SLOTS_MAX / 4).then_some(())
    }

    pub(super) fn callee(
        &self,
        routine: &Arc<Routine>,
        types: &Arc<CallTypes>,
    ) -> Option<Arc<Compiled>> {
        let found = self
            .given
            .callees
            .iter()
            .find(|(known, with, _)| Arc::ptr_eq(known, routine) && Arc::ptr_eq(with, types));
        found.map(|(_, _, compiled)| Arc::clone(compiled))
    }

    fn stand(&mut self, place: (u32, &'static str)) {
        let known = self.program.places.iter().rposition(|known| *known == place);
        self.place = known.unwrap_or_else(|| {
            self.program.places.push(place);
            self.program.places.len() - 1
        }) as u32;
    }

    fn sql(&mut self, sql: &Sql) -> u32 {
        self.program.sqls.push(sql.clone());
        self.program.sqls.len() as u32 - 1
    }

    fn shared(&mut self, statement: &Arc<Statement>) -> u32 {
        self.program.statements.push(Arc::clone(statement));
        self.program.statements.len() as u32 - 1
    }

    /// Notes that the statement of this number begins here.
    fn starts(&mut self, number: u32) {
        let (number, here) = (number as usize, self.here());
        if self.program.starts.len() <= number {
            self.program.starts.resize(number + 1, 0);
        }
        self.program.starts[number] = here;
        // What stands before is not done again by who begins here.
        self.landed = here;
    }

    /// The number of another point from which bodies go on.
    fn point(&mut self) -> u32 {
        self.points += 1;
        self.points - 1
    }

    fn body(&mut self) {
        let body = self.given.body;
        self.stand((0, "during function entry"));
        self.block(&body.block);
        self.push(Op::End);
    }

    fn statements(&mut self, statements: &[Arc<Statement>]) {
        for statement in statements {
            crate::types::depth::deeper(|| self.statement(statement));
        }
    }

    fn statement(&mut self, statement: &Arc<Statement>) {
        self.stand((statement.line, statement.action.name()));
        if self.dirty {
            self.push(Op::Check { statement: statement.number });
            self.dirty = false;
        }
        self.starts(statement.number);
        let place = self.place;
        match &statement.action {
            Action::Block(block) => self.block(block),
            Action::Assign(place, sql) if place.path.is_empty() => {
                self.assign(place.variable, sql, |compiler| {
                    let number = compiler.sql(sql);
                    compiler
                        .push_other(Op::Assign { sql: number, variable: place.variable as Slot });
                });
            }
            Action::Assign(place, sql) => self.assign_field(place, sql, statement),
            Action::AssignElement(place, sql) => self.assign_element(place, sql, statement),
            Action::If(branches, otherwise) => {
                self.branches(branches, place, |compiler| compiler.statements(otherwise));
            }
            Action::Case(operand, branches, otherwise) => {
                if let Some((variable, sql)) = operand {
                    self.operand(*variable, sql);
                }
                self.branches(branches, place, |compiler| match otherwise {
                    Some(otherwise) => compiler.statements(otherwise),
                    None => {
                        compiler.place = place;
                        compiler.push(Op::CaseNotFound);
                    }
                });
            }
            Action::Loop(label, condition, body) => {
                let before = self.dirty;
                let (begin, dirt) = (self.here(), self.dirt);
                self.landed = begin;
                let leaves = condition.as_ref().map(|condition| self.holds(condition));
                self.around.push(Around::Loop {
                    label: label.clone(),
                    exits: leaves.unwrap_or_default(),
                    nexts: Vec::new(),
                    behind: Behind::Nothing,
                });
                self.statements(body);
                self.place = place;
                self.bottom(dirt);
                self.push(Op::Back { begin });
                self.leave_loop();
                self.dirty = before || self.dirt != dirt;
            }
            Action::ForInteger(looped) => self.for_integer(looped, place),
            Action::ForQuery(looped) => self.over_rows(statement, &looped.label, &looped.body),
            Action::ForEach(looped) => self.over_rows(statement, &looped.label, &looped.body),
            Action::Leave(exits, label, condition) => {
                let on = condition.as_ref().map(|condition| self.holds(condition));
                self.go(match exits {
                    true => Leave::Exit(label.as_ref()),
                    false => Leave::Continue(label.as_ref()),
                });
                self.land(&on.unwrap_or_default());
            }
            Action::Return(value) => {
                match value {
                    None => {
                        self.push(Op::ReturnNothing);
                    }
                    Some(sql) => match self.expression(sql) {
                        Some(Inlined { slot, ty, unfit }) => {
                            // A variable is returned as it is.
                            if matches!(self.ops.last(), Some(Op::Whole { one }) if *one == slot)
                                && self.landed != self.here()
                            {
                                self.ops.pop();
                                self.at.pop();
                            }
                            self.program.types.push(ty);
                            let ty = self.program.types.len() as u32 - 1;
                            self.push(Op::Return { one: slot, ty });
                            self.otherwise(unfit, |compiler| compiler.plainly(statement, false));
                        }
                        None => self.plainly(statement, false),
                    },
                }
                self.place = place;
                self.go(Leave::Return);
            }
            Action::Raise(raise) => {
                let pure = self.is_pure(raise);
                self.plainly(statement, pure);
            }
            Action::Nothing => {}
            _ => self.plainly(statement, false),
        }
    }

    /// Has others run a statement.
    fn plainly(&mut self, statement: &Arc<Statement>, pure: bool) {
        let statement = self.shared(statement);
        if pure {
            self.push(Op::Statement { statement, pure });
        } else {
            self.push_other(Op::Statement { statement, pure });
        }
    }

    /// Whether what a RAISE evaluates needs nothing but variables.
    fn is_pure(&self, raise: &Raise) -> bool {
        let mut all = raise.values.iter().chain(raise.options.iter().map(|(_, sql)| sql));
        all.all(|sql| {
            let text = self.given.texts[sql.number as usize].as_ref();
            let scalar = text.and_then(|text| text.flat.as_ref());
            scalar.is_some_and(|scalar| {
                let mut pure = true;
                scalar.walk(&mut |part| {
                    pure &= !matches!(part, Scalar::Call { callee, .. } if !matches!(callee.target, Target::Plain(_) | Target::Typed(..)));
                    pure
                });
                pure
            })
        })
    }

    /// What is done where an expression does not fit the shapes that rows have.
    fn otherwise(&mut self, unfit: Option<usize>, other: impl FnOnce(&mut Self)) {
        let Some(unfit) = unfit else { return };
        let over = self.push(Op::Jump { end: 0 });
        self.land(&[unfit]);
        other(self);
        self.land(&[over]);
    }

    /// Compiles an expression, if it can be.
    fn expression(&mut self, sql: &Sql) -> Option<Inlined> {
        let given = self.given;
        let text = given.texts[sql.number as usize].as_ref()?;
        let scalar = text.flat.as_ref()?;
        let mark = self.mark();
        let unfit = self.fit(text);
        self.height = text.prepared.parsed.height();
        self.text = Some((Arc::clone(text), sql.clone()));
        let free = self.free();
        match self.value(scalar, free) {
            Some(slot) => Some(Inlined { slot, ty: text.ty(), unfit }),
            None => {
                self.back_to(mark);
                None
            }
        }
    }

    /// Asks whether rows have the shapes that a text was made for, where it was made for any.
    fn fit(&mut self, text: &Arc<Text>) -> Option<usize> {
        if !text.has_shapes() {
            return None;
        }
        let shapes = text.shapes().map(|(number, shape)| (number, shape.cloned()));
        self.program.fitted.push(shapes.collect());
        let shapes = self.program.fitted.len() as u32 - 1;
        Some(self.push(Op::Fits { shapes, end: 0 }))
    }

    /// Has the value at a slot be another one's.
    fn put(&mut self, from: Slot, to: Slot) {
        let here = self.here();
        let (free, landed) = (self.free(), self.landed);
        let moved = from == free
            && landed != here
            && self.ops.last_mut().is_some_and(|last| last.retarget(from, to));
        if !moved {
            self.push(Op::Move { from, to });
        }
    }

    fn assign(&mut self, variable: u32, sql: &Sql, other: impl Fn(&mut Self)) {
        let given = self.given;
        let own = &given.body.variables[variable as usize];
        let mark = self.mark();
        let fits = |ty: SqlType| match own.ty {
            VariableType::Scalar(to) => {
                ty.oid == to.oid && (to.typmod < 0 || to.typmod == ty.typmod)
            }
            _ => false,
        };
        match self.expression(sql) {
            Some(Inlined { slot, ty, unfit }) if fits(ty) => {
                if own.not_null {
                    self.push(Op::NotNull { one: slot, variable: variable as Slot });
                    self.push(Op::Move { from: slot, to: variable as Slot });
                } else {
                    self.put(slot, variable as Slot);
                }
                self.otherwise(unfit, other);
            }
            _ => {
                self.back_to(mark);
                other(self);
            }
        }
    }

    fn assign_element(&mut self, place: &Place, sql: &Sql, statement: &Arc<Statement>) {
        let given = self.given;
        let mark = self.mark();
        let done = (|| {
            let text = given.texts[sql.number as usize].as_ref()?;
            let Scalar::Assign(parts, AssignStep::Element(_)) = text.flat.as_ref()? else {
                return None;
            };
            let [Scalar::Parameter(array), value, subscript] = &parts[..] else { return None };
            // Where the element has no place yet, all is evaluated again.
            if *array != place.variable
                || !place.path.is_empty()
                || !may_repeat(value)
                || !may_repeat(subscript)
            {
                return None;
            }
            let unfit = self.fit(text);
            self.height = text.prepared.parsed.height();
            self.text = Some((Arc::clone(text), sql.clone()));
            let free = self.free();
            let subscript = self.value(subscript, free)?;
            let value = self.value(value, if subscript == free { free + 1 } else { free })?;
            let array = *array as Slot;
            let grows = self.push(Op::SetElement { array, subscript, value, end: 0 });
            Some([Some(grows), unfit])
        })();
        self.or_plainly(done, mark, statement);
    }

    /// `record.field := value`.
    fn assign_field(&mut self, place: &Place, sql: &Sql, statement: &Arc<Statement>) {
        let given = self.given;
        let mark = self.mark();
        let done = (|| {
            let [field] = &place.path[..] else { return None };
            let own = &given.body.variables[place.variable as usize];
            let text = given.texts[sql.number as usize].as_ref()?;
            // Where the record has no such field, or one of another type, all is evaluated again.
            if !matches!(own.ty, VariableType::Record) || !may_repeat(text.flat.as_ref()?) {
                return None;
            }
            let Inlined { slot, ty, unfit } = self.expression(sql)?;
            self.program.fields.push((Arc::clone(field), ty));
            let field = self.program.fields.len() as u32 - 1;
            let record = place.variable as Slot;
            let other = self.push(Op::SetField { record, field, value: slot, end: 0 });
            Some([Some(other), unfit])
        })();
        self.or_plainly(done, mark, statement);
    }

    /// Behind operations that may have found that others are to run the statement; or these alone, where there are none.
    fn or_plainly(
        &mut self,
        done: Option<[Option<usize>; 2]>,
        mark: Mark,
        statement: &Arc<Statement>,
    ) {
        let Some(others) = done else {
            self.back_to(mark);
            self.plainly(statement, false);
            return;
        };
        let before = self.dirty;
        let over = self.push(Op::Jump { end: 0 });
        let others: Vec<usize> = others.into_iter().flatten().collect();
        self.land(&others);
        self.plainly(statement, false);
        self.land(&[over]);
        // It changes nothing but the variable: what it evaluates is what was evaluated here.
        self.dirty = before;
    }

    /// The operand of a CASE.
    fn operand(&mut self, variable: u32, sql: &Sql) {
        match self.expression(sql) {
            Some(Inlined { slot, ty, unfit }) => {
                self.program.shapes.push(Arc::new(Shape::new(ty, Vec::new())));
                let shape = self.program.shapes.len() as u32 - 1;
                self.push(Op::Shaped { variable: variable as Slot, shape });
                self.push(Op::Move { from: slot, to: variable as Slot });
                self.otherwise(unfit, |compiler| compiler.plain_operand(variable, sql));
            }
            None => self.plain_operand(variable, sql),
        }
    }

    fn plain_operand(&mut self, variable: u32, sql: &Sql) {
        let sql = self.sql(sql);
        self.push_other(Op::Assign { sql, variable: variable as Slot });
    }

    /// Conditions with what is done where they hold; the last thing where none does.
    fn branches(
        &mut self,
        branches: &[(Sql, Vec<Arc<Statement>>)],
        place: u32,
        otherwise: impl FnOnce(&mut Self),
    ) {
        let (before, dirt) = (self.dirty, self.dirt);
        let mut ends = Vec::new();
        for (condition, body) in branches {
            self.place = place;
            let next = self.holds(condition);
            self.statements(body);
            self.place = place;
            ends.push(self.push(Op::Jump { end: 0 }));
            self.land(&next);
            self.dirty = before || self.dirt != dirt;
        }
        otherwise(self);
        self.land(&ends);
        self.dirty = before || self.dirt != dirt;
    }

    /// A condition: the jumps that are taken where it is not true.
    fn holds(&mut self, sql: &Sql) -> Vec<usize> {
        let Some(Inlined { slot, unfit, .. }) = self.expression(sql) else {
            let sql = self.sql(sql);
            return vec![self.push_other(Op::Holds { sql, end: 0 })];
        };
        let compared = match self.ops.last() {
            Some(Op::Integers { what: Primitive::Integers(how), left, right, to })
                if *to == slot && self.landed != self.here() =>
            {
                Some((*how, *left, *right))
            }
            _ => None,
        };
        let mut jumps = Vec::new();
        match compared {
            Some((how, left, right)) => {
                let at = self.ops.len() - 1;
                self.ops[at] = Op::UnlessCompared { how, left, right, end: 0 };
                jumps.push(at);
            }
            None => jumps.push(self.push(Op::Unless { one: slot, end: 0 })),
        }
        self.otherwise(unfit, |compiler| {
            let sql = compiler.sql(sql);
            jumps.push(compiler.push_other(Op::Holds { sql, end: 0 }));
        });
        jumps
    }

    /// What goes on with the innermost loop leads here.
    fn land_nexts(&mut self) {
        if let Some(Around::Loop { nexts, .. }) = self.around.last_mut() {
            let nexts = std::mem::take(nexts);
            self.land(&nexts);
        }
    }

    /// The end of a loop's body: what has changed in it is seen before the next round.
    fn bottom(&mut self, dirt: u32) {
        self.land_nexts();
        let point = self.point();
        if self.dirt != dirt {
            self.push(Op::Check { statement: point });
        }
        self.starts(point);
    }

    fn leave_loop(&mut self) {
        if let Some(Around::Loop { exits, .. }) = self.around.pop() {
            self.land(&exits);
        }
    }

    /// A bound of a loop, into a slot.
    fn bound(&mut self, sql: &Sql, which: u8, to: Slot) {
        let mark = self.mark();
        let bounded = |compiler: &mut Self| {
            let sql = compiler.sql(sql);
            compiler.push_other(Op::Bounded { sql, which, to });
        };
        match self.expression(sql) {
            Some(Inlined { slot, ty, unfit }) if ty.oid.0 == oids::INT4 => {
                self.put(slot, to);
                self.push(Op::Bound { one: to, which });
                self.otherwise(unfit, bounded);
            }
            _ => {
                self.back_to(mark);
                bounded(self);
            }
        }
    }

    fn for_integer(&mut self, looped: &ForInteger, place: u32) {
        let loops = (self.given.body.variables.len() + 3 * self.counted) as Slot;
        self.counted += 1;
        self.bound(&looped.low, 0, loops);
        self.bound(&looped.high, 1, loops + 1);
        match &looped.step {
            Some(step) => {
                self.bound(step, 2, loops + 2);
                self.push(Op::Positive { one: loops + 2 });
            }
            None => {
                self.push(Op::Move { from: self.fixed(ONE), to: loops + 2 });
            }
        }
        let (variable, reverse) = (looped.variable as Slot, looped.reverse);
        let none = self.push(Op::ForFirst { loops, variable, reverse, end: 0 });
        let (before, dirt, begin) = (self.dirty, self.dirt, self.here());
        self.landed = begin;
        self.around.push(Around::Loop {
            label: looped.label.clone(),
            exits: Vec::new(),
            nexts: Vec::new(),
            behind: Behind::Found,
        });
        self.statements(&looped.body);
        self.place = place;
        self.bottom(dirt);
        self.push(Op::ForNext { loops, variable, reverse, begin });
        self.leave_loop();
        let found = self.given.body.found as Slot;
        self.push(Op::Move { from: self.fixed(TRUE), to: found });
        let over = self.push(Op::Jump { end: 0 });
        self.land(&[none]);
        self.push(Op::Move { from: self.fixed(FALSE), to: found });
        self.land(&[over]);
        self.dirty = before || self.dirt != dirt;
    }

    /// A loop over rows that others give.
    fn over_rows(
        &mut self,
        statement: &Arc<Statement>,
        label: &Option<Arc<str>>,
        body: &[Arc<Statement>],
    ) {
        let place = self.place;
        let statement = self.shared(statement);
        self.push_other(Op::OpenRows { statement });
        let begin = self.here();
        self.landed = begin;
        let next = self.push_other(Op::NextRow { end: 0 });
        self.around.push(Around::Loop {
            label: label.clone(),
            exits: Vec::new(),
            nexts: Vec::new(),
            behind: Behind::Rows,
        });
        self.statements(body);
        self.place = place;
        // What has changed is seen behind the next row: a body begins by looking.
        self.land_nexts();
        self.push(Op::Back { begin });
        self.land(&[next]);
        self.leave_loop();
        self.push_other(Op::CloseRows { tells: true });
    }

    /// Leaves to where EXIT, CONTINUE or RETURN say.
    fn go(&mut self, leave: Leave<'_>) {
        let meets = |around: &Around| match (around, leave) {
            (Around::Loop { .. }, Leave::Exit(None) | Leave::Continue(None)) => true,
            (Around::Loop { label, .. }, Leave::Exit(of) | Leave::Continue(of)) => {
                label.as_ref() == of
            }
            (Around::Block { label, .. }, Leave::Exit(Some(of))) => label == of,
            _ => false,
        };
        // Behind RETURN nobody asks, and what it gives may be FOUND itself.
        let tells = leave != Leave::Return;
        let found = self.around.iter().rposition(meets);
        for at in (found.map_or(0, |found| found + 1)..self.around.len()).rev() {
            match self.around[at] {
                Around::Try => self.push_other(Op::Tried),
                Around::Handler => self.push(Op::Handled),
                Around::Loop { behind: Behind::Rows, .. } => {
                    self.push_other(Op::CloseRows { tells })
                }
                Around::Loop { behind: Behind::Found, .. } if tells => {
                    let to = self.given.body.found as Slot;
                    self.push(Op::Move { from: self.fixed(TRUE), to })
                }
                Around::Loop { .. } | Around::Block { .. } => continue,
            };
        }
        let Some(found) = found else {
            self.push(Op::End);
            return;
        };
        let jump = self.push(Op::Jump { end: 0 });
        match (&mut self.around[found], leave) {
            (Around::Loop { nexts, .. }, Leave::Continue(_)) => nexts.push(jump),
            (Around::Loop { exits, .. } | Around::Block { exits, .. }, _) => exits.push(jump),
            _ => {}
        }
    }

    fn block(&mut self, block: &Block) {
        let place = self.place;
        for number in &block.variables {
            let line = self.given.body.variables[*number as usize].line;
            self.stand((line, "during statement block local variable initialization"));
            self.initialize(*number);
        }
        self.place = place;
        if let Some(label) = &block.label {
            self.around.push(Around::Block { label: Arc::clone(label), exits: Vec::new() });
        }
        match &block.handlers {
            None => self.statements(&block.body),
            Some(handlers) => {
                let (before, dirt) = (self.dirty, self.dirt);
                self.program.caught.push(Caught {
                    state: handlers.state,
                    message: handlers.message,
                    place: self.program.places[place as usize],
                    handlers: Vec::new(),
                });
                let number = self.program.caught.len() - 1;
                self.push(Op::Try { handlers: number as u32 });
                self.around.push(Around::Try);
                self.statements(&block.body);
                self.around.pop();
                self.place = place;
                self.push(Op::Tried);
                let mut ends = vec![self.push(Op::Jump { end: 0 })];
                for handler in &handlers.handlers {
                    self.dirty = before || self.dirt != dirt;
                    let begins = self.here();
                    self.landed = begins;
                    let conditions: Vec<Condition> = handler.conditions.clone();
                    self.program.caught[number].handlers.push((conditions, begins));
                    self.around.push(Around::Handler);
                    self.statements(&handler.body);
                    self.around.pop();
                    self.place = place;
                    self.push(Op::Handled);
                    ends.push(self.push(Op::Jump { end: 0 }));
                }
                self.land(&ends);
                self.dirty = before || self.dirt != dirt;
            }
        }
        if block.label.is_some()
            && let Some(Around::Block { exits, .. }) = self.around.pop()
        {
            self.land(&exits);
        }
    }

    /// Gives a variable what it begins with.
    fn initialize(&mut self, number: u32) {
        let variable = &self.given.body.variables[number as usize];
        let to = number as Slot;
        let simple = match variable.ty {
            VariableType::Scalar(ty) | VariableType::Row(ty) => {
                !crate::catalog::builtin::is_domain(ty.oid.0)
            }
            VariableType::Record => false,
        };
        match &variable.default {
            None if simple && self.holds_rows(to) => {
                self.push(Op::NoRow { to });
            }
            None if simple => {
                self.push(Op::Move { from: self.fixed(NULL), to });
            }
            Some(default) if simple => self.assign(number, default, |compiler| {
                compiler.push_other(Op::Begin { variable: to });
            }),
            _ => {
                self.push_other(Op::Begin { variable: to });
            }
        }
    }
}
