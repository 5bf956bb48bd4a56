//! The programs of stdio sources: whether they exist, and what they need to run.

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use futures::future::join_all;
use gatefold::Environment;
use gatefold::config::SourceConfig;
use gatefold::config::kinds::Need;
use tokio::io::AsyncReadExt as _;
use tokio::process::Command;
use tokio::time::timeout;

use super::{Finding, Level, ProbeScope, QUESTION_DEADLINE, Section};
use crate::{programs, shell};

/// The floor of current MCP servers for Node.
const NODE_FLOOR: u32 = 18;

/// The longest first line of a script to read, in bytes: Linux's own limit.
const SHEBANG_BYTES: u64 = 256;

/// The most bytes to read of a program's output.
const ANSWER_BYTES: u64 = 4096;

/// Where to get what a command needs.
const INSTALLS: &[(&str, &str)] = &[
    ("npx", "install Node 18 or later: https://nodejs.org"),
    ("node", "install Node 18 or later: https://nodejs.org"),
    ("uvx", "install uv: https://docs.astral.sh/uv"),
    ("uv", "install uv: https://docs.astral.sh/uv"),
    ("bunx", "install Bun: https://bun.sh"),
    ("deno", "install Deno: https://deno.com"),
    ("python", "install Python 3.10 or later, or write `python3`"),
    ("python3", "install Python 3.10 or later"),
    ("docker", "install Docker, or another way to run that server"),
];

/// Programs that download what they run, which makes a first start slow.
const FETCHERS: &[&str] =
    &["npx", "uvx", "uv", "bunx", "pnpx", "pnpm", "yarn", "deno", "pipx", "docker", "podman"];

/// Whether the program of a source may have to download the server first.
pub(super) fn may_download(source: &SourceConfig) -> bool {
    let Some(program) = source.section.need().and_then(Need::program) else {
        return false;
    };
    let name = Path::new(program.command).file_stem().and_then(|name| name.to_str());
    name.is_some_and(|name| FETCHERS.contains(&name))
}

pub(super) async fn look(
    sources: &[SourceConfig],
    reach: ProbeScope,
    environment: &Environment,
) -> Vec<Finding> {
    join_all(sources.iter().map(|source| program(source, reach, environment))).await.concat()
}

async fn program(
    source: &SourceConfig,
    reach: ProbeScope,
    environment: &Environment,
) -> Vec<Finding> {
    let Some(need) = source.section.need().and_then(Need::program) else {
        return Vec::new();
    };
    let (command, args) = (need.command, need.args);
    let found = |level, what: String| {
        Finding::new(Section::Sources, level, format!("{}: {what}", source.domain))
            .at(&source.origin)
    };
    let folder = programs::folder(need.cwd, environment);
    if !folder.is_dir() {
        let what = format!("its `cwd` is not a folder: `{}`", folder.display());
        return vec![found(Level::Fault, what).fix(format!("mkdir -p {}", shell::quoted(&folder)))];
    }
    let path = programs::search_path(need.env, environment);
    let Some(program) = programs::found(&need, environment) else {
        return vec![missing(command, args, &folder, &found)];
    };
    let mut findings = Vec::new();
    if let Some(interpreter) = interpreter(&program)
        && which::which_in(&interpreter, Some(path), &folder).is_err()
    {
        let what = format!("`{}` needs `{interpreter}`, which does not exist", program.display());
        findings.push(found(Level::Fault, what).fix(install(&interpreter)));
        return findings;
    }
    if command.contains('/') && !Path::new(command).is_absolute() {
        let what = format!("`{command}` is relative to `{}`", folder.display());
        let fix = format!("write `command = \"{}\"`", program.display());
        findings.push(found(Level::Note, what).fix(fix));
    }
    findings.extend(absent_paths(args, &folder).into_iter().map(|argument| {
        let what = format!("an argument names `{argument}`, which does not exist");
        found(Level::Note, what).fix("check the path, unless the server makes it")
    }));
    if is_shell(command) && args.iter().any(|arg| starts_container(arg)) {
        let what = "its script starts a container, which may stay when the source ends".to_owned();
        let fix = "write the engine as its `command`, such as `docker`, and the rest in `args`";
        findings.push(found(Level::Note, what).fix(fix));
    }
    findings.push(runtime(command, &program, path, reach, &found).await);
    findings
}

fn is_shell(command: &str) -> bool {
    let name = Path::new(command).file_name().and_then(|name| name.to_str());
    name.is_some_and(|name| ["sh", "bash", "dash", "zsh", "ksh", "fish"].contains(&name))
}

/// Whether a script runs a container. Its name cannot be given from outside.
fn starts_container(script: &str) -> bool {
    let words: Vec<_> = script.split_whitespace().collect();
    let is_engine = |word: &str| {
        let name = word.rsplit('/').next().unwrap_or(word);
        ["docker", "podman", "nerdctl"].contains(&name)
    };
    let engine = words.iter().position(|word| is_engine(word));
    engine.is_some_and(|at| words[at..].contains(&"run"))
}

/// A command that does not exist, or that cannot be run.
fn missing(
    command: &str,
    args: &[String],
    folder: &Path,
    found: &impl Fn(Level, String) -> Finding,
) -> Finding {
    let file = folder.join(command);
    if command.contains('/') && file.is_file() {
        let what = format!("`{}` is not executable", file.display());
        return found(Level::Fault, what).fix(format!("chmod +x {}", shell::quoted(&file)));
    }
    if args.is_empty() && command.contains(' ') {
        let what = format!("there is no program `{command}`");
        let fix = "`command` is only the program; put its arguments in `args`";
        return found(Level::Fault, what).fix(fix);
    }
    let place = if command.contains('/') { "does not exist" } else { "is not on the PATH" };
    found(Level::Fault, format!("its command `{command}` {place}")).fix(install(command))
}

fn install(command: &str) -> String {
    let known = INSTALLS.iter().find(|(name, _)| *name == command);
    known.map_or_else(
        || format!("install `{command}`, or set `command` to its full path"),
        |(_, fix)| (*fix).to_owned(),
    )
}

/// The interpreter that a script's first line names, directly or through `env`.
fn interpreter(program: &Path) -> Option<String> {
    let mut head = Vec::new();
    fs::File::open(program).ok()?.take(SHEBANG_BYTES).read_to_end(&mut head).ok()?;
    shebang(&String::from_utf8_lossy(&head))
}

fn shebang(head: &str) -> Option<String> {
    let mut words = head.strip_prefix("#!")?.lines().next()?.split_whitespace();
    let first = words.next()?;
    if first.rsplit('/').next() != Some("env") {
        return Some(first.to_owned());
    }
    let is_program = |word: &&str| !word.starts_with('-') && !word.contains('=');
    words.find(is_program).map(str::to_owned)
}

/// Arguments that look like paths of this machine and lead nowhere.
fn absent_paths<'a>(args: &'a [String], folder: &Path) -> Vec<&'a str> {
    let is_path =
        |arg: &str| arg.starts_with('/') || arg.starts_with("./") || arg.starts_with("../");
    args.iter()
        .map(String::as_str)
        .filter(|arg| is_path(arg) && !folder.join(arg).exists())
        .collect()
}

/// Judges what the command depends on: Node for npx, an engine for docker.
async fn runtime(
    command: &str,
    program: &Path,
    path: &str,
    reach: ProbeScope,
    found: &impl Fn(Level, String) -> Finding,
) -> Finding {
    let name = Path::new(command).file_name().and_then(|name| name.to_str()).unwrap_or(command);
    match name {
        "npx" | "npm" | "node" => node(path, found).await,
        // Its engine may be on another machine, see `DOCKER_HOST`.
        "docker" if reach == ProbeScope::Connect => {
            match ask(program, &["version", "--format", "{{.Server.Version}}"], path).await {
                Some(version) => found(Level::Ok, format!("docker's engine {version} answers")),
                None => found(Level::Fault, "docker's engine does not answer".to_owned())
                    .fix("start it: systemctl start docker, or Docker Desktop"),
            }
        }
        _ => found(Level::Ok, format!("`{}` exists", program.display())),
    }
}

async fn node(path: &str, found: &impl Fn(Level, String) -> Finding) -> Finding {
    let node = which::which_in("node", Some(path), "/").unwrap_or_else(|_| PathBuf::from("node"));
    let Some(version) = ask(&node, &["--version"], path).await else {
        return found(Level::Fault, "Node is missing or does not run".to_owned())
            .fix(install("node"));
    };
    let major = version.trim_start_matches('v').split('.').next();
    match major.and_then(|major| major.parse::<u32>().ok()) {
        Some(major) if major < NODE_FLOOR => {
            let what = format!("Node {version} is older than current servers need");
            found(Level::Warning, what).fix(install("node"))
        }
        _ => found(Level::Ok, format!("Node {version}")),
    }
}

/// The first line that a program prints, if it succeeds in time or prints more than we read.
async fn ask(program: &Path, args: &[&str], path: &str) -> Option<String> {
    let mut command = Command::new(program);
    command.args(args).env("PATH", path).stdin(Stdio::null()).kill_on_drop(true);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().ok()?;
    let answer = async {
        let mut text = Vec::new();
        child.stdout.take()?.take(ANSWER_BYTES).read_to_end(&mut text).await.ok()?;
        let is_cut = text.len() as u64 == ANSWER_BYTES;
        let is_well = is_cut || child.wait().await.ok()?.success();
        is_well.then_some(text)
    };
    let text = timeout(QUESTION_DEADLINE, answer).await.ok()??;
    let text = String::from_utf8_lossy(&text);
    let line = text.lines().next().unwrap_or_default().trim().to_owned();
    (!line.is_empty()).then_some(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_that_runs_a_container_is_known() {
        for (script, expected) in [
            ("exec docker run -i --rm some/server", true),
            ("cd / && /usr/bin/podman container run a", true),
            ("docker exec -i a b", false),
            ("npm run start", false),
        ] {
            assert_eq!(starts_container(script), expected, "{script}");
        }
    }

    #[test]
    fn a_scripts_interpreter_is_read_from_its_first_line() {
        for (head, expected) in [
            ("#!/bin/sh\n", Some("/bin/sh")),
            ("#! /usr/bin/python3 -u\n", Some("/usr/bin/python3")),
            ("#!/usr/bin/env node\n", Some("node")),
            ("#!/usr/bin/env -S A=1 deno run\n", Some("deno")),
            ("\x7fELF", None),
            ("#!\n", None),
        ] {
            assert_eq!(shebang(head).as_deref(), expected, "{head}");
        }
    }
}
