//! Histories of transactions that append to lists and read them, and the anomalies in them.
//!
//! Papers: Adya, *Weak Consistency*, 1999 (dependencies, G0 to G2); Kingsbury and Alvaro, *Elle*, VLDB 2020 (lists whose
//! elements are unique tell the order of their versions). Every append adds an element of its own, so what a list holds
//! says who wrote it and in which order: a read of `[a, b]` depends on the writer of `b`, and whoever appended the element
//! after `b` depends on the reader not having seen it.
//!
//! | edge | from, to |
//! | --- | --- |
//! | ww | who appended an element, who appended the next |
//! | wr | who appended the last element that was read, the reader |
//! | rw | the reader, who appended the first element it did not see; *by predicate* if it saw no row at all, in a group |
//!
//! A cycle of ww is G0; with wr, G1c; with exactly one rw, G-single; with more, G2 (G2-item without predicates).

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

/// A list.
pub type Key = u32;
/// What an append adds; unique in a history.
pub type Element = u64;

/// How a transaction ended, as far as its client was told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Its commit was acknowledged.
    Committed,
    /// It was rolled back.
    Aborted,
    /// The connection broke while it committed: it counts as committed if anybody saw it.
    Unknown,
}

/// What one statement did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operation {
    /// It added an element to a list.
    Append(Key, Element),
    /// It read a list by its key.
    Read(Key, Vec<Element>),
    /// It read every list of a group: those there are, and those of the group that it did not find are empty.
    ReadGroup(BTreeMap<Key, Vec<Element>>),
}

/// One transaction.
#[derive(Clone, Debug)]
pub struct Transaction {
    /// What it did, in order.
    pub operations: Vec<Operation>,
    /// How it ended.
    pub outcome: Outcome,
}

/// What can be wrong with a history.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Anomaly {
    /// Reads of a list contradict each other, or what was appended by an acknowledged transaction is not there.
    Broken,
    /// A cycle of writes.
    G0,
    /// What was read was rolled back.
    G1a,
    /// What was read was not its writer's last version.
    G1b,
    /// A cycle of writes and reads.
    G1c,
    /// A cycle with one anti-dependency: read skew, lost updates.
    GSingle,
    /// A cycle with several, of keys only: write skew.
    G2Item,
    /// A cycle with several, one at least by predicate: phantoms.
    G2,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Edge {
    Ww,
    Wr,
    Rw,
    RwPredicate,
}

/// The dependencies between transactions, by their places in the history.
struct Graph {
    next: Vec<BTreeSet<(usize, Edge)>>,
}

/// Every anomaly of a history, with what shows it. `last` is what the lists held in the end.
#[must_use]
pub fn anomalies(
    history: &[Transaction],
    last: &BTreeMap<Key, Vec<Element>>,
) -> BTreeMap<Anomaly, String> {
    Checker::new(history, last).run()
}

struct Checker<'h> {
    history: &'h [Transaction],
    last: &'h BTreeMap<Key, Vec<Element>>,
    /// Who appended an element, and whether it was that transaction's last to the list.
    writer: HashMap<Element, (usize, bool)>,
    found: BTreeMap<Anomaly, String>,
}

impl<'h> Checker<'h> {
    fn new(history: &'h [Transaction], last: &'h BTreeMap<Key, Vec<Element>>) -> Checker<'h> {
        let mut writer = HashMap::new();
        for (place, transaction) in history.iter().enumerate() {
            let mut seen = BTreeSet::new();
            for operation in transaction.operations.iter().rev() {
                if let Operation::Append(key, element) = operation {
                    let again = writer.insert(*element, (place, seen.insert(*key)));
                    assert!(again.is_none(), "elements are unique");
                }
            }
        }
        Checker { history, last, writer, found: BTreeMap::new() }
    }

    fn note(&mut self, anomaly: Anomaly, what: impl FnOnce() -> String) {
        self.found.entry(anomaly).or_insert_with(what);
    }

    fn run(mut self) -> BTreeMap<Anomaly, String> {
        let mut graph = Graph { next: vec![BTreeSet::new(); self.history.len()] };
        self.check_last(&mut graph);
        for (place, transaction) in self.history.iter().enumerate() {
            let counts = match transaction.outcome {
                Outcome::Committed => true,
                Outcome::Aborted => false,
                Outcome::Unknown => self.was_seen(transaction),
            };
            if counts {
                self.check_reads(place, transaction, &mut graph);
            }
        }
        let (ww, wr) = (|edge| edge == Edge::Ww, |edge| edge <= Edge::Wr);
        if let Some(cycle) = graph.cycle(&ww) {
            self.note(Anomaly::G0, || cycle);
        }
        if !self.found.contains_key(&Anomaly::G0)
            && let Some(cycle) = graph.cycle(&wr)
        {
            self.note(Anomaly::G1c, || cycle);
        }
        self.check_anti_dependencies(&graph);
        self.found
    }

    /// Whether anything that a transaction appended is there in the end.
    fn was_seen(&self, transaction: &Transaction) -> bool {
        transaction.operations.iter().any(|operation| match operation {
            Operation::Append(key, element) => {
                self.last.get(key).is_some_and(|elements| elements.contains(element))
            }
            Operation::Read(..) | Operation::ReadGroup(_) => false,
        })
    }

    /// The order of the lists' versions.
    fn check_last(&mut self, graph: &mut Graph) {
        let mut there = BTreeSet::new();
        for (key, elements) in self.last {
            for pair in elements.windows(2) {
                let writers = [self.writer.get(&pair[0]), self.writer.get(&pair[1])];
                if let [Some(&(one, _)), Some(&(two, _))] = writers
                    && one != two
                {
                    graph.next[one].insert((two, Edge::Ww));
                }
            }
            for element in elements {
                if !there.insert(*element) {
                    self.note(Anomaly::Broken, || format!("{element} is twice in list {key}"));
                }
                match self.writer.get(element) {
                    None => self.note(Anomaly::Broken, || format!("nobody appended {element}")),
                    Some(&(place, _)) if self.history[place].outcome == Outcome::Aborted => {
                        self.note(Anomaly::G1a, || format!("{element} of {place} was kept"));
                    }
                    Some(_) => {}
                }
            }
        }
        for (&element, &(place, _)) in &self.writer {
            let outcome = self.history[place].outcome;
            if outcome == Outcome::Committed && !there.contains(&element) {
                self.found
                    .entry(Anomaly::Broken)
                    .or_insert_with(|| format!("{element} of {place} is lost"));
            }
        }
    }

    fn check_reads(&mut self, place: usize, transaction: &Transaction, graph: &mut Graph) {
        let mut own: BTreeMap<Key, Vec<Element>> = BTreeMap::new();
        for operation in &transaction.operations {
            match operation {
                Operation::Append(key, element) => own.entry(*key).or_default().push(*element),
                Operation::Read(key, read) => {
                    self.check_read(place, (*key, read), &own, Edge::Rw, graph);
                }
                Operation::ReadGroup(lists) => {
                    for (key, read) in lists {
                        let edge = if read.is_empty() { Edge::RwPredicate } else { Edge::Rw };
                        self.check_read(place, (*key, read), &own, edge, graph);
                    }
                }
            }
        }
    }

    fn check_read(
        &mut self,
        place: usize,
        (key, read): (Key, &[Element]),
        own: &BTreeMap<Key, Vec<Element>>,
        anti: Edge,
        graph: &mut Graph,
    ) {
        static NONE: Vec<Element> = Vec::new();
        let own = own.get(&key).unwrap_or(&NONE);
        let Some(others) = read.strip_suffix(own.as_slice()) else {
            self.note(Anomaly::Broken, || format!("{place} does not see its own appends to {key}"));
            return;
        };
        let last = self.last.get(&key).unwrap_or(&NONE);
        if let Some(element) = others.last() {
            match self.writer.get(element).copied() {
                Some((writer, _)) if self.history[writer].outcome == Outcome::Aborted => {
                    self.note(Anomaly::G1a, || {
                        format!("{place} read {element} of {writer}, which was rolled back")
                    });
                    return;
                }
                Some((writer, false)) if writer != place => self.note(Anomaly::G1b, || {
                    format!("{place} read {element}, which {writer} appended to")
                }),
                Some((writer, _)) if writer != place => {
                    graph.next[writer].insert((place, Edge::Wr));
                }
                _ => {}
            }
        }
        if !last.starts_with(others) {
            self.note(Anomaly::Broken, || format!("{place} read {others:?} of {key}: {last:?}"));
            return;
        }
        // The reader's own elements follow what it read, or were rolled back: whoever came next is meant.
        let unseen = last[others.len()..].iter().find_map(|element| {
            self.writer.get(element).map(|&(writer, _)| writer).filter(|&writer| writer != place)
        });
        let own_comes_first = last.get(others.len()).is_some_and(|first| {
            self.writer.get(first).is_some_and(|&(writer, _)| writer == place)
        });
        if let Some(writer) = unseen
            && !own_comes_first
        {
            graph.next[place].insert((writer, anti));
        }
    }

    fn check_anti_dependencies(&mut self, graph: &Graph) {
        let component = graph.components(&|_| true);
        let mut single = BTreeSet::new();
        for (from, next) in graph.next.iter().enumerate() {
            for &(to, edge) in next {
                if edge < Edge::Rw || component[from] != component[to] {
                    continue;
                }
                if let Some(path) = graph.path(to, from, &|edge| edge <= Edge::Wr) {
                    single.insert(component[from]);
                    self.note(Anomaly::GSingle, || format!("{from} -{edge:?}-> {path}"));
                }
            }
        }
        for (from, next) in graph.next.iter().enumerate() {
            for &(to, edge) in next {
                if edge < Edge::Rw
                    || component[from] != component[to]
                    || single.contains(&component[from])
                {
                    continue;
                }
                let by_key = graph.path(to, from, &|edge| edge != Edge::RwPredicate);
                if edge == Edge::Rw
                    && let Some(path) = by_key
                {
                    self.note(Anomaly::G2Item, || format!("{from} -{edge:?}-> {path}"));
                } else if edge == Edge::RwPredicate
                    && let Some(path) = graph.path(to, from, &|_| true)
                {
                    self.note(Anomaly::G2, || format!("{from} -{edge:?}-> {path}"));
                }
            }
        }
    }
}

impl Graph {
    /// A shortest way from one transaction to another by edges that `may` be taken.
    fn path(&self, from: usize, to: usize, may: &dyn Fn(Edge) -> bool) -> Option<String> {
        let mut reached: HashMap<usize, (usize, Edge)> = HashMap::new();
        let mut next = VecDeque::from([from]);
        while let Some(at) = next.pop_front() {
            if at == to {
                let mut text = to.to_string();
                let mut back = to;
                while back != from {
                    let (before, edge) = reached[&back];
                    text = format!("{before} -{edge:?}-> {text}");
                    back = before;
                }
                return Some(text);
            }
            for &(target, edge) in &self.next[at] {
                if may(edge) && target != from && !reached.contains_key(&target) {
                    reached.insert(target, (at, edge));
                    next.push_back(target);
                }
            }
        }
        None
    }

    /// A cycle of edges that `may` be taken.
    fn cycle(&self, may: &dyn Fn(Edge) -> bool) -> Option<String> {
        let component = self.components(may);
        for (from, next) in self.next.iter().enumerate() {
            for &(to, edge) in next {
                if may(edge)
                    && component[from] == component[to]
                    && let Some(path) = self.path(to, from, may)
                {
                    return Some(format!("{from} -{edge:?}-> {path}"));
                }
            }
        }
        None
    }

    /// Strongly connected components, by the number of one (Tarjan 1972, without recursion).
    fn components(&self, may: &dyn Fn(Edge) -> bool) -> Vec<usize> {
        const NEW: usize = usize::MAX;
        let count = self.next.len();
        let next: Vec<Vec<usize>> = self
            .next
            .iter()
            .map(|next| next.iter().filter(|edge| may(edge.1)).map(|edge| edge.0).collect())
            .collect();
        let (mut order, mut low) = (vec![NEW; count], vec![0; count]);
        let (mut component, mut stack) = (vec![NEW; count], Vec::new());
        let mut clock = 0;
        for root in 0..count {
            if order[root] != NEW {
                continue;
            }
            let mut calls = vec![(root, 0)];
            while let Some((at, step)) = calls.pop() {
                if step == 0 {
                    (order[at], low[at]) = (clock, clock);
                    clock += 1;
                    stack.push(at);
                } else {
                    low[at] = low[at].min(low[next[at][step - 1]]);
                }
                let mut step = step;
                let mut descends = false;
                while let Some(&to) = next[at].get(step) {
                    step += 1;
                    if order[to] == NEW {
                        calls.push((at, step));
                        calls.push((to, 0));
                        descends = true;
                        break;
                    }
                    if component[to] == NEW {
                        low[at] = low[at].min(order[to]);
                    }
                }
                if !descends && low[at] == order[at] {
                    while let Some(top) = stack.pop() {
                        component[top] = at;
                        if top == at {
                            break;
                        }
                    }
                }
            }
        }
        component
    }
}
