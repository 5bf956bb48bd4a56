//! A YAML text as nodes with their places.

use saphyr_parser::{Event, Parser, Span};

use crate::braces::{Braces, Member};
use crate::text::{line_start, place};
use crate::tree::Tree;
use crate::{EditError, NESTING};

/// Continue's member, the only one that is a list of servers.
pub(super) const LISTED: &str = "mcpServers";

pub(super) struct Document {
    pub root: Node,
    /// Where the document ends: at `...`, or with the text.
    pub end: usize,
}

#[derive(Clone)]
pub(super) enum Node {
    Table(Table),
    List(List),
    /// A scalar with its style and tag, or an alias.
    Leaf(String),
    /// A key without a value.
    Nothing,
}

#[derive(Clone)]
pub(super) struct List {
    pub is_flow: bool,
    pub start: usize,
    pub end: usize,
    /// The items, and where each begins.
    pub items: Vec<(usize, Node)>,
}

#[derive(Clone)]
pub(super) struct Table {
    /// Whether it is in braces.
    pub is_flow: bool,
    /// Whether it is a list whose items have their names in them.
    pub is_list: bool,
    pub start: usize,
    pub end: usize,
    pub items: Vec<Item>,
}

/// A key and its value.
#[derive(Clone)]
pub(super) struct Item {
    pub name: String,
    pub start: usize,
    pub key_end: usize,
    /// The key's column, from 0, in bytes.
    pub column: usize,
    /// The value, if it is a scalar.
    pub scalar: Option<String>,
    /// The end of the value, if it is not in block style.
    pub end: usize,
    pub value: Node,
}

impl Table {
    pub(super) fn position(&self, name: &str) -> Option<usize> {
        self.items.iter().position(|item| item.name == name)
    }

    /// A flow mapping.
    pub(super) fn braces(&self) -> Braces {
        let member = |item: &Item| Member { name: item.name.clone(), range: item.start..item.end };
        Braces {
            inside: self.start + 1..self.end - 1,
            members: self.items.iter().map(member).collect(),
        }
    }
}

impl Node {
    /// Where a table or a list begins.
    fn start(&self) -> Option<usize> {
        match self {
            Self::Table(table) => Some(table.start),
            Self::List(list) => Some(list.start),
            Self::Leaf(_) | Self::Nothing => None,
        }
    }

    pub(super) fn tree(&self, text: &str) -> Result<Tree, EditError> {
        Ok(match self {
            Self::Table(table) => {
                let mut seen = std::collections::HashSet::with_capacity(table.items.len());
                let mut members = Vec::with_capacity(table.items.len());
                for item in &table.items {
                    if !seen.insert(&item.name) {
                        let (line, column) = place(text, item.start);
                        return Err(EditError::Duplicate { line, column, key: item.name.clone() });
                    }
                    members.push((item.name.clone(), item.value.tree(text)?));
                }
                Tree::Table(members)
            }
            Self::List(list) => {
                let items = list.items.iter().map(|(_, item)| item.tree(text));
                Tree::List(items.collect::<Result<_, _>>()?)
            }
            Self::Leaf(leaf) => Tree::Leaf(leaf.clone()),
            Self::Nothing => Tree::Nothing,
        })
    }
}

pub(super) fn read(text: &str) -> Result<Document, EditError> {
    let mut reader = Reader { text, offsets: offsets(text), open: Vec::new(), root: None };
    let mut documents = 0_usize;
    let mut end = text.len();
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(|error| {
            let (line, column) = (error.marker().line(), error.marker().col() + 1);
            EditError::Syntax { line, column, fault: error.info().to_owned() }
        })?;
        match event {
            Event::DocumentStart(_) => documents += 1,
            Event::DocumentEnd => {
                let at = reader.offset(span.start.index());
                if text[at..].starts_with("...") && line_start(text, at) == at {
                    end = at;
                }
            }
            event => reader.take(event, span)?,
        }
        if documents > 1 {
            return Err(EditError::Unsafe("it holds several YAML documents".to_owned()));
        }
    }
    let mut root = reader.root.unwrap_or(Node::Nothing);
    if let Node::Table(root) = &mut root
        && let Some(at) = root.position(LISTED)
        && let Node::List(list) = &root.items[at].value
    {
        let named = named(text, list);
        root.items[at].value = Node::Table(named.ok_or_else(|| {
            let fault = format!(
                "`{LISTED}` is a list with items that do not have lines of their own and a name"
            );
            EditError::Unsafe(fault)
        })?);
    }
    Ok(Document { root, end })
}

/// The list of servers as a table of them by name.
fn named(text: &str, list: &List) -> Option<Table> {
    if list.is_flow && !list.items.is_empty() {
        return None;
    }
    let item = |(start, node): &(usize, Node)| {
        let Node::Table(table) = node else { return None };
        let before = text[..*start].trim_end_matches(' ');
        let dash = before.strip_suffix('-')?.len();
        let name = table.items.iter().find(|item| item.name == "name")?;
        let Node::Leaf(_) = name.value else { return None };
        Some(Item {
            name: name.scalar.clone()?,
            start: dash,
            key_end: dash + 1,
            column: dash - line_start(text, dash),
            end: table.end,
            scalar: None,
            value: Node::Table(table.clone()),
        })
    };
    Some(Table {
        is_flow: list.is_flow,
        is_list: true,
        start: list.start,
        end: list.end,
        items: list.items.iter().map(item).collect::<Option<_>>()?,
    })
}

/// The byte of every character, and of the end; empty if the text is ASCII.
fn offsets(text: &str) -> Vec<usize> {
    if text.is_ascii() {
        return Vec::new();
    }
    text.char_indices().map(|(at, _)| at).chain([text.len()]).collect()
}

struct Reader<'a> {
    text: &'a str,
    offsets: Vec<usize>,
    open: Vec<OpenNode>,
    root: Option<Node>,
}

enum OpenNode {
    Table { table: Table, key: Option<Key> },
    List(List),
}

struct Key {
    name: String,
    start: usize,
    end: usize,
}

impl Reader<'_> {
    fn take(&mut self, event: Event<'_>, span: Span) -> Result<(), EditError> {
        let (start, end) = (self.offset(span.start.index()), self.offset(span.end.index()));
        if self.open.len() >= NESTING {
            return Err(EditError::TooDeep);
        }
        match event {
            Event::MappingStart(..) => {
                let is_flow = self.text[start..].starts_with('{');
                let table = Table { is_flow, is_list: false, start, end, items: Vec::new() };
                self.open.push(OpenNode::Table { table, key: None });
            }
            Event::SequenceStart(..) => {
                let is_flow = self.text[start..].starts_with('[');
                self.open.push(OpenNode::List(List { is_flow, start, end, items: Vec::new() }));
            }
            Event::MappingEnd | Event::SequenceEnd => {
                let node = match self.open.pop() {
                    Some(OpenNode::Table { mut table, .. }) => {
                        table.end = end;
                        Node::Table(table)
                    }
                    Some(OpenNode::List(mut list)) => {
                        list.end = end;
                        Node::List(list)
                    }
                    None => Node::Nothing,
                };
                self.place(node, None, start, end);
            }
            Event::Scalar(value, style, _, tag) => {
                let node = if start == end && value.len() <= 1 {
                    Node::Nothing
                } else {
                    let tag = tag.map(|tag| format!("{}{}", tag.handle, tag.suffix));
                    Node::Leaf(format!("{style:?} {} {value}", tag.unwrap_or_default()))
                };
                self.place(node, Some(value.into_owned()), start, end);
            }
            Event::Alias(_) => self.place(Node::Leaf("alias".to_owned()), None, start, end),
            _ => {}
        }
        Ok(())
    }

    /// Puts a finished node where it belongs.
    fn place(&mut self, node: Node, name: Option<String>, start: usize, end: usize) {
        match self.open.last_mut() {
            None => self.root = Some(node),
            Some(OpenNode::List(list)) => {
                let start = node.start().unwrap_or(start);
                list.items.push((start, node));
            }
            Some(OpenNode::Table { table, key }) => match key.take() {
                None => {
                    // A key that is not a scalar has no name, so its place identifies it.
                    let name = name.unwrap_or_else(|| format!("? {start}"));
                    *key = Some(Key { name, start, end });
                }
                Some(key) => {
                    let column = key.start - line_start(self.text, key.start);
                    let end = if matches!(node, Node::Nothing) { key.end } else { end };
                    table.items.push(Item {
                        name: key.name,
                        start: key.start,
                        key_end: key.end,
                        column,
                        end,
                        scalar: name,
                        value: node,
                    });
                }
            },
        }
    }

    fn offset(&self, index: usize) -> usize {
        let offset = if self.offsets.is_empty() {
            index
        } else {
            self.offsets.get(index).copied().unwrap_or(self.text.len())
        };
        self.text.floor_char_boundary(offset.min(self.text.len()))
    }
}
