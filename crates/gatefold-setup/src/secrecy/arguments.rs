//! Secrets among a program's arguments.

use gatefold_secrecy::{NameClass, has_secret, is_connection_string, is_path, is_switch, is_uuid};

use super::notation::masked;
use super::{ReferenceWriter, header, in_place, is_secret, variable, variable_name, whole};

/// Flags before `Name: value`.
const HEADER_FLAGS: &[&str] = &["--header", "--headers", "-H"];

/// Flags before `NAME=value`.
const VARIABLE_FLAGS: &[&str] = &["--env", "--environment", "-e", "-E"];

/// Flags before `user:password`.
const USER_FLAGS: &[&str] = &["-u", "-U", "--user", "--userpass", "--login"];

/// Flags before a text for a shell or an interpreter.
const SCRIPT_FLAGS: &[&str] = &["-c", "-lc", "-ec", "-Command", "--eval", "--command"];

/// Programs that run another one, and whose own `-p` names a package.
const RUNNERS: &[&str] = &["npx", "npm", "pnpm", "yarn", "bunx", "bun", "uv", "uvx", "pipx"];

/// What comes before an argument.
struct ArgumentContext {
    flag: String,
    /// Whether the argument is still one of the program that runs the server.
    is_runners: bool,
}

/// Takes secrets out of arguments: `--api-key=VALUE`, `--api-key VALUE`, `-e NAME=VALUE`,
/// `--header "Name: VALUE"`, `-u user:VALUE`, and whatever is a secret by itself.
pub(super) fn take_out(command: &str, args: &mut [String], writer: &mut ReferenceWriter<'_>) {
    let program = command.rsplit(['/', '\\']).next().unwrap_or(command);
    let program = program.trim_end_matches(".cmd").trim_end_matches(".exe");
    let mut before =
        ArgumentContext { flag: String::new(), is_runners: RUNNERS.contains(&program) };
    for arg in args {
        let flag = std::mem::take(&mut before.flag);
        if is_flag(arg, &flag) {
            arg.clone_into(&mut before.flag);
            continue;
        }
        // The package is the first word that is not the value of a runner's flag.
        let is_asked =
            matches!(flag.as_str(), "-p" | "--package" | "--python" | "--from" | "--with");
        let is_package = before.is_runners && !is_asked;
        *arg = taken(arg, &ArgumentContext { flag, is_runners: before.is_runners }, writer);
        before.is_runners &= !is_package;
    }
}

/// Whether an argument is only a flag. After a flag that takes a secret only a plain flag counts,
/// because a secret may begin with `-` too.
fn is_flag(arg: &str, before: &str) -> bool {
    let is_name =
        |name: &str| !name.is_empty() && name.chars().all(|c| c.is_ascii_lowercase() || c == '-');
    let is_plain =
        arg.strip_prefix("--").is_some_and(is_name) || (arg.starts_with('-') && arg.len() == 2);
    let asks = !before.is_empty() && NameClass::of(before) == NameClass::Secret;
    let looks = arg.starts_with('-') && !arg.contains(['=', ' ', ':']) && !arg.contains('$');
    is_plain || (looks && !asks && !is_joined(arg))
}

/// Whether a key directly follows a flag of one letter, in the same word.
fn is_joined(arg: &str) -> bool {
    has_secret(&masked(arg))
}

fn taken(arg: &str, before: &ArgumentContext, writer: &mut ReferenceWriter<'_>) -> String {
    let flag = before.flag.as_str();
    if HEADER_FLAGS.contains(&flag) {
        return header_line(arg, writer);
    }
    if USER_FLAGS.contains(&flag)
        && let Some(kept) = user_and_password(arg, writer)
    {
        return kept;
    }
    // A flag of several letters is read with its value; `-HName: value` and `-eNAME=value` too.
    for joined in ["-H", "-e"] {
        let rest = arg
            .strip_prefix(joined)
            .filter(|rest| rest.starts_with(|c: char| c.is_ascii_uppercase()));
        if let Some(rest) = rest.filter(|rest| rest.contains(['=', ':'])) {
            let before = ArgumentContext { flag: joined.to_owned(), is_runners: false };
            return format!("{joined}{}", taken(rest, &before, writer));
        }
    }
    let is_script = SCRIPT_FLAGS.contains(&flag) && arg.contains(char::is_whitespace);
    let is_one = !is_script && !is_connection_string(arg);
    let parts = arg.split_once('=').filter(|(name, _)| is_name(name) && is_one);
    if let Some((name, value)) = parts {
        return format!("{name}={}", pair(name, value, flag, writer));
    }
    let asks = match flag {
        "" => false,
        "-p" => !before.is_runners && !is_harmless_p(arg),
        _ => asks_for(flag, arg),
    };
    if asks { whole(arg, &called(flag, writer.key), writer) } else { in_place(arg, writer) }
}

/// The value of `name=value`, which may itself be such a pair.
fn pair(name: &str, value: &str, before: &str, writer: &mut ReferenceWriter<'_>) -> String {
    if HEADER_FLAGS.contains(&name) || VARIABLE_FLAGS.contains(&name) || USER_FLAGS.contains(&name)
    {
        let before = ArgumentContext { flag: name.to_owned(), is_runners: false };
        return taken(value, &before, writer);
    }
    // A server's variable may hold anything, so doubt makes a secret; a flag has to ask for one by
    // name.
    let is_variable = !name.starts_with('-') || VARIABLE_FLAGS.contains(&before);
    let is_taken = if is_variable { is_secret(name, value) } else { asks_for(name, value) };
    if is_taken {
        variable(name, &called(name, writer.key), value, writer)
    } else if NameClass::of(name) == NameClass::Id && is_uuid(value) {
        value.to_owned()
    } else {
        in_place(value, writer)
    }
}

fn asks_for(flag: &str, value: &str) -> bool {
    let is_plain = |value: &str| is_switch(value) || value.is_empty();
    NameClass::of(flag) == NameClass::Secret && !is_plain(value) && is_secret(flag, value)
}

fn header_line(arg: &str, writer: &mut ReferenceWriter<'_>) -> String {
    let Some((name, value)) = arg.split_once([':', '=']) else {
        return in_place(arg, writer);
    };
    let start = arg.len() - value.trim_start().len();
    format!("{}{}", &arg[..start], header(name.trim(), &arg[start..], writer))
}

/// `user:password` with the password taken out; `1000:1000` and `name` are none.
fn user_and_password(arg: &str, writer: &mut ReferenceWriter<'_>) -> Option<String> {
    let (user, password) = arg.split_once(':')?;
    let is_number = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    let is_taken = !(is_number(user) && is_number(password)) && is_secret("PASSWORD", password);
    let name = format!("{}_PASSWORD", variable_name(writer.key));
    is_taken.then(|| format!("{user}:{}", whole(password, &name, writer)))
}

/// Whether `-p` is given a port, a path or a file rather than a password.
fn is_harmless_p(arg: &str) -> bool {
    let is_ports = arg.trim_end_matches("/tcp").trim_end_matches("/udp");
    let is_ports = is_ports.chars().all(|c| c.is_ascii_digit() || matches!(c, '.' | ':' | '-'));
    let is_file = [".json", ".toml", ".yaml", ".yml", ".env"].iter().any(|end| arg.ends_with(end));
    is_ports || is_file || is_path(arg) || !is_secret("PASSWORD", arg)
}

fn is_name(text: &str) -> bool {
    !text.is_empty()
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.'))
}

/// What a secret is called. A flag's name says little alone, so the source's goes in front of it.
fn called(name: &str, key: &str) -> String {
    let own = if name == "-p" { "PASSWORD".to_owned() } else { variable_name(name) };
    let is_known = !name.starts_with('-') && own.contains('_');
    if is_known { own } else { format!("{}_{own}", variable_name(key)) }
}
