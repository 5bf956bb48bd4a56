use serde::Serialize;

use super::ToolError;

/// How long a page of tables is, in bytes of JSON. That is some 2,500 tokens.
const PAGE_BYTES: usize = 10_000;

/// One page of a list.
pub(super) struct Page<T> {
    pub(super) items: Vec<T>,
    /// The name of the first item of the next page.
    pub(super) next: Option<String>,
}

/// The page that begins at the item named `cursor`, or at the first whose name is not smaller: a table
/// that is gone does not end the reading. It has at least one item.
pub(super) fn page<S, T: Serialize>(
    items: &[S],
    cursor: Option<&str>,
    name: impl Fn(&S) -> String,
    write: impl Fn(&S) -> T,
) -> Result<Page<T>, ToolError> {
    let start = match cursor {
        None => 0,
        Some(cursor) => {
            // A server may sort names in an order of its own, so that only the name itself is sure.
            let same = items.iter().position(|item| name(item) == cursor);
            let later = || items.iter().position(|item| name(item).as_str() >= cursor);
            let none = || ToolError::Arguments(format!("nothing follows the cursor `{cursor}`"));
            same.or_else(later).ok_or_else(none)?
        }
    };
    let (mut written, mut bytes) = (Vec::new(), 0);
    for item in &items[start..] {
        let one = write(item);
        bytes += serde_json::to_string(&one).map_or(0, |text| text.len());
        if bytes > PAGE_BYTES && !written.is_empty() {
            return Ok(Page { items: written, next: Some(name(item)) });
        }
        written.push(one);
    }
    Ok(Page { items: written, next: None })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_in_any_order_of_names_end() {
        let items: Vec<_> = ["alpha", "Beta", "gamma"].map(|name| name.repeat(1200)).to_vec();
        let (mut seen, mut cursor) = (Vec::new(), None::<String>);
        for _ in 0..items.len() {
            let page = page(&items, cursor.as_deref(), String::clone, String::clone);
            let page = page.expect("a page follows");
            seen.extend(page.items);
            cursor = page.next;
        }
        assert_eq!((seen, cursor), (items, None));
    }
}
