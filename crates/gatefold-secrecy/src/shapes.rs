//! What a value looks like, regardless of its name.

use super::names::NameClass;
use super::{REFERENCE, is_reference};

/// Prefixes of tokens of well-known services that occur in nothing else.
const TOKEN_BEGINNINGS: &[&str] = &[
    "ghp_",
    "gho_",
    "ghu_",
    "ghs_",
    "ghr_",
    "github_pat_",
    "glpat-",
    "gldt-",
    "sk-ant-",
    "sk-proj-",
    "sk_live_",
    "sk_test_",
    "rk_live_",
    "pk_live_",
    "xoxb-",
    "xoxp-",
    "xoxa-",
    "xoxc-",
    "xoxd-",
    "xoxs-",
    "xoxe-",
    "xapp-",
    "AKIA",
    "ASIA",
    "AIza",
    "ya29.",
    "hf_",
    "gf_a",
    "npm_",
    "pypi-",
    "dop_v1_",
    "shpat_",
    "lin_api_",
    "ntn_",
    "figd_",
    "tvly-",
    "pplx-",
    "ATATT",
    "BSA",
];

/// Prefixes that words have too, so a capital or a digit must follow.
const LIKELY_BEGINNINGS: &[&str] =
    &["sk-", "sk_", "pk_", "rk_", "xox", "eyJ", "secret_", "r8_", "key-", "SG.", "api-", "token-"];

/// The fewest bytes of a token after its beginning.
const TOKEN_REST: usize = 6;

/// The fewest letters and digits of noise that can be recognised by changes of kind.
const RANDOM_LENGTH: usize = 20;

/// The fewest letters and digits of noise that can be recognised by its entropy as well.
const DENSE_LENGTH: usize = 16;

/// The least entropy of a random key, in bits per character (Shannon 1948, "A mathematical theory
/// of communication"). Sixteen random hexadecimal digits nearly always have 3 or more.
const RANDOM_BITS: f64 = 2.75;

const UUID_LENGTH: usize = 36;

/// Whether a value starts like the tokens of a well-known service.
pub fn is_token(word: &str) -> bool {
    let has_rest = |rest: &str| rest.len() >= TOKEN_REST;
    let is_made = |c: char| c.is_ascii_digit() || c.is_ascii_uppercase();
    let begins = |beginning: &&str| word.strip_prefix(*beginning).is_some_and(has_rest);
    TOKEN_BEGINNINGS.iter().any(begins)
        || LIKELY_BEGINNINGS
            .iter()
            .any(|beginning| begins(beginning) && word[beginning.len()..].contains(is_made))
}

/// Whether a word is a token in any spelling: people and models copy tokens carelessly. Too strict
/// for configuration, where `asia-southeast1` is a region.
pub fn is_token_in_any_case(word: &str) -> bool {
    let lower = word.to_ascii_lowercase();
    let begins = |beginning: &&str| {
        let rest = lower.strip_prefix(beginning.to_ascii_lowercase().as_str());
        // Words begin like this too, but do not continue with digits.
        rest.is_some_and(|rest| {
            rest.len() >= TOKEN_REST && rest.contains(|c: char| c.is_ascii_digit())
        })
    };
    TOKEN_BEGINNINGS.iter().chain(LIKELY_BEGINNINGS).any(begins) || is_token(word)
}

/// Letters and digits without a pattern, like generated keys. Names, dates and versions have
/// patterns.
pub fn is_random(word: &str) -> bool {
    is_noise(word) || is_dense_noise(word)
}

fn is_noise(word: &str) -> bool {
    let is_legal = |c: char| c.is_ascii_alphanumeric() || "_-+/=.~".contains(c);
    if !word.chars().all(is_legal) {
        return false;
    }
    let runs = word.split(|c: char| !c.is_ascii_alphanumeric());
    let length = word.bytes().filter(u8::is_ascii_alphanumeric).count();
    let breaks = runs.clone().map(breaks).sum::<usize>();
    let has_digits = word.contains(|c: char| c.is_ascii_digit());
    // In words written as one, a capital comes every few letters; in noise, far more often.
    let share = if has_digits { 5 } else { 3 };
    let is_noise = length >= RANDOM_LENGTH && breaks >= 4 && breaks * share >= length;
    is_noise || runs.into_iter().any(is_random_run) || (word.ends_with('=') && length >= 16)
}

/// Finds shorter noise by its entropy, and runs of letters that are too long for a word.
fn is_dense_noise(word: &str) -> bool {
    const LONGEST_WORD: usize = 32;
    let runs: Vec<&str> = word.split(|c: char| !c.is_ascii_alphanumeric()).collect();
    if runs.iter().any(|run| run.len() > LONGEST_WORD) {
        return true;
    }
    let bytes: Vec<u8> = runs.iter().flat_map(|run| run.bytes()).collect();
    if bytes.len() < DENSE_LENGTH || entropy(&bytes) < RANDOM_BITS {
        return false;
    }
    let has_digits = bytes.iter().any(u8::is_ascii_digit);
    let share = if has_digits { 5 } else { 3 };
    let is_mixed = |run: &&str| {
        let digits = run.bytes().filter(u8::is_ascii_digit).count();
        run.len() >= DENSE_LENGTH && digits > 1 && digits < run.len()
    };
    runs.iter().map(|run| breaks(run)).sum::<usize>() * share >= bytes.len()
        || runs.iter().any(is_mixed)
}

#[expect(clippy::cast_precision_loss, reason = "counts of characters are small")]
fn entropy(bytes: &[u8]) -> f64 {
    let mut counts = [0_usize; 256];
    for byte in bytes {
        counts[usize::from(*byte)] += 1;
    }
    let shares = counts.iter().filter(|count| **count > 0);
    let shares = shares.map(|count| *count as f64 / bytes.len() as f64);
    -shares.map(|share| share * share.log2()).sum::<f64>()
}

/// A run of letters and digits that no name contains.
fn is_random_run(run: &str) -> bool {
    const LONGEST_WORD: usize = 28;
    const KEY_LENGTH: usize = 16;
    let digits = run.bytes().filter(u8::is_ascii_digit).count();
    let is_mixed = digits > 0 && digits < run.len();
    let is_hex = run.bytes().all(|b| b.is_ascii_hexdigit());
    (digits == 0 && run.len() >= LONGEST_WORD)
        || (is_mixed && run.len() >= RANDOM_LENGTH)
        || (is_mixed && run.len() >= KEY_LENGTH && (is_hex || breaks(run) >= 4))
}

/// How often a run changes between digits, lower-case and capital letters. A capital that begins a
/// word does not count.
fn breaks(run: &str) -> usize {
    let kind = |b: u8| match b {
        b'0'..=b'9' => 0,
        b'a'..=b'z' => 1,
        _ => 2,
    };
    let pairs = run.as_bytes().windows(2);
    pairs
        .filter(|pair| kind(pair[0]) != kind(pair[1]) && (kind(pair[0]), kind(pair[1])) != (2, 1))
        .count()
}

/// The form in RFC 9562, section 4.
pub fn is_uuid(value: &str) -> bool {
    let lengths = value.split('-').map(str::len);
    value.len() == UUID_LENGTH
        && lengths.eq([8, 4, 4, 4, 12])
        && value.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-')
}

/// Whether a word is a UUID, or ends with one: some services make tokens like that.
fn ends_with_uuid(word: &str) -> bool {
    word.len().checked_sub(UUID_LENGTH).and_then(|start| word.get(start..)).is_some_and(is_uuid)
}

/// A value that a variable called `AUTH` or the like may have without being a secret.
pub fn is_switch(value: &str) -> bool {
    const WORDS: &[&str] = &[
        "true", "false", "yes", "no", "on", "off", "none", "null", "auto", "0", "1", "enabled",
        "disabled",
    ];
    WORDS.iter().any(|word| value.eq_ignore_ascii_case(word))
}

/// Whether a text is recognisably a path: from the root, the home or a folder.
pub fn is_path(word: &str) -> bool {
    let is_drive = |word: &str| {
        let mut chars = word.chars();
        chars.next().is_some_and(|c| c.is_ascii_alphabetic())
            && chars.next() == Some(':')
            && matches!(chars.next(), Some('\\' | '/'))
    };
    let begins =
        ["/", "./", "../", "~/", "\\\\", ".\\"].iter().any(|start| word.starts_with(start));
    begins || matches!(word, "." | ".." | "~") || is_drive(word)
}

/// One path or several, none of which contains a key.
pub(super) fn is_plain_path(path: &str) -> bool {
    let is_legal = |c: char| {
        c.is_alphanumeric()
            || matches!(c, '.' | '_' | '-' | '@' | '+' | '~' | ' ' | '*' | REFERENCE)
    };
    // Names in the Nix store begin with a hash.
    let is_store = path.starts_with("/nix/store/");
    path.split(['/', '\\', ':'])
        .all(|part| part.chars().all(is_legal) && !is_token(part) && (is_store || !is_random(part)))
}

/// A word, a number, a version, a host with its port.
pub(super) fn is_plain_word(word: &str) -> bool {
    let is_legal = |c: char| c.is_alphanumeric() || "_-.*+/\\:=%".contains(c) || c == REFERENCE;
    let is_small = |end: &str| {
        end == "latest" || end.chars().next().is_none_or(|c| c.is_ascii_digit() || c == REFERENCE)
    };
    word.chars().all(is_legal)
        && !word.ends_with('=')
        && !is_random(word)
        && !ends_with_uuid(word)
        && word.split_once(':').is_none_or(|(_, end)| is_small(end))
        && word.split(|c: char| !c.is_alphanumeric()).all(is_calm)
}

/// A run of letters and digits that a name may contain.
fn is_calm(run: &str) -> bool {
    let digits = run.bytes().filter(u8::is_ascii_digit).count();
    if digits == run.len() {
        run.len() <= 15
    } else if digits == 0 {
        run.chars().count() <= 24 && breaks(run) * 3 <= run.len()
    } else {
        run.len() <= 16 && breaks(run) <= 3
    }
}

/// Whether the value of a URL's parameter grants access.
pub(super) fn is_secret_parameter(name: &str, value: &str) -> bool {
    if value.is_empty() || is_reference(value) || is_switch(value) {
        return false;
    }
    match NameClass::of_parameter(name) {
        NameClass::Secret => true,
        NameClass::Id if is_uuid(value) => false,
        _ => {
            // An encoded `%2F` counts as a separator.
            let mut bytes = value.chars();
            let mut plain = String::new();
            while let Some(c) = bytes.next() {
                if c == '%' {
                    bytes.next();
                    bytes.next();
                }
                plain.push(if c == '%' { '-' } else { c });
            }
            let words = plain.split([',', ' ', '~', '@', '!', '(', ')']);
            !words.map(|word| word.trim_end_matches('=')).all(is_plain_word)
                || value.ends_with("==")
        }
    }
}
