//! A document as the tree that XPath walks (XPath 1.0, section 5), and what is shown of its nodes (`xml_xmlnodetoxmltype` of
//! `xml.c`, `xmlNodeDump` of libxml2).
//!
//! Nodes lie in document order, an element's attributes before its children, each with the place where its descendants end: the
//! order of nodes is that of their numbers, and no walk needs a stack of its own.

use super::{declaration, well_formed};
use crate::account;
use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};
use std::fmt::Write as _;

/// The number of a node. The document's is 0.
pub type NodeId = usize;

/// The namespace of the prefix `xml`, which needs no declaration.
pub const XML: &str = "http://www.w3.org/XML/1998/namespace";

/// A name with what its prefix stands for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Name {
    /// The prefix, or nothing.
    pub prefix: String,
    /// The part behind it.
    pub local: String,
    /// The namespace, or nothing.
    pub uri: String,
}

impl Name {
    /// The name as it is written.
    #[must_use]
    pub fn written(&self) -> String {
        match self.prefix.is_empty() {
            true => self.local.clone(),
            false => format!("{}:{}", self.prefix, self.local),
        }
    }
}

/// What a node is.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// The whole.
    Document,
    /// An element, and the namespaces that it declares, by prefix.
    Element(Name, Vec<(String, String)>),
    /// An attribute with its value.
    Attribute(Name, String),
    /// Characters.
    Text(String),
    /// Characters of a CDATA section.
    CData(String),
    /// A comment.
    Comment(String),
    /// A processing instruction: its target and what is behind it.
    Instruction(String, String),
}

/// A node of a tree.
#[derive(Clone, Debug)]
pub struct Node {
    /// What it is.
    pub kind: Kind,
    /// The node above it; the document's is itself.
    pub parent: NodeId,
    /// The number behind its last descendant.
    pub end: NodeId,
}

/// Why a text has no tree.
#[derive(Debug, PartialEq)]
pub enum Refused {
    /// It is no document, and why not.
    Broken(String),
    /// Its document type declaration declares entities or attributes, which are not read.
    Subset,
}

impl From<String> for Refused {
    fn from(why: String) -> Refused {
        Refused::Broken(why)
    }
}

/// A document.
#[derive(Debug)]
pub struct Tree {
    nodes: Vec<Node>,
}

impl Tree {
    /// The tree of a text.
    ///
    /// # Errors
    /// Why it is no document with names of known namespaces; [`Refused::Subset`].
    pub fn read(text: &str) -> Result<Tree, Refused> {
        let text = &text[declaration(text)?.end..];
        well_formed(text, true)?;
        let mut tree = Tree { nodes: vec![Node { kind: Kind::Document, parent: 0, end: 1 }] };
        let mut reader = Reader::from_str(text);
        let mut open: Vec<NodeId> = vec![0];
        loop {
            account::step();
            let event = reader.read_event().map_err(|error| error.to_string())?;
            let inside = open.len() > 1;
            let kind = match event {
                Event::Start(start) => {
                    let element = tree.element(&start, &open)?;
                    open.push(element);
                    continue;
                }
                Event::Empty(start) => {
                    let element = tree.element(&start, &open)?;
                    tree.close(element);
                    continue;
                }
                Event::End(_) => {
                    if let Some(element) = open.pop() {
                        tree.close(element);
                    }
                    continue;
                }
                Event::Text(part) if inside => Kind::Text(expanded(text_of(&part), false)),
                Event::CData(part) if inside => Kind::CData(with_line_ends(text_of(&part))),
                Event::Comment(part) => Kind::Comment(with_line_ends(text_of(&part))),
                Event::PI(part) => {
                    let target = text_of(part.target()).to_owned();
                    let content = text_of(part.content()).trim_start();
                    Kind::Instruction(target, with_line_ends(content))
                }
                Event::DocType(declared) if declared.contains(&b'[') => {
                    return Err(Refused::Subset);
                }
                Event::Eof => break,
                _ => continue,
            };
            if matches!(&kind, Kind::Text(text) if text.is_empty()) {
                continue;
            }
            let parent = *open.last().unwrap_or(&0);
            tree.push(kind, parent);
        }
        tree.close(0);
        Ok(tree)
    }

    fn push(&mut self, kind: Kind, parent: NodeId) -> NodeId {
        let number = self.nodes.len();
        self.nodes.push(Node { kind, parent, end: number + 1 });
        number
    }

    fn close(&mut self, node: NodeId) {
        self.nodes[node].end = self.nodes.len();
    }

    fn element(&mut self, start: &BytesStart<'_>, open: &[NodeId]) -> Result<NodeId, String> {
        let (mut declared, mut attributes) = (Vec::new(), Vec::new());
        for attribute in start.attributes() {
            let attribute = attribute.map_err(|error| error.to_string())?;
            let key = text_of(attribute.key.into_inner());
            let value = expanded(text_of(&attribute.value), true);
            match key.split_once(':') {
                None if key == "xmlns" => declared.push((String::new(), value)),
                Some(("xmlns", prefix)) => declared.push((prefix.to_owned(), value)),
                _ => attributes.push((key.to_owned(), value)),
            }
        }
        let parent = *open.last().unwrap_or(&0);
        let element = self.push(Kind::Element(Name::default(), declared), parent);
        let written = text_of(start.name().into_inner());
        let name = self.name(written, element, true).ok_or_else(|| undefined(written, None))?;
        for (key, value) in attributes {
            let own = self.name(&key, element, false);
            let own = own.ok_or_else(|| undefined(&key, Some(written)))?;
            self.push(Kind::Attribute(own, value), element);
        }
        if let Kind::Element(kept, _) = &mut self.nodes[element].kind {
            *kept = name;
        }
        Ok(element)
    }

    /// A name within an element; none where nothing says what its prefix stands for. Attributes without one have no namespace.
    fn name(&self, written: &str, element: NodeId, default: bool) -> Option<Name> {
        let (prefix, local) = written.split_once(':').unwrap_or(("", written));
        let uri = match (prefix.is_empty(), default) {
            (true, false) => String::new(),
            (true, true) => self.namespace(element, "").unwrap_or_default().to_owned(),
            _ => self.namespace(element, prefix)?.to_owned(),
        };
        Some(Name { prefix: prefix.to_owned(), local: local.to_owned(), uri })
    }

    /// What a prefix stands for at an element.
    #[must_use]
    pub fn namespace(&self, element: NodeId, prefix: &str) -> Option<&str> {
        if prefix == "xml" {
            return Some(XML);
        }
        self.namespaces_from(element).find(|(known, _)| known == prefix).map(|(_, uri)| &**uri)
    }

    /// All declarations that hold at an element, the nearest first.
    fn namespaces_from(&self, element: NodeId) -> impl Iterator<Item = &(String, String)> {
        let up =
            std::iter::successors(Some(element), |at| (*at > 0).then(|| self.nodes[*at].parent));
        up.flat_map(|at| match &self.nodes[at].kind {
            Kind::Element(_, declared) => declared.as_slice(),
            _ => &[],
        })
    }

    /// The namespaces that hold at an element: that of `xml`, then the others from the outermost inward.
    #[must_use]
    pub fn namespaces(&self, element: NodeId) -> Vec<String> {
        let mut known: Vec<&(String, String)> = Vec::new();
        for declared in self.namespaces_from(element) {
            if !known.iter().any(|(prefix, _)| *prefix == declared.0) {
                known.push(declared);
            }
        }
        let own = known.into_iter().filter(|(_, uri)| !uri.is_empty()).map(|(_, uri)| uri.clone());
        std::iter::once(XML.to_owned()).chain(own).collect()
    }

    /// A node.
    #[must_use]
    pub fn node(&self, node: NodeId) -> &Node {
        &self.nodes[node]
    }

    /// Whether a node is an attribute.
    #[must_use]
    pub fn is_attribute(&self, node: NodeId) -> bool {
        matches!(self.nodes[node].kind, Kind::Attribute(..))
    }

    /// An element's attributes.
    pub fn attributes(&self, node: NodeId) -> impl Iterator<Item = NodeId> {
        let element = matches!(self.nodes[node].kind, Kind::Element(..));
        let end = if element { self.nodes[node].end } else { node };
        (node + 1..end).take_while(|at| self.is_attribute(*at))
    }

    /// The nodes directly below one, attributes aside.
    pub fn children(&self, node: NodeId) -> impl Iterator<Item = NodeId> {
        let end = self.nodes[node].end;
        let first = node + 1 + self.attributes(node).count();
        let next = move |at: &NodeId| Some(self.nodes[*at].end).filter(|at| *at < end);
        std::iter::successors(Some(first).filter(|at| *at < end), next)
    }

    /// The string-value of a node (XPath 1.0, section 5).
    #[must_use]
    pub fn text(&self, node: NodeId) -> String {
        match &self.nodes[node].kind {
            Kind::Document | Kind::Element(..) => {
                let mut all = String::new();
                for below in &self.nodes[node + 1..self.nodes[node].end] {
                    if let Kind::Text(text) | Kind::CData(text) = &below.kind {
                        all.push_str(text);
                    }
                }
                all
            }
            Kind::Attribute(_, text)
            | Kind::Text(text)
            | Kind::CData(text)
            | Kind::Comment(text)
            | Kind::Instruction(_, text) => text.clone(),
        }
    }

    /// What is shown of a node: attributes and texts as their values, all else as markup, with the namespaces that it needs.
    pub fn write(&self, node: NodeId, out: &mut String) {
        match &self.nodes[node].kind {
            Kind::Attribute(_, text) | Kind::Text(text) => super::construct::escape(text, out),
            Kind::Document => {
                for child in self.children(0) {
                    self.write_markup(child, &[], out);
                    out.push('\n');
                }
            }
            _ => self.write_markup(node, &self.borrowed(node), out),
        }
    }

    /// The namespaces that a node and what is below it need and that only those above it declare, as they are come upon.
    fn borrowed(&self, top: NodeId) -> Vec<(String, String)> {
        let mut needed: Vec<(String, String)> = Vec::new();
        for at in top..self.nodes[top].end {
            let (Kind::Element(name, _) | Kind::Attribute(name, _)) = &self.nodes[at].kind else {
                continue;
            };
            let attribute = self.is_attribute(at);
            if name.uri.is_empty() || name.prefix == "xml" || attribute && name.prefix.is_empty() {
                continue;
            }
            let from = if attribute { self.nodes[at].parent } else { at };
            let up =
                std::iter::successors(Some(from), |at| (*at > top).then(|| self.nodes[*at].parent));
            let declares = |at: NodeId| match &self.nodes[at].kind {
                Kind::Element(_, declared) => declared.iter().any(|one| one.0 == name.prefix),
                _ => false,
            };
            let known = needed.iter().any(|(prefix, _)| *prefix == name.prefix);
            if !known && !up.into_iter().any(declares) {
                needed.push((name.prefix.clone(), name.uri.clone()));
            }
        }
        needed
    }

    fn write_markup(&self, top: NodeId, borrowed: &[(String, String)], out: &mut String) {
        let written = "a string grows";
        let mut open: Vec<NodeId> = Vec::new();
        let end = self.nodes[top].end;
        let mut at = top;
        while at <= end {
            while let Some(&element) = open.last()
                && self.nodes[element].end <= at
            {
                let Kind::Element(name, _) = &self.nodes[element].kind else { break };
                write!(out, "</{}>", name.written()).expect(written);
                open.pop();
            }
            if at == end {
                break;
            }
            match &self.nodes[at].kind {
                Kind::Element(name, declared) => {
                    write!(out, "<{}", name.written()).expect(written);
                    let own = if at == top { borrowed } else { &[] };
                    for (prefix, uri) in declared.iter().chain(own) {
                        let colon = if prefix.is_empty() { "" } else { ":" };
                        write!(out, " xmlns{colon}{prefix}=").expect(written);
                        quoted(uri, out);
                    }
                    let mut below = at + 1;
                    for attribute in self.attributes(at) {
                        let Kind::Attribute(name, value) = &self.nodes[attribute].kind else {
                            continue;
                        };
                        write!(out, " {}=", name.written()).expect(written);
                        quoted(value, out);
                        below = attribute + 1;
                    }
                    if below == self.nodes[at].end {
                        out.push_str("/>");
                    } else {
                        out.push('>');
                        open.push(at);
                    }
                    at = below;
                    continue;
                }
                Kind::Text(text) => content(text, out),
                Kind::CData(text) => write!(out, "<![CDATA[{text}]]>").expect(written),
                Kind::Comment(text) => write!(out, "<!--{text}-->").expect(written),
                Kind::Instruction(target, text) if text.is_empty() => {
                    write!(out, "<?{target}?>").expect(written);
                }
                Kind::Instruction(target, text) => {
                    write!(out, "<?{target} {text}?>").expect(written);
                }
                Kind::Document | Kind::Attribute(..) => {}
            }
            at += 1;
        }
    }
}

fn undefined(name: &str, on: Option<&str>) -> String {
    let (prefix, local) = name.split_once(':').unwrap_or(("", name));
    match on {
        None => format!("Namespace prefix {prefix} on {local} is not defined"),
        Some(element) => {
            let element = element.split_once(':').map_or(element, |(_, local)| local);
            format!("Namespace prefix {prefix} for {local} on {element} is not defined")
        }
    }
}

/// What the reader hands out is a part of a text.
fn text_of(part: &[u8]) -> &str {
    std::str::from_utf8(part).unwrap_or_default()
}

/// Lines end with one character (XML 1.0, section 2.11).
fn with_line_ends(text: &str) -> String {
    if text.contains('\r') {
        text.replace("\r\n", "\n").replace('\r', "\n")
    } else {
        text.to_owned()
    }
}

/// A text with its references as what they stand for; white space in attributes is blanks (section 3.3.3).
fn expanded(text: &str, attribute: bool) -> String {
    let text = with_line_ends(text);
    let plain = |part: &str| match attribute {
        true => part.replace(['\n', '\t'], " "),
        false => part.to_owned(),
    };
    let mut parts = text.split('&');
    let mut all = plain(parts.next().unwrap_or_default());
    for part in account::stepping(parts) {
        let (reference, behind) = part.split_once(';').unwrap_or((part, ""));
        let code = match reference.strip_prefix("#x") {
            Some(digits) => u32::from_str_radix(digits, 16).ok(),
            None => reference.strip_prefix('#').and_then(|digits| digits.parse().ok()),
        };
        all.extend(match reference {
            "amp" => Some('&'),
            "lt" => Some('<'),
            "gt" => Some('>'),
            "quot" => Some('"'),
            "apos" => Some('\''),
            _ => code.and_then(char::from_u32),
        });
        all.push_str(&plain(behind));
    }
    all
}

fn content(text: &str, out: &mut String) {
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '\r' => out.push_str("&#13;"),
            _ => out.push(c),
        }
    }
}

fn quoted(text: &str, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("&quot;"),
            '\n' => out.push_str("&#10;"),
            '\t' => out.push_str("&#9;"),
            '\r' => out.push_str("&#13;"),
            _ => content(c.encode_utf8(&mut [0; 4]), out),
        }
    }
    out.push('"');
}
