//! What a name says about its value.

/// What a name says about its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NameClass {
    /// A secret, unless the value is a switch or a reference.
    Secret,
    /// An id, as in `CLIENT_ID`. An id may be a UUID without being secret.
    Id,
    /// A property of something, such as its place or its kind.
    Plain,
    Unknown,
}

/// A word with one of these endings marks a secret. In upper case.
const SECRET_ENDS: &[&str] = &[
    "TOKEN",
    "TOKENS",
    "SECRET",
    "SECRETS",
    "PASSWORD",
    "PASSWORDS",
    "PASSWD",
    "PASSPHRASE",
    "CREDENTIAL",
    "CREDENTIALS",
    "COOKIE",
    "COOKIES",
    "BEARER",
    "WEBHOOK",
    "KEY",
    "KEYS",
    "PASS",
    "PWD",
    "JWT",
    "CONNECTIONSTRING",
    "CONNSTR",
];

/// Words with one of those endings that do not mark a secret.
const HARMLESS_WORDS: &[&str] = &["MONKEY", "HOTKEY", "HOTKEYS", "BYPASS", "COMPASS"];

/// Whole words that mark a secret, in upper case.
const SECRET_WORDS: &[&str] = &[
    "PAT",
    "PW",
    "PSWD",
    "PIN",
    "AUTH",
    "AUTHORIZATION",
    "SESSION",
    "SIGNATURE",
    "SIGNING",
    "DSN",
    "PRIVATE",
    "SALT",
    "SEED",
    "MNEMONIC",
    "OTP",
    "TOTP",
    "CRED",
    "CREDS",
];

/// A name that ends with one of these describes a secret and does not hold it. In upper case.
const PLAIN_ENDS: &[&str] = &[
    "FILE",
    "FILENAME",
    "PATH",
    "DIR",
    "DIRECTORY",
    "FOLDER",
    "SOCK",
    "SOCKET",
    "URL",
    "URI",
    "ENDPOINT",
    "HOST",
    "HOSTNAME",
    "PORT",
    "TYPE",
    "TIMEOUT",
    "LIMIT",
    "NAME",
    "USERNAME",
    "USER",
    "VERSION",
    "COUNT",
    "SIZE",
    "LENGTH",
    "BUDGET",
    "WINDOW",
    "TTL",
    "EXPIRY",
    "ENABLED",
    "DISABLED",
    "MODE",
    "METHOD",
    "PROVIDER",
    "REGION",
    "FORMAT",
    "BACKEND",
    "ALGORITHM",
    "ISSUER",
    "AUDIENCE",
    "SCOPE",
    "SCOPES",
    "LEVEL",
    "MODEL",
];

/// URL parameters that hold a secret, in addition to the names above. In lower case.
const SECRET_PARAMETERS: &[&str] = &["code", "sig", "hash", "hmac", "ticket", "profile", "api"];

impl NameClass {
    pub fn of(name: &str) -> Self {
        let words = words(name);
        let last = words.last().map(String::as_str).unwrap_or_default();
        let is_secret = words.iter().any(|word| is_secret_word(word))
            || words.windows(2).any(|pair| pair == ["CONNECTION", "STRING"])
            || words.windows(2).any(|pair| pair == ["CONN", "STR"]);
        // Knowing the address of a webhook is enough to use it.
        if is_secret && words.iter().any(|word| word == "WEBHOOK") {
            Self::Secret
        } else if PLAIN_ENDS.contains(&last) {
            Self::Plain
        } else if matches!(last, "ID" | "IDS" | "UUID" | "GUID") {
            if is_secret { Self::Plain } else { Self::Id }
        } else if is_secret {
            Self::Secret
        } else {
            Self::Unknown
        }
    }

    /// What the name of a URL's parameter says about its value.
    pub(super) fn of_parameter(name: &str) -> Self {
        if SECRET_PARAMETERS.contains(&name.to_lowercase().as_str()) {
            Self::Secret
        } else {
            Self::of(name)
        }
    }
}

/// Whether a name stands for a number: `MAX_TOKENS`.
pub(super) fn is_quantity(name: &str) -> bool {
    let words = words(name);
    words.iter().any(|word| matches!(word.as_str(), "MAX" | "MIN" | "NUM" | "TOKENS"))
}

/// Whether a word of prose names a kind of secret, as `password` and `pins` do.
pub fn is_secret_noun(word: &str) -> bool {
    words(word).iter().any(|word| is_secret_word(word))
}

fn is_secret_word(word: &str) -> bool {
    let is_marked = |word: &str| {
        let has_end = SECRET_ENDS.iter().any(|end| word.ends_with(end));
        (has_end && !HARMLESS_WORDS.contains(&word)) || SECRET_WORDS.contains(&word)
    };
    is_marked(word) || word.strip_suffix('S').is_some_and(is_marked)
}

/// The words of a name in upper case: `apiKey`, `API-KEY` and `api_key` give the same two.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_lower = false;
    for c in name.chars() {
        let is_end = !c.is_alphanumeric() || (was_lower && c.is_uppercase());
        if is_end && words.last().is_some_and(|word| !word.is_empty()) {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut().filter(|_| c.is_alphanumeric()) {
            word.extend(c.to_uppercase());
        }
        was_lower = c.is_lowercase() || c.is_ascii_digit();
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_says_what_to_expect() {
        for (name, expected) in [
            ("GITHUB_TOKEN", NameClass::Secret),
            ("apiKey", NameClass::Secret),
            ("--api-key", NameClass::Secret),
            ("SharedAccessKey", NameClass::Secret),
            ("DBPASSWORD", NameClass::Secret),
            ("OPENAIKEY", NameClass::Secret),
            ("Authorization", NameClass::Secret),
            ("SLACK_WEBHOOK_URL", NameClass::Secret),
            ("AZURE_CONNECTION_STRING", NameClass::Secret),
            ("TOKEN_FILE", NameClass::Plain),
            ("SSH_AUTH_SOCK", NameClass::Plain),
            ("SECRET_NAME", NameClass::Plain),
            ("SESSION_ID", NameClass::Plain),
            ("CLIENT_ID", NameClass::Id),
            ("RECOVERY_PINS", NameClass::Secret),
            ("AUTHOR", NameClass::Unknown),
            ("TOKENIZER", NameClass::Unknown),
            ("MONKEY", NameClass::Unknown),
            ("KEYBOARD", NameClass::Unknown),
        ] {
            assert_eq!(NameClass::of(name), expected, "{name}");
        }
        for (word, expected) in [
            ("password", true),
            ("pins", true),
            ("bearers", true),
            ("API_TOKEN", true),
            ("monkey", false),
        ] {
            assert_eq!(is_secret_noun(word), expected, "{word}");
        }
        assert_eq!(NameClass::of_parameter("code"), NameClass::Secret);
        assert_eq!(NameClass::of("code"), NameClass::Unknown);
    }
}
