//! What EXPLAIN says, before it is written in a format.

/// A plan as it is explained.
#[derive(Debug)]
pub(super) struct Item {
    /// `Node Type`.
    pub node_type: &'static str,
    /// How it begins its line in text: `Seq Scan on t`.
    pub title: String,
    /// What the other formats say of its kind, in front of what all nodes have: `Strategy`, `Operation`.
    pub kind: Vec<(&'static str, Value)>,
    /// What they say of it behind that: `Relation Name`, `Join Type`.
    pub target: Vec<(&'static str, Value)>,
    /// What the planner expects.
    pub estimate: crate::plan::estimate::Estimate,
    /// What has happened, where the statement was run.
    pub actual: Option<crate::exec::probe::Counters>,
    /// What every format says: `Filter`, `Sort Key`.
    pub properties: Vec<(&'static str, Value)>,
    /// Plans of subqueries that belong to the whole query, then inputs, then plans of subqueries of its own expressions.
    pub children: Vec<Child>,
}

/// A plan below another.
#[derive(Debug)]
pub(super) struct Child {
    /// `Parent Relationship`.
    pub relationship: &'static str,
    /// `Subplan Name`: `InitPlan 1 (returns $0)`.
    pub name: Option<String>,
    /// The plan.
    pub item: Item,
}

/// The value of a property.
#[derive(Clone, Debug)]
pub(super) enum Value {
    /// A text.
    Text(String),
    /// Several; text divides them by commas.
    List(Vec<String>),
    /// A number, as it is to be written.
    Number(String),
    /// A truth value.
    Bool(bool),
}

impl From<String> for Value {
    fn from(text: String) -> Value {
        Value::Text(text)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Value {
        Value::Text(text.to_owned())
    }
}

/// An explained statement.
#[derive(Debug)]
pub(super) struct Explained {
    /// What its plan was after each rule that changed it, by the rule's name, if somebody asks.
    pub stages: Vec<(&'static str, Item)>,
    /// Its plan.
    pub root: Item,
    /// What is known beside it.
    pub facts: super::Facts,
}
