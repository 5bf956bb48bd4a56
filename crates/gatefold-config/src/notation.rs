//! Variables and secrets in string values: `${VAR}`, `${VAR:-default}`, `${secret:NAME}` from the
//! keyring, and `$${` for a plain `${`.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// What marks a reference to the keyring.
pub const SECRET: &str = "secret:";

/// Which notation a file uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// Our own: variables and the keyring.
    Gatefold,
    /// That of MCP clients: variables, also as `${env:VAR}`, `${input:id}`, `${userHome}` and
    /// `${workspaceFolder}`.
    Client,
}

/// A string with its references replaced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExpandedText {
    pub text: String,
    /// Whether any of it came from a variable or the keyring, so it must not be shown.
    pub is_secret: bool,
}

/// Why a string could not be expanded, and how to fix it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnresolvedReference {
    pub message: String,
    pub hint: String,
    /// The file is right, but what it refers to does not exist on this machine.
    pub is_absent: bool,
}

/// The machine on which configuration files are read: it resolves their references.
pub trait Surroundings {
    /// The value of a variable, empty ones included.
    fn variable(&self, name: &str) -> Option<&str>;

    /// A secret from the keyring.
    fn secret(&self, name: &str) -> Result<String, UnresolvedReference>;

    /// The working directory.
    fn directory(&self) -> &Path;

    /// The user's home.
    fn home(&self) -> Option<PathBuf>;
}

/// Replaces references by their values.
pub(crate) fn expand(
    text: &str,
    surroundings: &dyn Surroundings,
    dialect: Dialect,
) -> Result<ExpandedText, UnresolvedReference> {
    let mut expanded = ExpandedText { text: String::with_capacity(text.len()), is_secret: false };
    for part in parts(text) {
        match part {
            Part::Plain(text) => expanded.text.push_str(text),
            Part::Reference(inner) => {
                expanded.text.push_str(&value_of(inner, surroundings, dialect)?);
                expanded.is_secret = true;
            }
            Part::Unclosed(_) => return Err(unclosed()),
        }
    }
    Ok(expanded)
}

/// A piece of a text that may contain references.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part<'t> {
    /// Literal text. `$${` has become `${`.
    Plain(&'t str),
    /// The text between `${` and `}`.
    Reference(&'t str),
    /// A `${` that is never closed, and everything after it.
    Unclosed(&'t str),
}

/// The pieces of a text, in order. None is empty, except for `${}`.
pub fn parts(text: &str) -> impl Iterator<Item = Part<'_>> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let whole = rest;
        let start = whole.find("${").unwrap_or(whole.len());
        let is_escaped = whole[..start].ends_with('$') && start < whole.len();
        let (part, after) = match start {
            0 if whole.is_empty() => return None,
            0 => {
                whole[2..].split_once('}').map_or((Part::Unclosed(whole), ""), |(inner, after)| {
                    (Part::Reference(inner), after)
                })
            }
            1 if is_escaped => (Part::Plain(&whole[1..3]), &whole[3..]),
            _ => {
                let (plain, after) = whole.split_at(start - usize::from(is_escaped));
                (Part::Plain(plain), after)
            }
        };
        rest = after;
        Some(part)
    })
}

/// The references in a text, in order: the texts between `${` and `}`.
pub fn references(text: &str) -> impl Iterator<Item = &str> {
    parts(text).filter_map(|part| match part {
        Part::Reference(inner) => Some(inner),
        Part::Plain(_) | Part::Unclosed(_) => None,
    })
}

/// The value of a reference in Gatefold's notation, if it is known here.
pub fn resolved(inner: &str, surroundings: &dyn Surroundings) -> Option<String> {
    value_of(inner, surroundings, Dialect::Gatefold).ok()
}

fn unclosed() -> UnresolvedReference {
    UnresolvedReference {
        message: "has `${` without a closing `}`".to_owned(),
        hint: "close it, or write `$${` for a plain `${`".to_owned(),
        is_absent: false,
    }
}

fn value_of(
    inner: &str,
    surroundings: &dyn Surroundings,
    dialect: Dialect,
) -> Result<String, UnresolvedReference> {
    if let Some(name) = inner.strip_prefix(SECRET)
        && dialect == Dialect::Gatefold
    {
        return secret(name, surroundings);
    }
    let (reference, default) = match inner.split_once(":-") {
        Some((reference, default)) => (reference, Some(default)),
        None => (inner, None),
    };
    let variable = match dialect {
        Dialect::Gatefold => reference.to_owned(),
        Dialect::Client => match client_reference(reference, surroundings) {
            Reference::Variable(name) => name,
            Reference::Value(value) => return Ok(value),
        },
    };
    if !is_name(&variable) {
        return Err(UnresolvedReference {
            message: format!("refers to `{variable}`, which is not the name of a variable"),
            hint: "use letters, digits and `_`, or write `$${` for a plain `${`".to_owned(),
            is_absent: false,
        });
    }
    // As in a shell, a default replaces an empty variable. Without a default, the empty value is
    // used.
    let value = match default {
        Some(default) => {
            surroundings.variable(&variable).filter(|value| !value.is_empty()).unwrap_or(default)
        }
        None => surroundings.variable(&variable).ok_or_else(|| UnresolvedReference {
            message: format!("needs the variable `{variable}`, which is not set"),
            hint: format!("set `{variable}`, or give a default: `${{{variable}:-...}}`"),
            is_absent: true,
        })?,
    };
    Ok(value.to_owned())
}

fn secret(name: &str, surroundings: &dyn Surroundings) -> Result<String, UnresolvedReference> {
    // A default would hide that the keyring is locked or missing.
    if let Some((name, _)) = name.split_once(":-") {
        return Err(UnresolvedReference {
            message: format!("gives the secret `{name}` a default, which secrets do not have"),
            hint: format!(
                "write `${{{SECRET}{name}}}`, and store it: `gatefold secret set {name}`"
            ),
            is_absent: false,
        });
    }
    surroundings.secret(name)
}

enum Reference {
    Variable(String),
    Value(String),
}

fn client_reference(reference: &str, surroundings: &dyn Surroundings) -> Reference {
    if let Some(name) = reference.strip_prefix("env:") {
        return Reference::Variable(name.to_owned());
    }
    if let Some(id) = reference.strip_prefix("input:") {
        return Reference::Variable(variable_of_input(id));
    }
    let path = match reference {
        "userHome" => surroundings.home(),
        "workspaceFolder" => Some(surroundings.directory().to_owned()),
        _ => None,
    };
    match path {
        Some(path) => Reference::Value(path.display().to_string()),
        None => Reference::Variable(reference.to_owned()),
    }
}

/// Variables that systems, shells and loaders set, which are no answer to a question of the same name.
const OF_SYSTEMS: [&str; 55] = [
    "ALL_PROXY",
    "ALLUSERSPROFILE",
    "APPDATA",
    "COLORTERM",
    "COLUMNS",
    "COMPUTERNAME",
    "COMSPEC",
    "DISPLAY",
    "EDITOR",
    "HOME",
    "HOMEDRIVE",
    "HOMEPATH",
    "HOST",
    "HOSTNAME",
    "HTTPS_PROXY",
    "HTTP_PROXY",
    "IFS",
    "LANG",
    "LANGUAGE",
    "LINES",
    "LOCALAPPDATA",
    "LOGNAME",
    "LS_COLORS",
    "MAIL",
    "MANPATH",
    "NO_PROXY",
    "OLDPWD",
    "OS",
    "PAGER",
    "PATH",
    "PATHEXT",
    "PROGRAMDATA",
    "PROGRAMFILES",
    "PS1",
    "PUBLIC",
    "PWD",
    "RANDOM",
    "SHELL",
    "SHLVL",
    "SYSTEMDRIVE",
    "SYSTEMROOT",
    "TEMP",
    "TERM",
    "TMP",
    "TMPDIR",
    "TZ",
    "UID",
    "USER",
    "USERDOMAIN",
    "USERNAME",
    "USERPROFILE",
    "VISUAL",
    "WAYLAND_DISPLAY",
    "WINDIR",
    "XAUTHORITY",
];

/// How families of such variables begin.
const FAMILIES_OF_SYSTEMS: [&str; 9] =
    ["DBUS_", "DYLD_", "GATEFOLD_", "LC_", "LD_", "SSH_", "TERM_", "WSL_", "XDG_"];

/// The longest variable that is made of a question's id, in characters.
const INPUT_LENGTH: usize = 64;

/// The variable that replaces one of VS Code's questions, because nobody is here to answer it. A letter
/// beyond ASCII is written as its number, so that no two of them look the same.
pub fn variable_of_input(id: &str) -> String {
    let mut name = String::new();
    for c in id.chars().take(INPUT_LENGTH) {
        match c {
            _ if c.is_ascii_alphanumeric() => name.push(c.to_ascii_uppercase()),
            _ if c.is_ascii() => name.push('_'),
            _ => {
                let _ = write!(name, "{:X}", u32::from(c));
            }
        }
    }
    let is_of_system = OF_SYSTEMS.contains(&name.as_str())
        || FAMILIES_OF_SYSTEMS.iter().any(|family| name.starts_with(family));
    let is_legal = is_name(&name) && name.contains(|c: char| c.is_ascii_alphanumeric());
    if is_of_system || !is_legal { format!("INPUT_{name}") } else { name }
}

/// The variable that replaces one question of a client's file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InputVariable {
    /// The question's id.
    pub id: String,
    pub variable: String,
    /// The answer that the file gives itself.
    pub default: Option<String>,
}

/// Whether a variable can have this name.
pub fn is_name(name: &str) -> bool {
    let mut bytes = name.bytes();
    bytes.next().is_some_and(|b| b.is_ascii_alphabetic() || b == b'_')
        && bytes.all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A machine with a project and a few variables, and without a keyring.
    pub(crate) struct Machine(pub(crate) Vec<(&'static str, &'static str)>);

    impl Default for Machine {
        fn default() -> Self {
            Self(vec![("A", "1"), ("EMPTY", ""), ("API_KEY", "k"), ("HOME", "/home/ann")])
        }
    }

    impl Surroundings for Machine {
        fn variable(&self, name: &str) -> Option<&str> {
            self.0.iter().find(|(known, _)| *known == name).map(|(_, value)| *value)
        }

        fn secret(&self, _: &str) -> Result<String, UnresolvedReference> {
            let message = "has no keyring".to_owned();
            Err(UnresolvedReference { message, hint: String::new(), is_absent: true })
        }

        fn directory(&self) -> &Path {
            Path::new("/project")
        }

        fn home(&self) -> Option<PathBuf> {
            self.variable("HOME").map(PathBuf::from)
        }
    }

    fn check(dialect: Dialect, text: &str, expected: Result<&str, &str>) {
        let expanded = expand(text, &Machine::default(), dialect);
        match (&expanded, expected) {
            (Ok(expanded), Ok(value)) => assert_eq!(expanded.text, value, "{text}"),
            (Err(fault), Err(part)) => assert!(fault.message.contains(part), "{fault:?}"),
            _ => panic!("{text}: {expanded:?} instead of {expected:?}"),
        }
    }

    #[test]
    fn variables_are_put_in() {
        for (text, expected) in [
            ("plain $A $$", Ok("plain $A $$")),
            ("x${A}y${A}", Ok("x1y1")),
            ("${NONE:-d:-e}", Ok("d:-e")),
            ("${EMPTY:-d}", Ok("d")),
            ("[${EMPTY}]", Ok("[]")),
            ("$${A} $$${A}", Ok("${A} $${A}")),
            ("${NONE}", Err("`NONE`, which is not set")),
            ("${A", Err("without a closing")),
            ("${A B}", Err("`A B`, which is not the name")),
            ("${}", Err("``, which is not the name")),
            ("${env:A}", Err("`env:A`, which is not the name")),
            ("${secret:a:-x}", Err("gives the secret `a` a default")),
            ("${secret:a}", Err("has no keyring")),
        ] {
            check(Dialect::Gatefold, text, expected);
        }
    }

    #[test]
    fn clients_have_more_notations_for_references() {
        for (text, expected) in [
            ("${env:A}${A}", Ok("11")),
            ("${env:NONE:-d}", Ok("d")),
            ("${input:api-key}", Ok("k")),
            ("${input:other}", Err("`OTHER`, which is not set")),
            ("${input:home}", Err("`INPUT_HOME`, which is not set")),
            ("${input:user-name}", Err("`USER_NAME`, which is not set")),
            ("${input:username}", Err("`INPUT_USERNAME`, which is not set")),
            ("${input:键}", Err("`INPUT_952E`, which is not set")),
            ("${input:clé}", Err("`CLE9`, which is not set")),
            ("${input:2fa}", Err("`INPUT_2FA`, which is not set")),
            ("${secret:a}", Err("`secret:a`, which is not the name of a variable")),
            ("${userHome}/x ${workspaceFolder}/y", Ok("/home/ann/x /project/y")),
        ] {
            check(Dialect::Client, text, expected);
        }
    }

    #[test]
    fn a_text_is_split_into_its_parts() {
        use Part::{Plain, Reference, Unclosed};
        for (text, expected) in [
            ("", &[][..]),
            ("a$b", &[Plain("a$b")]),
            ("a${B}c", &[Plain("a"), Reference("B"), Plain("c")]),
            ("a$${B}${C}", &[Plain("a"), Plain("${"), Plain("B}"), Reference("C")]),
            ("$$${B", &[Plain("$"), Plain("${"), Plain("B")]),
            ("x${B and more", &[Plain("x"), Unclosed("${B and more")]),
            ("$", &[Plain("$")]),
        ] {
            assert_eq!(parts(text).collect::<Vec<_>>(), expected, "{text}");
        }
    }

    #[test]
    fn only_what_a_variable_gave_is_secret() {
        let machine = Machine::default();
        let is_secret = |text| expand(text, &machine, Dialect::Gatefold).unwrap().is_secret;
        assert!(is_secret("${A}") && is_secret("${B:-x}") && !is_secret("$${A}"));
    }
}
