//! What of a surface known clients do not take.

use gatefold_catalog::object_fields;
use gatefold_disclose::Surface;

/// The most tools, the longest name, and the longest description and instructions, in bytes, that
/// every known client takes.
const TOOLS: usize = 128;
const NAME: usize = 64;
const TEXT_BYTES: usize = 2048;

/// A phrase for each limit that a surface exceeds.
pub(super) fn excesses(surface: &Surface) -> Vec<String> {
    let mut exceeds = Vec::new();
    let count = surface.tools.len();
    if count > TOOLS {
        exceeds.push(format!("{count} tools, some clients take {TOOLS}"));
    }
    let long = surface.tools.iter().filter(|tool| tool.name.len() > NAME).count();
    if long > 0 {
        exceeds.push(format!("{long} names of more than {NAME} characters"));
    }
    let descriptions = surface.tools.iter().filter_map(|tool| {
        let fields = object_fields(tool.definition.get())?;
        let (_, text) = fields.into_iter().find(|(key, _)| key == "description")?;
        serde_json::from_str::<String>(text).ok()
    });
    let long = descriptions.filter(|text| text.len() > TEXT_BYTES).count();
    if long > 0 {
        exceeds.push(format!("{long} descriptions of more than 2 KiB"));
    }
    if surface.instructions.len() > TEXT_BYTES {
        exceeds.push("instructions of more than 2 KiB".to_owned());
    }
    exceeds
}

#[cfg(test)]
mod tests {
    use gatefold_disclose::ToolSurface;
    use serde_json::value::to_raw_value;

    use super::*;

    fn surface(tools: usize, name: &str, description: &str, instructions: &str) -> Surface {
        let definition = serde_json::json!({ "name": name, "description": description });
        let definition = to_raw_value(&definition).unwrap();
        let tool = ToolSurface { name: name.to_owned(), definition };
        let tools = std::iter::repeat_n(tool, tools).collect();
        Surface { tools, instructions: instructions.to_owned(), tokens: 0 }
    }

    #[test]
    fn what_clients_do_not_take_is_named() {
        let long = "x".repeat(2049);
        for (tools, name, description, instructions, expected) in [
            (128, "a", "b", "c", &[][..]),
            (129, "a", "b", "c", &["129 tools, some clients take 128"][..]),
            (1, &long[..65], "b", "c", &["1 names of more than 64 characters"][..]),
            (2, "a", &long, "c", &["2 descriptions of more than 2 KiB"][..]),
            (1, "a", "b", &long, &["instructions of more than 2 KiB"][..]),
        ] {
            let found = excesses(&surface(tools, name, description, instructions));
            assert_eq!(found, expected, "{tools} {}", name.len());
        }
    }
}
