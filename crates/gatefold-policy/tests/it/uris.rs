//! Rules about resources apply however a URI is written.

use std::sync::Arc;

use gatefold_core::{Digest, Domain, EntryKind, Hints, Principal, RuleId, Target, ToolId};
use gatefold_policy::{Effect, Entries, Glob, Policy, PrincipalFilter, Rule, Scope, normal_uri};
use proptest::prelude::*;

const SPELLINGS: &str = include_str!("spellings.txt");

/// How many spellings each denied resource must have at least.
const LEAST: usize = 100;

/// What is allowed while everything else is hidden. Much of it begins or ends as a denied URI may.
const ALLOWED: [&str; 8] = [
    "file:///pub/*",
    "*.md",
    "http://intranet.example/public/*",
    "https://intranet.example/public/*",
    "postgres://db.example/public/*",
    "memo:public/*",
    "memo:/public/*",
    "memo:///public/*",
];

fn policy(effect: Effect, scope: &Scope, patterns: &[&str]) -> Policy {
    let rule = |pattern: &&str| Rule {
        id: RuleId::new(*pattern),
        effect,
        who: PrincipalFilter::everybody(),
        scope: scope.clone(),
        entries: Entries::Only(EntryKind::Resource),
        pattern: Glob::new(*pattern),
        unless: Vec::new(),
    };
    Policy::new(patterns.iter().map(rule).collect())
}

fn up() -> Domain {
    Domain::parse("up").unwrap()
}

fn shows(policy: &Policy, uri: &str) -> bool {
    let target = Target {
        kind: EntryKind::Resource,
        domain: up(),
        id: ToolId::new(format!("gatefold://up/{uri}")),
        name: uri.into(),
        digest: Digest::new([0; 32]),
        hints: Hints::default(),
    };
    policy.is_visible(&Principal::local(), &target)
}

/// What is sent for a URI that a caller asks for, if anything.
fn sent(policy: &Policy, uri: &str) -> Option<String> {
    normal_uri(uri).filter(|normal| shows(policy, normal))
}

/// Rules that use the source's own URIs, and rules that use the gateway's addresses.
fn policies(effect: Effect, patterns: &[&str]) -> [Policy; 2] {
    let public: Vec<_> = patterns.iter().map(|own| format!("gatefold://up/{own}")).collect();
    let public: Vec<&str> = public.iter().map(String::as_str).collect();
    [policy(effect, &Scope::Domain(up()), patterns), policy(effect, &Scope::Everywhere, &public)]
}

/// The sections of the corpus: their titles, and their lines with the characters that are named in them.
fn sections() -> Vec<(&'static str, Vec<String>)> {
    let text = SPELLINGS.lines().filter(|line| !line.starts_with('#'));
    let lines: Vec<_> = text.collect();
    let sections = lines.split(|line| line.is_empty()).filter(|lines| !lines.is_empty());
    let section = |lines: &[&'static str]| {
        (lines[0], lines[1..].iter().map(|line| with_characters(line)).collect())
    };
    sections.map(section).collect()
}

fn with_characters(line: &str) -> String {
    let mut text = String::new();
    let mut rest = line;
    while let Some((before, behind)) = rest.split_once("<U+") {
        let (number, behind) = behind.split_once('>').unwrap();
        text.push_str(before);
        text.push(char::from_u32(u32::from_str_radix(number, 16).unwrap()).unwrap());
        rest = behind;
    }
    text + rest
}

#[test]
fn no_spelling_gets_round_a_rule() {
    let sections = sections();
    let denied: Vec<_> = sections
        .iter()
        .filter_map(|(title, lines)| Some((title.strip_prefix("deny ")?, lines)))
        .collect();
    assert_eq!(denied.len(), 6);
    let mut through = Vec::new();
    for (pattern, lines) in denied {
        assert!(lines.len() >= LEAST, "{pattern} has {} spellings", lines.len());
        let denying = policies(Effect::Deny, &[pattern]);
        let allowing = policies(Effect::Allow, &ALLOWED);
        for uri in
            lines.iter().flat_map(|line| [line.clone(), format!(" {line}"), format!("{line} ")])
        {
            for policy in denying.iter().chain(&allowing) {
                if let Some(sent) = sent(policy, &uri) {
                    through.push(format!("{pattern}: {uri:?} is sent as {sent:?}"));
                }
                // Only the source that lists them can make sense of overlong forms.
                if shows(policy, &uri) && !uri.contains("%c0") {
                    through.push(format!("{pattern}: {uri:?} is shown where it is listed"));
                }
            }
        }
    }
    assert_eq!(through, [""; 0], "{} got through", through.len());
}

#[test]
fn what_no_rule_means_is_asked_for_in_its_normal_form() {
    let sections = sections();
    let (_, lines) = sections.iter().find(|(title, _)| *title == "open").unwrap();
    let patterns: Vec<_> =
        sections.iter().filter_map(|(title, _)| title.strip_prefix("deny ")).collect();
    let denying = policies(Effect::Deny, &patterns);
    for line in lines {
        let (asked, expected) = line.split_once(" -> ").unwrap_or((line, line));
        for policy in &denying {
            assert_eq!(sent(policy, asked).as_deref(), Some(expected), "{asked}");
            assert!(shows(policy, asked), "{asked} where it is listed");
        }
        assert_eq!(normal_uri(expected).as_deref(), Some(expected), "a normal URI stays as it is");
    }
}

#[test]
fn a_pattern_means_the_same_however_it_is_written() {
    for pattern in [
        "file:/etc/*",
        "FILE:///etc/*",
        "file://localhost/etc/*",
        "file:///%65tc/*",
        "file:///x/../etc/*",
        "*passwd",
        "*/etc/*",
    ] {
        let [own, _] = policies(Effect::Deny, &[pattern]);
        assert!(!shows(&own, "file:///etc/passwd"), "{pattern}");
        let [own, public] = policies(Effect::Allow, &[pattern]);
        assert!(shows(&own, "file:///etc/passwd"), "{pattern}");
        assert!(shows(&public, "file:///etc/passwd"), "{pattern}");
        assert!(!shows(&own, "file:///home/a"), "{pattern}");
    }
    let [own, _] = policies(Effect::Allow, &["file:///a b/*", "x://h/?q=*"]);
    for (uri, expected) in [
        ("file:///a%20b/c", true),
        ("file:///a b/c", true),
        ("x://h/?q=1", true),
        ("x://h/", false),
        ("a text that is no URI", false),
    ] {
        assert_eq!(shows(&own, uri), expected, "{uri}");
    }
}

#[test]
fn a_drive_is_written_with_a_colon() {
    let [own, _] = policies(Effect::Deny, &["file:///C:/secret/*"]);
    for uri in [
        "file:///C:/secret/a",
        "file:///c:/secret/a",
        "file:///C|/secret/a",
        "file:///C%7C/secret/a",
        "file:///C%3A/secret/a",
        "file:///C:\\secret\\a",
        "file:C:/secret/a",
        "file://C:/secret/a",
        "file:///C:/x/../secret/a",
    ] {
        assert_eq!(sent(&own, uri), None, "{uri}");
    }
    assert_eq!(sent(&own, "file:///C:/open/a").as_deref(), Some("file:///C:/open/a"));
}

#[test]
fn a_listed_template_is_judged_by_its_text() {
    let [own, public] = policies(Effect::Deny, &["file:///{name}", "note://{id}*"]);
    for policy in [own, public] {
        for uri in ["file:///{name}", "note://{id}", "note://{id}/x"] {
            assert!(!shows(&policy, uri), "{uri}");
        }
        for uri in ["file:///{other}", "{x}", "note:7"] {
            assert!(shows(&policy, uri), "{uri}");
        }
    }
    let [own, _] = policies(Effect::Allow, &["file:///{name}", "{x}"]);
    assert!(shows(&own, "file:///{name}") && shows(&own, "{x}") && !shows(&own, "note:7"));
}

/// The paths that various servers open for a file URI.
fn opened(uri: &str) -> Vec<String> {
    let strip = |uri: &str| -> Vec<String> {
        let lower = uri.to_ascii_lowercase();
        let rest = |prefix: &str| lower.starts_with(prefix).then(|| uri[prefix.len()..].to_owned());
        let mut paths: Vec<String> =
            ["file://localhost", "file://", "file:"].iter().filter_map(|p| rest(p)).collect();
        // Leaving out the host, whatever it is.
        let behind_host = rest("file://").and_then(|rest| Some(rest[rest.find('/')?..].to_owned()));
        paths.extend(behind_host);
        paths
    };
    let decode = |text: &str| -> String {
        let bytes = text.as_bytes();
        let (mut decoded, mut at) = (Vec::new(), 0);
        while at < bytes.len() {
            let digits = text.get(at + 1..at + 3).filter(|_| bytes[at] == b'%');
            let byte = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
            decoded.push(byte.unwrap_or(bytes[at]));
            at += if byte.is_some() { 3 } else { 1 };
        }
        String::from_utf8_lossy(&decoded).into_owned()
    };
    let resolve = |path: &str| {
        let path = path.replace('\\', "/").to_ascii_lowercase();
        let mut kept: Vec<&str> = Vec::new();
        for segment in path.split('/') {
            match segment {
                "" | "." => {}
                ".." => drop(kept.pop()),
                segment => kept.push(segment),
            }
        }
        format!("/{}", kept.join("/"))
    };
    let cut = |text: &str| -> String {
        text.split(['?', '#', '\0']).next().unwrap_or_default().to_owned()
    };
    let mut opened = Vec::new();
    for path in strip(uri.trim()).into_iter().chain(strip(&decode(uri.trim()))) {
        for path in [path.clone(), cut(&path)] {
            let once = decode(&path);
            let twice = decode(&once);
            for path in [path, cut(&once), once, cut(&twice), twice] {
                opened.push(resolve(&path));
            }
        }
    }
    opened
}

#[test]
fn the_servers_that_the_corpus_is_about_open_what_it_says() {
    let sections = sections();
    let (_, lines) = sections.iter().find(|(title, _)| *title == "deny file:///etc/*").unwrap();
    let is_read = |line: &&String| opened(line).iter().any(|path| path == "/etc/passwd");
    // The other spellings use an encoding or a host that none of these servers knows.
    let read = lines.iter().filter(is_read).count();
    assert!(read * 10 >= lines.len() * 8, "{read} of {}", lines.len());
}

fn piece() -> impl Strategy<Value = &'static str> {
    prop::sample::select(
        &[
            "file:",
            "FILE:",
            "//",
            "/",
            "\\",
            "etc",
            "%65tc",
            "ETC",
            "passwd",
            "passw%64",
            "..",
            ".",
            "%2e",
            "%2E",
            "%2f",
            "%5c",
            "%25",
            "32",
            "65",
            "localhost",
            "127.0.0.1",
            "?",
            "#",
            "%00",
            "pub",
            "%3f",
            "%23",
            ":",
            "@",
            ";",
            " ",
            "%",
            "x",
            "|",
            "*",
        ][..],
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_000))]

    #[test]
    fn nothing_that_is_sent_is_opened_as_what_is_denied(
        start in prop::sample::select(&["file:///", "file:/", "file://", "file:", "FILE:\\\\"][..]),
        pieces in prop::collection::vec(piece(), 1..9),
    ) {
        let uri = format!("{start}{}", pieces.concat());
        for policy in policies(Effect::Deny, &["file:///etc/*"]) {
            if let Some(sent) = sent(&policy, &uri) {
                let opened = opened(&sent);
                prop_assert!(!opened.iter().any(|path| path == "/etc/passwd"), "{uri:?} {sent:?}");
                prop_assert_eq!(normal_uri(&sent), Some(sent));
            }
        }
        let allowing = policy(Effect::Allow, &Scope::Domain(up()), &["file:///pub/*", "*.md"]);
        if let Some(sent) = sent(&allowing, &uri) {
            let opened = opened(&sent);
            prop_assert!(!opened.iter().any(|path| path == "/etc/passwd"), "{uri:?} {sent:?}");
        }
    }
}

#[test]
fn a_policy_of_many_rules_judges_many_resources_soon() {
    let patterns: Vec<_> = (0..50).map(|n| format!("file:///deny{n}/*")).collect();
    let patterns: Vec<&str> = patterns.iter().map(String::as_str).collect();
    let [own, _] = policies(Effect::Deny, &patterns);
    let own = Arc::new(own);
    let started = std::time::Instant::now();
    let shown = (0..2_000).filter(|n| shows(&own, &format!("file:///a/b/c{n}.md"))).count();
    assert_eq!(shown, 2_000);
    assert!(started.elapsed().as_secs() < 5, "{:?}", started.elapsed());
}
