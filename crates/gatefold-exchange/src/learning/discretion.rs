//! Which of a user's words may be kept. When in doubt, nothing is kept: a lost query costs little,
//! a kept secret is a leak.

use gatefold_secrecy::{has_secret, is_random, is_secret_noun, is_token_in_any_case};

/// The longest query that is kept, in characters. A longer one is a text, not a request.
const LONGEST: usize = 200;

/// From this many digits, in a row or with a separator or two between, a number counts as personal.
const LONG_NUMBER: usize = 7;
const LONG_PARTED_NUMBER: usize = 9;

/// The fewest bytes of a token after `bearer`.
const BEARER_LENGTH: usize = 6;

/// Names of secrets that people follow with the secret itself, even one without digits.
const SPOKEN_SECRETS: [&str; 4] = ["password", "passwd", "passphrase", "pwd"];

/// Words before such a name when the secret itself follows: "log in with password swordfish".
const GIVING: [&str; 5] = ["with", "using", "and", "by", "use"];

/// A query in the form to keep, on one line; none if it is too long, says nothing, is only the name
/// of a tool, or may contain a secret or personal data.
pub(crate) fn worth_keeping<'a>(
    query: &str,
    names: impl IntoIterator<Item = &'a str>,
) -> Option<String> {
    // One character too many is enough to reject a query, however long it is.
    if query.chars().nth(LONGEST).is_some() || query.chars().any(is_unprintable) {
        return None;
    }
    let query = query.split_whitespace().collect::<Vec<_>>().join(" ");
    let bare = letters(&query);
    let says_something = query.chars().any(char::is_alphabetic);
    let is_name = names.into_iter().any(|name| letters(name) == bare);
    (says_something && !is_name && !is_delicate(&query)).then_some(query)
}

fn is_unprintable(c: char) -> bool {
    c.is_control() && !c.is_whitespace()
}

/// The letters and digits of a text in lower case.
fn letters(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Whether a text may contain a secret, an address or a personal number.
fn is_delicate(text: &str) -> bool {
    // No word of a language contains one; addresses and credentials in URLs do.
    text.contains('@')
        || has_long_number(text)
        || names_a_secret(text)
        || text.split_whitespace().any(is_token)
        || text.split_whitespace().any(is_url_with_more)
        || has_secret(text)
}

/// Whether a URL says more than a place: its query and fragment may grant access.
fn is_url_with_more(word: &str) -> bool {
    word.split_once("://").is_some_and(|(_, rest)| rest.contains(['?', '#']))
}

fn has_long_number(text: &str) -> bool {
    let (mut unbroken, mut parted, mut gap) = (0, 0, 0);
    for c in text.chars() {
        if c.is_numeric() {
            (unbroken, parted, gap) = (unbroken + 1, parted + 1, 0);
        } else {
            gap += 1;
            let is_part = gap <= 2 && " -./()".contains(c);
            (unbroken, parted) = (0, if is_part { parted } else { 0 });
        }
        if unbroken >= LONG_NUMBER || parted >= LONG_PARTED_NUMBER {
            return true;
        }
    }
    false
}

/// Whether the name of a secret precedes something that may be its value.
fn names_a_secret(text: &str) -> bool {
    let lower = text.to_lowercase();
    let spaced = lower.replace(['=', ':'], " = ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let assigned =
        words.windows(3).any(|three| is_secret_noun(three[0]) && is_assignment(three[1]));
    // "password hunter2"
    let valued = words.windows(2).any(|two| is_secret_noun(two[0]) && is_like_a_value(two[1]));
    let is_spoken = |word: &str| SPOKEN_SECRETS.contains(&word);
    let given = words.windows(3).any(|three| {
        GIVING.contains(&three[0]) && is_spoken(three[1]) || is_spoken(three[0]) && three[1] == "to"
    });
    let borne = words.windows(2).any(|two| two[0] == "bearer" && two[1].len() >= BEARER_LENGTH);
    assigned || valued || given || borne
}

/// Whether a word contains what words of a language do not: a digit, or a sign inside.
fn is_like_a_value(word: &str) -> bool {
    let word = word.trim_matches(|c: char| c.is_ascii_punctuation());
    let is_odd = |c: char| c.is_numeric() || c.is_ascii_punctuation() && !"-'/_".contains(c);
    word.contains(is_odd)
}

fn is_assignment(word: &str) -> bool {
    matches!(word, "=" | "is" | "are" | "was")
}

/// Whether a word is a token: it begins like those of well-known services, or is random.
fn is_token(word: &str) -> bool {
    let word = word.trim_matches(|c: char| !c.is_alphanumeric());
    is_token_in_any_case(word) || is_random(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(query: &str, kept: Option<&str>) {
        let names = ["issues__create_issue", "create_issue"];
        assert_eq!(worth_keeping(query, names).as_deref(), kept, "{query}");
    }

    #[test]
    fn requests_are_kept_on_one_line() {
        for (query, kept) in [
            ("file a bug", "file a bug"),
            ("  file\n a\tbug ", "file a bug"),
            (
                "weather in São Paulo on 2026-11-21 at 10:00",
                "weather in São Paulo on 2026-11-21 at 10:00",
            ),
            ("创建问题", "创建问题"),
            (
                "list pull requests of rust-lang/rust#12345",
                "list pull requests of rust-lang/rust#12345",
            ),
            ("read https://docs.example/guide/start", "read https://docs.example/guide/start"),
            ("rotate an api key", "rotate an api key"),
            ("reset my password", "reset my password"),
            ("password manager with two-factor codes", "password manager with two-factor codes"),
            ("list the keys of a bucket", "list the keys of a bucket"),
            ("search_repositories_by_topic_v2", "search_repositories_by_topic_v2"),
            ("convert 100 USD to EUR", "convert 100 USD to EUR"),
            ("asian restaurants, asiatic lilies", "asian restaurants, asiatic lilies"),
            ("ISO 8601 week of 2026-01-01", "ISO 8601 week of 2026-01-01"),
        ] {
            check(query, Some(kept));
        }
    }

    #[test]
    fn secrets_and_data_are_not_kept() {
        for query in [
            "clone with ghp_16C7e42F292c6912E7",
            "use sk-proj-4f9aQ2xY81",
            "AKIAIOSFODNN7EXAMPLE",
            "tvly-dev-x8k2m4",
            "run psql -u ann:swordfish",
            "my otp is 4711",
            "log in, password=hunter2",
            "log in, password: hunter2",
            "my password is hunter2",
            "log in as ann with password hunter2",
            "password hunter2",
            "log in with password swordfish",
            "change my password to swordfish",
            "unlock, pin 4711",
            "use token a$bc",
            "set API_TOKEN = abc",
            "api-key:abc",
            "send header Authorization: Basic abc",
            "Bearer abcdefgh",
            "write to ann@example.com",
            "open https://ann:pw@host.example/",
            "get https://host.example/?sig=abc",
            "get https://host.example/#access",
            "call 5551234567",
            "call +1 (555) 123-4567",
            "card 4111 1111 1111 1111",
            "SSN 123-45-6789",
            "commit 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b",
            "order 550e8400-e29b-41d4-a716-446655440000",
            "decode dGhpcyBpcyBhIHNlY3JldA1",
            "key q7Zt9LmX2vB8kR4w",
            "aVeryLongRunOfLettersThatNobodyWouldEverWriteInOneGo",
        ] {
            check(query, None);
        }
    }

    #[test]
    fn what_is_no_request_is_not_kept() {
        for query in ["", "  ", "12 + 30", "?!", "bell\u{7}", "create_issue", "Create issue"] {
            check(query, None);
        }
        check("issues create-issue", None);
        check(&"word ".repeat(41), None);
        check(&"ä".repeat(LONGEST), Some(&"ä".repeat(LONGEST)));
        check(&"ä".repeat(LONGEST + 1), None);
    }
}
