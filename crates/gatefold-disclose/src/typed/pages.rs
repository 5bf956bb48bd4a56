//! Pages of long answers.

use gatefold_catalog::token_bound;

use crate::arguments::{json_text, object_text};
use crate::cursor::Pages;
use crate::surface::UsageError;
use crate::wording::listed;

/// One over the share of a page in which the names of what is not on it stand.
const NAMES_SHARE: usize = 4;

/// `{..., "tools": [...], "remaining": "a, b, +3 more", "next_cursor": "..."}`: as many items as the
/// budget allows, at least one, and the names of those that follow. `first` are fields with raw
/// values that come before; they identify the list.
pub(super) fn page(
    first: &[(&str, &str)],
    list: &str,
    names: &[&str],
    budget: usize,
    cursor: Option<&str>,
    item: impl Fn(usize) -> String,
) -> Result<String, UsageError> {
    let request: Vec<_> = first.iter().flat_map(|(key, value)| [*key, *value]).collect();
    let pages = Pages::of(&[&request[..], &[list]].concat(), names.iter().copied());
    let start = pages.start(cursor)?;
    let written = |items: &[String], rest: Option<(&str, &str)>| {
        let items = format!("[{}]", items.join(","));
        let rest = rest.map(|(names, next)| (json_text(names), json_text(next)));
        let mut fields = first.to_vec();
        fields.push((list, &items));
        if let Some((names, next)) = &rest {
            fields.extend([("remaining", names.as_str()), ("next_cursor", next)]);
        }
        object_text(fields)
    };
    let names_budget = budget / NAMES_SHARE;
    let longest_cursor = pages.cursor(names.len().saturating_sub(1)).unwrap_or_default();
    let mut cost = token_bound(&written(&[], Some(("", &longest_cursor))));
    let (mut items, mut beside_names) = (Vec::new(), 0);
    for at in start..names.len() {
        let item = item(at);
        cost += token_bound(&item) + 1;
        if cost > budget && !items.is_empty() {
            break;
        }
        items.push(item);
        if cost + names_budget <= budget {
            beside_names = items.len();
        }
    }
    if start + items.len() == names.len() {
        return Ok(written(&items, None));
    }
    items.truncate(beside_names.max(1));
    let end = start + items.len();
    let quoted_tokens = |text: &str| token_bound(&json_text(text));
    let rest = listed(names[end..].iter().copied(), names_budget, quoted_tokens);
    Ok(written(&items, Some((&rest, &pages.cursor(end).unwrap_or_default()))))
}
