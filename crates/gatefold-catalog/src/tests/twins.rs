//! Tools that are easily taken for one another.

use super::*;

fn definition(name: &str, line: &str, required: &str) -> String {
    format!(
        r#"{{"name":"{name}","description":"{line}","inputSchema":{{"type":"object","required":[{required}]}}}}"#
    )
}

/// What tells the first tool from the second, if they are alike.
#[track_caller]
fn check(tool: &str, other: &str, expected: Option<&str>) {
    let view = view(vec![entry("chat", &[tool, other])]);
    let (tool, other) = (view.tools().next().unwrap(), view.tools().nth(1).unwrap());
    let (tool, other) = if tool.definition().listed_at() < other.definition().listed_at() {
        (tool, other)
    } else {
        (other, tool)
    };
    let alike = likeness(tool, other).is_some();
    assert_eq!(alike, likeness(other, tool).is_some(), "it goes both ways");
    let apart = alike.then(|| told_apart(tool, other)).flatten();
    assert_eq!(apart.as_deref(), expected);
}

#[test]
fn names_and_required_parameters_tell_tools_apart() {
    let user = definition("send-user-message", "Sends it.", r#""user_id","text""#);
    let channel = definition("send-channel-message", "Sends it.", r#""channel_id","text""#);
    check(&user, &channel, Some("user, not channel; takes user_id, not channel_id"));
    check(&channel, &user, Some("channel, not user; takes channel_id, not user_id"));
}

#[test]
fn one_of_them_may_have_nothing_of_its_own() {
    let issue = definition("get_issue", "Gets it.", "");
    let comments = definition("getIssueComments", "Gets them.", r#""page""#);
    check(&issue, &comments, Some("no comments; takes no page"));
    check(&comments, &issue, Some("comments; takes page"));
}

#[test]
fn first_lines_tell_tools_of_the_same_words_apart() {
    let one = definition("list_issues", "Lists open issues.", "");
    let other = definition("issues.list", "Lists closed issues.", "");
    check(&one, &other, Some("open, not closed"));
    let same = definition("issues.list", "Lists open issues.", "");
    check(&one, &same, None);
}

#[test]
fn tools_that_share_little_are_not_alike() {
    let send = definition("send_message", "Sends it.", "");
    check(&send, &definition("list_channels", "Lists them.", ""), None);
    check(&send, &definition("send_file_to_user", "Sends it.", ""), None);
    check(&send, &definition("___", "Nothing.", "7"), None);
}

#[test]
fn tools_of_different_sources_are_told_apart_by_their_domains() {
    let (mail, chat) = (tool("send", "Sends it."), tool("send", "Sends it."));
    let view = view(vec![entry("mail", &[&mail]), entry("chat", &[&chat])]);
    let tools: Vec<_> = view.tools().collect();
    assert_eq!(likeness(tools[0], tools[1]), None);
    assert_eq!(likeness(tools[0], tools[0]), None);
}
