//! JSON with comments and trailing commas.
//!
//! `jsonc-parser`'s concrete tree keeps every byte and distinguishes commas, comments and line
//! breaks. Its own `insert` and `remove` are not used, because they drop comments and blank lines
//! beside a member and break up an object that is on one line.

use std::collections::HashSet;

use jsonc_parser::ast::Value as Ast;
use jsonc_parser::common::Ranged as _;
use jsonc_parser::cst::{CstNode, CstObject, CstObjectProp, CstRootNode};
use jsonc_parser::errors::{ParseError, ParseErrorKind};
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};

use crate::EditError;
use crate::entry::{Notation, Value};
use crate::piece::{Insertion, Piece, PieceKind, Position};
use crate::text::{indent, newline, place, quoted};
use crate::tree::Tree;

const DEFAULT_UNIT: &str = "  ";

const OPTIONS: ParseOptions = ParseOptions {
    allow_comments: true,
    allow_trailing_commas: true,
    allow_loose_object_property_names: false,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};

const SPACED: Notation = Notation { key: quoted, colon: ": ", comma: ", ", pad: " " };
const DENSE: Notation = Notation { key: quoted, colon: ":", comma: ",", pad: "" };

pub(crate) fn tree(text: &str) -> Result<Tree, EditError> {
    let parsed = parse_to_ast(text, &CollectOptions::default(), &OPTIONS);
    let parsed = parsed.map_err(|error| fault(text, &error))?;
    parsed.value.map_or(Ok(Tree::Nothing), |value| convert(text, &value))
}

pub(crate) fn insert(
    text: &str,
    path: &[String],
    name: &str,
    insertion: Insertion<'_>,
    position: Position<'_>,
) -> Result<String, EditError> {
    let mut text = text.to_owned();
    if tree(&text)? == Tree::Nothing {
        let line = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
        text = format!("{text}{line}{{}}\n");
    }
    for (depth, key) in path.iter().enumerate() {
        let outer = Object::find(&text, &path[..depth])?;
        if outer.node.get(key).is_none() {
            let layout = outer.layout();
            let member = layout.member(key, &Value::Table(Vec::new()));
            text = outer.insert(Position::End, &layout, &member);
        }
    }
    let object = Object::find(&text, path)?;
    let layout = object.layout();
    let member = insertion.member(|value| layout.member(name, value))?;
    Ok(object.insert(position, &layout, &member))
}

pub(crate) fn take(
    text: &str,
    path: &[String],
    name: &str,
) -> Result<(String, Vec<Piece>), EditError> {
    let object = Object::find(text, path)?;
    let member = object.node.get(name).ok_or_else(|| EditError::NoSuchServer(name.to_owned()))?;
    let piece = Piece { text: member.to_string(), kind: PieceKind::Braced };
    Ok((object.without(&member), vec![piece]))
}

/// An object in a text.
struct Object<'a> {
    text: &'a str,
    /// Nodes know their parents only while the whole tree is alive.
    root: CstRootNode,
    node: CstObject,
    /// The byte of the opening brace.
    start: usize,
}

/// How the neighbours of a new member are written.
struct Layout {
    newline: &'static str,
    /// Before the member; `None` if it shares its line with others.
    indent: Option<String>,
    /// What one more level of nesting adds.
    unit: String,
    notation: Notation,
}

impl<'a> Object<'a> {
    /// The object at `path`.
    fn find(text: &'a str, path: &[String]) -> Result<Self, EditError> {
        let not_a_table = |depth: usize| EditError::NotATable { path: path[..depth].to_vec() };
        let root = parse(text)?;
        let mut node = root.object_value().ok_or_else(|| not_a_table(0))?;
        for (depth, key) in path.iter().enumerate() {
            node = node.object_value(key).ok_or_else(|| not_a_table(depth + 1))?;
        }
        let start = offset(&node.clone().into());
        Ok(Self { text, root, node, start })
    }

    fn layout(&self) -> Layout {
        let members = self.node.properties();
        let unit = self.root.single_indent_text().filter(|unit| !unit.is_empty());
        let unit = unit.unwrap_or_else(|| DEFAULT_UNIT.to_owned());
        let text = self.text.trim();
        let indent = match members.iter().find_map(own_indent) {
            Some(indent) => Some(indent),
            None if !members.is_empty() => None,
            // An empty object is spread over lines, unless the whole file is on one line.
            None if text.contains('\n') || text.len() <= self.node.to_string().len() => {
                Some(format!("{}{unit}", indent(self.text, self.start)))
            }
            None => None,
        };
        let is_spaced = match members.first().map(CstObjectProp::children) {
            Some(parts) => {
                let colon = parts.iter().position(|part| part.token_char() == Some(':'));
                colon.is_some_and(|at| is_blank(&parts[at + 1]))
            }
            None => text.contains("\": ") || !text.contains("\":"),
        };
        let notation = if is_spaced { SPACED } else { DENSE };
        Layout { newline: newline(self.text), indent, unit, notation }
    }

    /// The text with one more member.
    fn insert(&self, position: Position<'_>, layout: &Layout, member: &str) -> String {
        let members = self.node.properties();
        let is_before = |other: &&CstObjectProp| {
            other.decoded_name().is_some_and(|name| position.is_behind(&name))
        };
        let children = self.node.children();
        let mut parts: Vec<_> = children.iter().map(CstNode::to_string).collect();
        let lead = layout.indent.as_ref().map(|indent| format!("{}{indent}", layout.newline));
        let gap = if layout.notation.pad.is_empty() { "" } else { " " };
        // A comment on the same line belongs to what precedes it, so a new line starts after it.
        let past = |node: &CstNode| {
            let remark = node.trailing_comments_same_line().last();
            let remark = remark.filter(|_| lead.is_some());
            remark.map_or(node.child_index(), |remark| remark.child_index()) + 1
        };
        match (members.iter().rfind(is_before), members.first(), &lead) {
            (Some(last), ..) => {
                let comma = last.trailing_comma().map(CstNode::from);
                let tail = if comma.is_some() { "," } else { "" };
                let lead = lead.as_deref().unwrap_or(gap);
                let node = last.clone().into();
                parts
                    .insert(past(comma.as_ref().unwrap_or(&node)), format!("{lead}{member}{tail}"));
                if comma.is_none() {
                    parts.insert(last.child_index() + 1, ",".to_owned());
                }
            }
            (None, Some(_), Some(lead)) => {
                parts.insert(past(&children[0]), format!("{lead}{member},"));
            }
            (None, Some(first), None) => {
                parts.insert(first.child_index(), format!("{member},{gap}"));
            }
            (None, None, lead) => {
                // Existing comments stay before it.
                let close = children.len() - 1;
                let kept = children[..close].iter().rposition(|part| !is_blank(part)).unwrap_or(0);
                let tail = lead.as_ref().map_or_else(String::new, |_| {
                    format!("{}{}", layout.newline, indent(self.text, self.start))
                });
                let lead = lead.as_deref().unwrap_or_default();
                parts.drain(kept + 1..close);
                parts.insert(kept + 1, format!("{lead}{member}{tail}"));
            }
        }
        self.with(&parts.concat())
    }

    /// The text without a member and its comma. Comments beside them stay.
    fn without(&self, member: &CstObjectProp) -> String {
        let children = self.node.children();
        let close = children.len() - 1;
        let are_blank = |from: usize, to: usize| children[from..to].iter().all(is_blank);
        let at = member.child_index();
        let (mut start, mut end) = (at, at + 1);
        let mut comma = member.trailing_comma().map(|comma| comma.child_index());
        if let Some(own) = comma {
            if are_blank(end, own) {
                end = own + 1;
            }
        } else {
            let previous = member.previous_property().and_then(|member| member.trailing_comma());
            comma = previous.map(|comma| comma.child_index());
            // `}` on the same line moves up, unless that would put it into a comment.
            let closes =
                are_blank(end, close) && !children[end..close].iter().any(CstNode::is_newline);
            if let Some(before) = comma.filter(|_| closes)
                && are_blank(before + 1, start)
                && children[before + 1..start].iter().any(CstNode::is_newline)
            {
                start = before + 1;
            }
        }
        let is_only = self.node.properties().len() == 1;
        if is_only && are_blank(1, at) && are_blank(end, close) {
            (start, end) = (1, close);
        } else if start == at {
            (start, end) = with_blanks(&children, start, end, member.property_index() == 0);
        }
        let is_kept = |index: usize| !(start..end).contains(&index) && comma != Some(index);
        let kept = children.iter().enumerate().filter(|(index, _)| is_kept(*index));
        self.with(&kept.map(|(_, part)| part.to_string()).collect::<String>())
    }

    /// The text with the object replaced by `object`.
    fn with(&self, object: &str) -> String {
        let end = self.start + self.node.to_string().len();
        format!("{}{object}{}", &self.text[..self.start], &self.text[end..])
    }
}

impl Layout {
    fn member(&self, key: &str, value: &Value) -> String {
        let value = self.value(value, self.indent.as_deref());
        format!("{}{}{value}", quoted(key), self.notation.colon)
    }

    fn value(&self, value: &Value, indent: Option<&str>) -> String {
        match (value, indent) {
            (Value::Table(members), Some(outer)) if !members.is_empty() => {
                let line = self.newline;
                let inner = format!("{outer}{}", self.unit);
                let members = members.iter().map(|(key, value)| {
                    let value = self.value(value, Some(&inner));
                    format!("{}{}{value}", quoted(key), self.notation.colon)
                });
                let members = members.collect::<Vec<_>>().join(&format!(",{line}{inner}"));
                format!("{{{line}{inner}{members}{line}{outer}}}")
            }
            _ => self.notation.line(value),
        }
    }
}

/// The range of children, extended by its whole line if nothing else is on it, otherwise by the
/// blanks on one side.
fn with_blanks(children: &[CstNode], start: usize, end: usize, is_first: bool) -> (usize, usize) {
    let before = if children[start - 1].is_whitespace() { start - 1 } else { start };
    let after = if children[end].is_whitespace() { end + 1 } else { end };
    let closes = after == children.len() - 1;
    let begins = children[before - 1].is_newline();
    if begins && children[after].is_newline() {
        (before, after + 1)
    } else if closes && !begins {
        (if is_first { start } else { before }, end)
    } else {
        (start, after)
    }
}

/// A member's indentation, if it begins a line.
fn own_indent(member: &CstObjectProp) -> Option<String> {
    let mut before = member.previous_siblings();
    let blanks = before.next()?;
    if blanks.is_newline() {
        return Some(String::new());
    }
    (blanks.is_whitespace() && before.next()?.is_newline()).then(|| blanks.to_string())
}

fn is_blank(node: &CstNode) -> bool {
    node.is_whitespace() || node.is_newline()
}

/// Where a node begins. The tree stores no offsets, because it can be changed.
fn offset(node: &CstNode) -> usize {
    let before: usize = node.previous_siblings().map(|node| node.to_string().len()).sum();
    before + node.parent().map_or(0, |parent| offset(&parent.into()))
}

fn parse(text: &str) -> Result<CstRootNode, EditError> {
    CstRootNode::parse(text, &OPTIONS).map_err(|error| fault(text, &error))
}

fn fault(text: &str, error: &ParseError) -> EditError {
    if matches!(error.kind(), ParseErrorKind::NestingDepthExceeded) {
        return EditError::TooDeep;
    }
    let (line, column) = place(text, error.range().start);
    let fault = error.kind().to_string();
    let mut letters = fault.chars();
    let first = letters.next().map(|letter| letter.to_ascii_lowercase());
    EditError::Syntax { line, column, fault: first.into_iter().chain(letters).collect() }
}

fn convert(text: &str, value: &Ast<'_>) -> Result<Tree, EditError> {
    Ok(match value {
        Ast::Object(object) => {
            let mut seen = HashSet::with_capacity(object.properties.len());
            let mut members = Vec::with_capacity(object.properties.len());
            for member in &object.properties {
                let key = member.name.as_str();
                if !seen.insert(key) {
                    let (line, column) = place(text, member.range.start);
                    return Err(EditError::Duplicate { line, column, key: key.to_owned() });
                }
                members.push((key.to_owned(), convert(text, &member.value)?));
            }
            Tree::Table(members)
        }
        Ast::Array(array) => {
            let items = array.elements.iter().map(|item| convert(text, item));
            Tree::List(items.collect::<Result<_, _>>()?)
        }
        leaf => Tree::Leaf(text[leaf.range().start..leaf.range().end].to_owned()),
    })
}
