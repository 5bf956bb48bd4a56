//! The configuration files: whether there are any, what is wrong in them, and who else may read
//! them.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use gatefold::Environment;
use gatefold::config::kinds::KindSection;
use gatefold::config::{
    Config, ConfigError, FILE_NAME, Inputs, Setting, SourceConfig, load, settings, source_settings,
    user_config_file,
};
use gatefold::files;
use gatefold_secrecy::has_secret;
use serde_json::Value as Json;

use super::{Finding, Level, Section};
use crate::{is_secret, shell};

/// Permissions of others than the owner.
const OTHERS: u32 = 0o077;

/// The most bytes of a file to search: as much as is loaded.
const FILE_LIMIT_BYTES: u64 = 4 * 1024 * 1024;

/// The most lines with secrets to name in one file.
const NAMED_LINES: usize = 5;

pub(super) fn read(
    inputs: &Inputs,
    environment: &Environment,
    findings: &mut Vec<Finding>,
) -> Option<Config> {
    let is_chosen = inputs.config.is_some() || !inputs.mcp_configs.is_empty();
    let loaded = inputs.clone().located(environment).and_then(|inputs| {
        for path in inputs.config.iter().chain(&inputs.mcp_configs) {
            let path = environment.directory().join(path);
            let why =
                if is_chosen { "as the command line says" } else { "found in its usual place" };
            let used = format!("`{}` is used, {why}", path.display());
            findings.push(Finding::ok(Section::Configuration, used));
            findings.extend(readable(&path));
        }
        if !is_chosen {
            findings.extend(shadowed(&inputs, environment));
        }
        Ok((load(&inputs, environment)?, inputs))
    });
    match loaded {
        Ok((config, inputs)) => {
            findings.extend(all_denied(&config, &inputs, environment));
            findings.extend(twins(&config.sources));
            findings.extend(config.sources.iter().filter_map(unusable));
            findings.extend(config.idle_modes().into_iter().map(|mode| {
                let finding = Finding::new(Section::Configuration, Level::Warning, mode.what);
                finding.fix(mode.fix)
            }));
            if config.sources.is_empty() {
                let none = "no source is configured, so there are no tools";
                let finding = Finding::new(Section::Configuration, Level::Warning, none);
                findings.push(finding.fix("gatefold import, or add `[sources.NAME]`"));
            }
            Some(config)
        }
        Err(error) => {
            findings.extend(faults(&error));
            None
        }
    }
}

/// The user's own configuration, if one in the working directory is used in its place.
fn shadowed(inputs: &Inputs, environment: &Environment) -> Option<Finding> {
    let used = environment.directory().join(inputs.config.as_ref()?);
    let users = user_config_file(environment).filter(|users| users.is_file())?;
    if used.canonicalize().ok() == users.canonicalize().ok() {
        return None;
    }
    let what = format!(
        "`{}` is not used: the working directory has a `{FILE_NAME}` of its own",
        users.display()
    );
    let finding = Finding::new(Section::Configuration, Level::Note, what).at(used.display());
    let users = shell::quoted(&users);
    Some(finding.fix(format!("change to another folder, or pass `--config {users}`")))
}

/// Patterns that deny everything.
fn all_denied(config: &Config, inputs: &Inputs, environment: &Environment) -> Vec<Finding> {
    let mut written = settings(config, inputs, environment);
    written.extend(source_settings(inputs, environment));
    let is_all = |pattern: &Json| {
        let text = pattern.as_str().unwrap_or_default();
        !text.is_empty() && text.chars().all(|letter| letter == '*')
    };
    let denies = written.into_iter().filter(|setting| {
        let patterns = setting.value.as_ref().and_then(Json::as_array);
        setting.key.rsplit('.').next() == Some("deny") && patterns.into_iter().flatten().any(is_all)
    });
    let finding = |setting: Setting| {
        let whose = match setting.key.as_str() {
            "policy.deny" => "every tool of every source".to_owned(),
            key => {
                let source = key.trim_start_matches("sources.").trim_end_matches(".deny");
                format!("every tool of {source}")
            }
        };
        let what = format!("`{}` has `*`, which denies {whose}", setting.key);
        let finding = Finding::new(Section::Configuration, Level::Warning, what)
            .fix("remove `*`, and name what must not be called");
        match setting.origin {
            Some(origin) => finding.at(origin),
            None => finding,
        }
    };
    denies.map(finding).collect()
}

fn faults(error: &ConfigError) -> Vec<Finding> {
    let fault = |what: String| Finding::new(Section::Configuration, Level::Fault, what);
    let named = |key: &str| if key.is_empty() { String::new() } else { format!("`{key}` ") };
    if !error.faults().is_empty() {
        let faults = error.faults().iter().map(|one| {
            let place = format!("{}:{}:{}", one.file.display(), one.line, one.column);
            fault(format!("{}{}", named(&one.key), one.message)).at(place).fix(&one.hint)
        });
        return faults.collect();
    }
    let text = error.to_string();
    let (what, fix) = text.split_once("\n  help: ").unwrap_or((&text, "see the message"));
    vec![fault(what.to_owned()).fix(fix)]
}

fn unusable(source: &SourceConfig) -> Option<Finding> {
    let why = source.section.fault()?;
    let what = format!("{}: `{}` {}", source.domain, why.key, why.message);
    let finding = Finding::new(Section::Configuration, Level::Fault, what);
    Some(finding.at(&source.origin).fix(why.hint.clone()))
}

/// Sources that are the same server twice, so that all its tools appear twice.
fn twins(sources: &[SourceConfig]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (at, source) in sources.iter().enumerate() {
        let twin = sources[..at].iter().find(|other| same(other, source));
        if let Some(twin) = twin {
            let what = format!("{} and {} are the same server", twin.domain, source.domain);
            let finding = Finding::new(Section::Configuration, Level::Warning, what);
            let fix =
                format!("remove `{}` from {}", source.origin.key, source.origin.file.display());
            findings.push(finding.at(&source.origin).fix(fix));
        }
    }
    findings
}

/// Whether two sources are the same thing, reached in the same way.
fn same(one: &SourceConfig, other: &SourceConfig) -> bool {
    let reached = |source: &SourceConfig| source.section.usable().map(KindSection::reach);
    reached(one).is_some_and(|reach| reached(other) == Some(reach))
}

/// Whether others may read a file with secrets in plain text.
fn readable(path: &Path) -> Option<Finding> {
    let mode = fs::metadata(path).ok()?.permissions().mode();
    let text = text(path).ok()?;
    let lines = clear_secrets(&text);
    if lines.is_empty() {
        return None;
    }
    let shown: Vec<_> = lines.iter().take(NAMED_LINES).map(ToString::to_string).collect();
    let place = format!("{}:{}", path.display(), shown.join(","));
    if mode & OTHERS == 0 {
        let what = "secrets are in clear text, in a file that only you can read";
        let finding = Finding::new(Section::Configuration, Level::Note, what).at(place);
        return Some(finding.fix("gatefold secret set NAME, and write `${secret:NAME}` there"));
    }
    let what =
        format!("secrets are in clear text, in a file that others can read ({:o})", mode & 0o777);
    let finding = Finding::new(Section::Configuration, Level::Warning, what).at(place);
    Some(finding.fix(format!("chmod 600 {}", shell::quoted(path))))
}

/// A file's text. Something that is not a regular file, such as a pipe that nobody writes to, is
/// not opened.
fn text(path: &Path) -> io::Result<String> {
    files::read_text(path, FILE_LIMIT_BYTES)
}

/// The lines on which something that looks like a secret is written out, counted from 1.
pub(super) fn clear_secrets(text: &str) -> Vec<usize> {
    let lines = text.lines().enumerate();
    lines.filter(|(_, line)| has_clear_secret(line)).map(|(at, _)| at + 1).collect()
}

/// Looks at quoted texts and the word before each `=` or `:`. A heuristic for TOML and JSON.
fn has_clear_secret(line: &str) -> bool {
    let line = line.trim_start();
    if line.starts_with('#') || line.starts_with("//") {
        return false;
    }
    let parts: Vec<&str> = line.split(['"', '\'']).collect();
    (1..parts.len()).step_by(2).any(|at| {
        let is_key =
            parts.get(at + 1).is_some_and(|after| after.trim_start().starts_with(['=', ':']));
        let value = parts[at];
        let is_clear = match name_before(&parts[..at]) {
            // An argument in a list. Most are not secret, and `import` treats them in the same way.
            "" => has_secret(value),
            // Whose credentials a source's calls use.
            "credentials" if ["shared", "per_user", "client"].contains(&value) => false,
            name => is_secret(name, value),
        };
        !is_key && !value.contains("${") && is_clear
    })
}

/// The key of the value that follows: a quoted text before a bare `:`, or a bare word before `=`.
fn name_before<'a>(parts: &[&'a str]) -> &'a str {
    let Some(gap) = parts.last().map(|gap| gap.trim_end()) else {
        return "";
    };
    let Some(before) = gap.strip_suffix(['=', ':']) else {
        return "";
    };
    let bare = before.trim_end().rsplit([' ', '{', ',']).next().unwrap_or_default();
    if bare.is_empty() && parts.len() >= 2 { parts[parts.len() - 2] } else { bare }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_file_of_a_size_that_is_loaded_is_looked_through() {
        let file = tempfile::NamedTempFile::new().unwrap();
        file.as_file().set_len(FILE_LIMIT_BYTES).unwrap();
        assert!(text(file.path()).is_ok());
        file.as_file().set_len(FILE_LIMIT_BYTES + 1).unwrap();
        assert_eq!(text(file.path()).unwrap_err().kind(), io::ErrorKind::FileTooLarge);
        let kind = text(Path::new("/dev/zero")).unwrap_err().kind();
        assert_eq!(kind, io::ErrorKind::InvalidInput);
    }

    #[test]
    fn secrets_in_clear_are_seen_and_references_are_not() {
        for (line, is_clear) in [
            ("env = { API_TOKEN = 'abcdefgh1234' }", true),
            ("headers = { Authorization = \"Bearer abcdefgh1234\" }", true),
            ("\"GITHUB_TOKEN\": \"abcdefgh1234\",", true),
            ("args = ['--pat', 'ghp_0123456789abcdef']", true),
            ("env = { API_TOKEN = '${API_TOKEN}' }", false),
            ("headers = { Authorization = \"Bearer ${secret:x}\" }", false),
            ("# API_TOKEN = 'abcdefgh1234'", false),
            ("command = '/usr/local/bin/token-server'", false),
            ("token_limit = 2000", false),
            ("KEY = 'true'", false),
            ("\"GITHUB_PERSONAL_ACCESS_TOKEN\": \"${GITHUB_TOKEN}\"", false),
            ("description = 'Searches the issues of all our projects'", false),
            ("args = ['-y', '@modelcontextprotocol/server-filesystem', '/home/ann/work']", false),
        ] {
            assert_eq!(clear_secrets(line).len(), usize::from(is_clear), "{line}");
        }
    }
}
