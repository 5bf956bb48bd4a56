//! What a shell offers while a command line is typed.
//!
//! A shell's script calls this program with `GATEFOLD_COMPLETE` set and the words so far, and the
//! program prints what fits. Names come from the files on this machine: nothing is connected or
//! started for them, and files that cannot be read offer nothing.

use std::ffi::OsString;
use std::io::{self, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Command;
use clap_complete::engine::CompletionCandidate;
use clap_complete::env::{CompleteEnv, Shells};
use clap_complete::{ArgValueCandidates, Shell};
use gatefold::Environment;
use gatefold::config::keys::sections;
use gatefold::config::kinds::Kinds;
use gatefold::config::{Config, load};
use gatefold_clients::Client;

use super::arguments::SharedOptions;
use super::{manual, output, session};

/// The variable that a shell's script sets to the name of the shell.
const VARIABLE: &str = "GATEFOLD_COMPLETE";

/// If zsh loads the script as the function `_gatefold`, that call is already the first completion.
const ZSH_AUTOLOAD: &[u8] =
    b"if [ \"$funcstack[1]\" = _gatefold ]; then _clap_dynamic_completer_gatefold \"$@\"; fi\n";

/// The most names of one kind that are offered.
const CANDIDATES: usize = 10_000;

/// An argument whose values are names on this machine: the command, the argument, the names.
type NamedArgument = (&'static [&'static str], &'static str, fn() -> Vec<CompletionCandidate>);

const NAMED_ARGUMENTS: &[NamedArgument] = &[
    (&["import"], "clients", clients),
    (&["connect"], "clients", clients),
    (&["disconnect"], "clients", clients),
    (&["enable"], "name", sources),
    (&["disable"], "name", sources),
    (&["remove"], "name", sources),
    (&["stdio"], "source", domains),
    (&["logs"], "source", domains),
    (&["tools", "list"], "domain", domains),
    (&["tools", "schema"], "names", tools),
    (&["tools", "call"], "name", tools),
    (&["calls"], "tool", tools),
    (&["queries"], "tool", tools),
    (&["queries", "forget"], "tool", tools),
    (&["config", "explain"], "key", keys),
];

/// If a shell asked for completions, prints them and ends the process.
pub(super) fn answer() {
    CompleteEnv::with_factory(definition).var(VARIABLE).complete();
}

/// The command line with the names on this machine. They are added here because the definitions of
/// the commands cannot depend on how names are found.
fn definition() -> Command {
    let named = NAMED_ARGUMENTS.iter();
    named.fold(manual::public(), |all, (path, name, names)| offering(all, path, name, *names))
}

fn offering(
    command: Command,
    path: &[&'static str],
    name: &'static str,
    names: fn() -> Vec<CompletionCandidate>,
) -> Command {
    match path.split_first() {
        None => command.mut_arg(name, |it| it.add(ArgValueCandidates::new(names))),
        Some((first, rest)) => {
            command.mut_subcommand(first, |one| offering(one, rest, name, names))
        }
    }
}

/// Prints the script with which a shell asks for completions.
pub(super) fn script(shell: Shell) -> anyhow::Result<ExitCode> {
    let name = shell.to_string();
    let shells = Shells::builtins();
    let mut script = Vec::new();
    match shells.completer(&name) {
        Some(known) => {
            known.write_registration(VARIABLE, "gatefold", "gatefold", "gatefold", &mut script)?;
            if shell == Shell::Zsh {
                script.extend_from_slice(ZSH_AUTOLOAD);
            }
        }
        None => clap_complete::generate(shell, &mut manual::public(), "gatefold", &mut script),
    }
    // If the reader is gone, the command has not failed.
    let _ = io::stdout().write_all(&script);
    Ok(ExitCode::SUCCESS)
}

fn clients() -> Vec<CompletionCandidate> {
    let clients = Client::ALL.into_iter();
    clients.map(|client| described(client.id(), client.title())).collect()
}

/// The sources' names in the configuration.
fn sources() -> Vec<CompletionCandidate> {
    let (config, ..) = configuration();
    named(config.sources.iter().map(|source| source.origin.key.as_str()))
}

fn domains() -> Vec<CompletionCandidate> {
    let (config, ..) = configuration();
    named(config.sources.iter().map(|source| source.domain.as_str()))
}

/// Sections and keys of the configuration.
fn keys() -> Vec<CompletionCandidate> {
    let sections = sections(&Kinds::default());
    let of_section = sections.iter().flat_map(|section| {
        let keys = section.keys.iter().map(|key| described(&section.key_path(key), &key.summary));
        std::iter::once(described(section.path, &section.summary)).chain(keys)
    });
    of_section.collect()
}

/// The ids of all known tools.
fn tools() -> Vec<CompletionCandidate> {
    let (_, shared, environment) = configuration();
    ids(&shared, &environment).unwrap_or_default()
}

fn ids(
    shared: &SharedOptions,
    environment: &Environment,
) -> anyhow::Result<Vec<CompletionCandidate>> {
    let state_dir = session::state_dir_alone(shared, environment)?;
    // Completing must not create it.
    if !state_dir.is_dir() {
        return Ok(Vec::new());
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let app = session::open(shared, environment).await?.app;
        let ids = named(app.pin().view().tools().map(|tool| tool.id().as_str()));
        app.close().await;
        Ok(ids)
    })
}

/// The configuration that the line being typed refers to. Secrets are not looked up for it.
fn configuration() -> (Config, SharedOptions, Environment) {
    let environment = Environment::of_process();
    let words: Vec<_> = std::env::args_os().collect();
    let shared = SharedOptions {
        config: option_of(&words, "--config").map(PathBuf::from),
        mcp_config: option_of(&words, "--mcp-config").map(PathBuf::from).into_iter().collect(),
        state_dir: option_of(&words, "--state-dir")
            .map(PathBuf::from)
            .or_else(|| environment.get_filled("GATEFOLD_STATE_DIR").map(PathBuf::from)),
        log: None,
        color: output::ColourChoice::Never,
    };
    let inputs = shared.inputs().located(&environment);
    let config = inputs.and_then(|inputs| load(&inputs, &environment)).unwrap_or_default();
    (config, shared, environment)
}

/// The last value of an option among the words.
fn option_of(words: &[OsString], name: &str) -> Option<OsString> {
    let mut values = words.windows(2).filter(|two| two[0] == name).map(|two| two[1].clone());
    values.next_back().filter(|value| !value.is_empty())
}

fn described(name: &str, help: &str) -> CompletionCandidate {
    let help = help.trim_end_matches('.').to_owned();
    CompletionCandidate::new(name).help(Some(help.into()))
}

/// Names that a shell can take as one word each.
fn named<'n>(names: impl Iterator<Item = &'n str>) -> Vec<CompletionCandidate> {
    let names = names.filter(|name| !name.contains(char::is_control));
    names.take(CANDIDATES).map(CompletionCandidate::new).collect()
}
