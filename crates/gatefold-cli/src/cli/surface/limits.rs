//! What of a surface known clients do not take.

use gatefold::{App, ShownTo};
use gatefold_catalog::object_fields;
use gatefold_core::ClientName;
use gatefold_disclose::{ClientLimits, Surface};
use gatefold_exchange::Disclosures;

/// The most tools, the longest name, and the longest description, in bytes, that every known client
/// takes.
const TOOLS: usize = 128;
const NAME: usize = 64;
const DESCRIPTION_BYTES: usize = 2048;

/// A phrase for each limit that a surface exceeds. `limits` are its client's.
pub(super) fn excesses(surface: &Surface, limits: ClientLimits) -> Vec<String> {
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
    let long = descriptions.filter(|text| text.len() > DESCRIPTION_BYTES).count();
    if long > 0 {
        exceeds.push(format!("{long} descriptions of more than 2 KiB"));
    }
    if surface.instructions.len() > limits.instructions_bytes {
        let bytes = limits.instructions_bytes;
        exceeds.push(format!("instructions of more than {bytes} bytes"));
    }
    exceeds
}

/// A sentence for each configured choice, the default's and clients', that exceeds what known clients
/// take, with what to do about it.
pub(in crate::cli) fn warnings_of_excess(app: &App) -> Vec<String> {
    let config = app.config();
    let own = config.clients.iter().filter(|(_, profile)| profile.disclosure.is_some());
    let own = own.map(|(name, _)| (format!("clients.{name}.disclosure"), Some(name)));
    let choices = [("disclosure.default".to_owned(), None)].into_iter().chain(own);
    let warning = |(key, client): (String, Option<&ClientName>)| {
        let (disclosure, exceeds) = chosen(app, None, client)?;
        if exceeds.is_empty() {
            return None;
        }
        let mut others = Disclosures::OURS.into_iter();
        let other = others.find(|name| {
            chosen(app, Some(name), client).is_some_and(|(_, exceeds)| exceeds.is_empty())
        });
        let cure = match other {
            Some(other) => format!("`{other}` stays within it"),
            None => "pin fewer tools with `disclosure.pinned`".to_owned(),
        };
        let exceeds = exceeds.join("; ");
        Some(format!(
            "`{key}` is `{disclosure}`, which is more than some clients take ({exceeds}): {cure}"
        ))
    };
    choices.filter_map(warning).collect()
}

/// The disclosure that a client is shown, and what of it exceeds the limits.
fn chosen(
    app: &App,
    disclosure: Option<&str>,
    client: Option<&ClientName>,
) -> Option<(String, Vec<String>)> {
    let whom = ShownTo { client, ..ShownTo::default() };
    let turn = app.turn_for(disclosure, &whom).ok()?;
    let audience = turn.audience();
    let exceeds = excesses(turn.lists().surface(), *audience.limits());
    Some((audience.disclosure_name().to_string(), exceeds))
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
        Surface { tools, instructions: instructions.to_owned() }
    }

    #[test]
    fn what_clients_do_not_take_is_named() {
        let long = "x".repeat(2049);
        for (tools, name, description, instructions, expected) in [
            (128, "a", "b", "c", &[][..]),
            (129, "a", "b", "c", &["129 tools, some clients take 128"][..]),
            (1, &long[..65], "b", "c", &["1 names of more than 64 characters"][..]),
            (2, "a", &long, "c", &["2 descriptions of more than 2 KiB"][..]),
            (1, "a", "b", &long, &["instructions of more than 2048 bytes"][..]),
        ] {
            let found =
                excesses(&surface(tools, name, description, instructions), ClientLimits::default());
            assert_eq!(found, expected, "{tools} {}", name.len());
        }
    }

    #[test]
    fn a_client_that_takes_longer_instructions_is_given_them() {
        let limits = ClientLimits { instructions_bytes: 4096 };
        for (length, expected) in
            [(4096, &[][..]), (4097, &["instructions of more than 4096 bytes"][..])]
        {
            assert_eq!(excesses(&surface(1, "a", "b", &"x".repeat(length)), limits), expected);
        }
    }
}
