//! JSON with comments and trailing commas.

use std::collections::HashSet;

use jsonc_parser::ast::{Object, Value as Ast};
use jsonc_parser::common::Ranged as _;
use jsonc_parser::errors::ParseErrorKind;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};

use crate::EditError;
use crate::braces::{Braces, Comments, Layout, Member};
use crate::edit::{Body, Kind, Piece, Spot};
use crate::entry::Value;
use crate::text::{indent, is_blank, line_start, place, quoted};
use crate::tree::Tree;

const DEFAULT_UNIT: &str = "  ";

pub(crate) fn tree(text: &str) -> Result<Tree, EditError> {
    let root = parse(text)?;
    root.as_ref().map_or(Ok(Tree::Nothing), |root| convert(text, root))
}

pub(crate) fn insert(
    text: &str,
    path: &[String],
    name: &str,
    body: Body<'_>,
    spot: Spot<'_>,
) -> Result<String, EditError> {
    let mut text = text.to_owned();
    if parse(&text)?.is_none() {
        let line = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
        text = format!("{text}{line}{{}}\n");
    }
    for (depth, key) in path.iter().enumerate() {
        let (outer, unit) = find(&text, &path[..depth])?;
        if outer.position(key).is_none() {
            let layout = outer.layout(&text, &unit);
            let member = rendered(key, &Value::Table(Vec::new()), &layout);
            let end = outer.members.len();
            text = outer.insert(&text, Comments::Slashes, end, &layout, &member);
        }
    }
    let (braces, unit) = find(&text, path)?;
    let layout = braces.layout(&text, &unit);
    let member = match body {
        Body::New(value) => rendered(name, value, &layout),
        Body::Back([Piece { text, .. }]) => text.clone(),
        Body::Back(_) => return Err(EditError::Unsafe("a member in several parts".to_owned())),
    };
    let index = match spot {
        Spot::End => braces.members.len(),
        Spot::After(before) => braces.index_after(before),
    };
    Ok(braces.insert(&text, Comments::Slashes, index, &layout, &member))
}

pub(crate) fn take(
    text: &str,
    path: &[String],
    name: &str,
) -> Result<(String, Vec<Piece>), EditError> {
    let (braces, _) = find(text, path)?;
    let missing = || EditError::NoSuchServer(name.to_owned());
    let index = braces.position(name).ok_or_else(missing)?;
    let member = &braces.members[index];
    let piece = Piece { text: text[member.start..member.end].to_owned(), kind: Kind::Braced };
    Ok((braces.take(text, Comments::Slashes, index), vec![piece]))
}

/// `"key": value` in the layout's manner.
pub(crate) fn rendered(key: &str, value: &Value, layout: &Layout) -> String {
    let colon = if layout.is_spaced { ": " } else { ":" };
    format!("{}{colon}{}", quoted(key), render(value, layout, layout.indent.as_deref()))
}

fn render(value: &Value, layout: &Layout, indent: Option<&str>) -> String {
    let (colon, comma) = if layout.is_spaced { (": ", ", ") } else { (":", ",") };
    match value {
        Value::Text(text) => quoted(text),
        Value::Flag(flag) => flag.to_string(),
        Value::Number(number) => number.to_string(),
        Value::List(items) => {
            let items: Vec<_> = items.iter().map(|item| quoted(item)).collect();
            format!("[{}]", items.join(comma))
        }
        Value::Table(members) if members.is_empty() => "{}".to_owned(),
        Value::Table(members) => {
            let inner = indent.map(|indent| format!("{indent}{}", layout.unit));
            let members: Vec<_> = members
                .iter()
                .map(|(key, value)| {
                    format!("{}{colon}{}", quoted(key), render(value, layout, inner.as_deref()))
                })
                .collect();
            let line = layout.newline;
            if let (Some(outer), Some(inner)) = (indent, inner) {
                let joined = members.join(&format!(",{line}{inner}"));
                return format!("{{{line}{inner}{joined}{line}{outer}}}");
            }
            let pad = if layout.is_spaced { " " } else { "" };
            format!("{{{pad}{}{pad}}}", members.join(comma))
        }
    }
}

/// The object at `path`, which is there, and the text's step of indentation.
fn find(text: &str, path: &[String]) -> Result<(Braces, String), EditError> {
    let root = parse(text)?;
    let not_a_table = |depth: usize| EditError::NotATable { path: path[..depth].to_vec() };
    let root = root.as_ref().and_then(Ast::as_object).ok_or_else(|| not_a_table(0))?;
    let mut object = root;
    for (depth, key) in path.iter().enumerate() {
        let member = object.get(key).map(|member| &member.value);
        object = member.and_then(Ast::as_object).ok_or_else(|| not_a_table(depth + 1))?;
    }
    Ok((braces(object), unit(text, root)))
}

fn braces(object: &Object<'_>) -> Braces {
    let members = object.properties.iter().map(|member| Member {
        name: member.name.as_str().to_owned(),
        start: member.range.start,
        end: member.range.end,
    });
    let (open, close) = (object.range.start, object.range.end - 1);
    Braces { open, close, members: members.collect() }
}

/// What the first member of the root that begins a line is indented by.
fn unit(text: &str, root: &Object<'_>) -> String {
    let starts = root.properties.iter().map(|member| member.range.start);
    let own_line = |start: &usize| is_blank(&text[line_start(text, *start)..*start]);
    let found = starts.clone().find(own_line).map(|start| indent(text, start));
    found.filter(|unit| !unit.is_empty()).unwrap_or(DEFAULT_UNIT).to_owned()
}

fn parse(text: &str) -> Result<Option<Ast<'_>>, EditError> {
    let options = ParseOptions {
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
    let parsed = parse_to_ast(text, &CollectOptions::default(), &options).map_err(|error| {
        if matches!(error.kind(), ParseErrorKind::NestingDepthExceeded) {
            return EditError::TooDeep;
        }
        let (line, column) = place(text, error.range().start);
        let fault = error.kind().to_string();
        let mut letters = fault.chars();
        let first = letters.next().map(|letter| letter.to_ascii_lowercase());
        EditError::Syntax { line, column, fault: first.into_iter().chain(letters).collect() }
    })?;
    Ok(parsed.value)
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
        Ast::Array(array) => Tree::List(
            array.elements.iter().map(|item| convert(text, item)).collect::<Result<_, _>>()?,
        ),
        leaf => Tree::Leaf(text[leaf.range().start..leaf.range().end].to_owned()),
    })
}
