use std::collections::{HashMap, HashSet};

use super::{ListedTool, Request};

/// Which half of a set a request belongs to.
///
/// Constants may be chosen by the one half only, so that the other tells how well they do elsewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Half {
    Tuning,
    Telling,
}

impl Half {
    pub const BOTH: [Self; 2] = [Self::Tuning, Self::Telling];

    /// The half of a server, or of whatever else groups requests: the same on every machine and in
    /// every set. FNV-1a, finished as splitmix64 is so that all bits of the name count.
    pub fn of(group: &str) -> Self {
        let mut hash = 0xCBF2_9CE4_8422_2325_u64;
        for byte in group.bytes() {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3);
        }
        hash = (hash ^ (hash >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        hash = (hash ^ (hash >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        hash ^= hash >> 31;
        if hash >> 63 == 0 { Self::Tuning } else { Self::Telling }
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Tuning => "tuning",
            Self::Telling => "telling",
        }
    }
}

/// The half of each request: that of the server of the first tool that fits it, or of the tool's
/// category where no server is known.
///
/// If all servers of a set are in one half, its tools are split instead.
pub fn halves(tools: &[ListedTool], requests: &[Request]) -> Vec<Half> {
    let group = |tool: &ListedTool| {
        let named = tool.server.as_ref().or(tool.category.as_ref()).filter(|name| !name.is_empty());
        named.unwrap_or(&tool.id).clone()
    };
    let groups: HashMap<&str, String> =
        tools.iter().map(|tool| (tool.id.as_str(), group(tool))).collect();
    let first = |request: &Request| request.relevant.first().cloned().unwrap_or_default();
    let by_group = requests.iter().map(|request| {
        let first = first(request);
        Half::of(groups.get(first.as_str()).unwrap_or(&first))
    });
    let halves: Vec<Half> = by_group.collect();
    let grouped: HashSet<&String> = groups.values().collect();
    let in_one = Half::BOTH.iter().any(|half| !halves.contains(half));
    if in_one && grouped.len() < tools.len() {
        return requests.iter().map(|request| Half::of(&first(request))).collect();
    }
    halves
}

#[cfg(test)]
mod tests {
    use super::super::{read_requests, read_tools};
    use super::*;

    /// The halves of requests that fit a tool each.
    fn split(tools: &str) -> Vec<Half> {
        let tools = read_tools(tools).unwrap();
        let line =
            |tool: &ListedTool| format!(r#"{{"id":"1","text":"","relevant":["{}"]}}"#, tool.id);
        let requests: Vec<_> = tools.iter().map(line).collect();
        halves(&tools, &read_requests(&requests.join("\n")).unwrap())
    }

    #[test]
    fn the_requests_of_a_server_stay_together() {
        let tools = ["github", "slack", "stripe", "notion", "trello", "sentry"]
            .map(|server| {
                (0..3).map(move |at| {
                    format!(r#"{{"id":"{server}{at}","name":"a","server":"{server}"}}"#)
                })
            })
            .into_iter()
            .flatten();
        let found = split(&tools.collect::<Vec<_>>().join("\n"));
        assert!(Half::BOTH.iter().all(|half| found.contains(half)), "{found:?}");
        assert!(found.chunks(3).all(|server| server.iter().all(|half| *half == server[0])));
    }

    #[test]
    fn the_tools_of_a_single_server_are_split() {
        let tools = (0..20).map(|at| format!(r#"{{"id":"t{at}","name":"a","server":"one"}}"#));
        let found = split(&tools.collect::<Vec<_>>().join("\n"));
        assert!(Half::BOTH.iter().all(|half| found.contains(half)), "{found:?}");
    }

    #[test]
    fn a_half_stays_what_it_is() {
        let names = ["github", "slack", "stripe", "notion", "trello", "sentry", ""];
        let found = names.map(|name| Half::of(name).name());
        assert_eq!(found.join(" "), "telling telling tuning telling tuning tuning telling");
    }
}
