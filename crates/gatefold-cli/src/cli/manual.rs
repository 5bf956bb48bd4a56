//! The command line's help, completions and manual pages, all from the same definition.

use std::fmt::Write as _;
use std::io::{self, IsTerminal as _, Write as _};
use std::path::Path;
use std::process::ExitCode;

use clap::{ColorChoice, Command, CommandFactory as _, FromArgMatches as _};
use clap_mangen::Man;
use gatefold::Environment;

use super::command_line::CommandLine;
use super::failure::with_help;
use super::output::terminal_width;
use super::prose::wrapped;

/// Commands by what people want to do.
const GROUPS: [(&str, &[&str]); 8] = [
    ("Try it", &["demo"]),
    ("Set up", &["init", "import", "connect", "disconnect", "secret", "index", "model", "config"]),
    ("Sources", &["add", "list", "enable", "disable", "remove"]),
    ("Sign in", &["login", "logout", "accounts", "token", "user"]),
    ("Run", &["serve", "stdio", "approvals"]),
    ("Talk", &["chat", "threads", "runs", "models"]),
    (
        "Look",
        &[
            "check",
            "doctor",
            "status",
            "calls",
            "logs",
            "tools",
            "skills",
            "knowledge",
            "surface",
            "queries",
            "eval",
        ],
    ),
    ("Shell", &["completions", "man", "help"]),
];

/// The longest line of help, even on a wider terminal or without one.
const HELP_COLUMNS: usize = 100;

/// Reads the command line. Help and usage errors end the process here, in the requested colours.
pub(super) fn parse() -> CommandLine {
    let columns = io::stdout().is_terminal().then(terminal_width).flatten();
    let columns = columns.unwrap_or(HELP_COLUMNS).min(HELP_COLUMNS);
    let command = command(columns).color(colour_asked_for(std::env::args()));
    let matches = command.get_matches();
    CommandLine::from_arg_matches(&matches).unwrap_or_else(|error| error.exit())
}

/// The definition, with help that fits this many columns.
fn command(columns: usize) -> Command {
    let command = CommandLine::command().max_term_width(HELP_COLUMNS);
    let commands = groups(&command, columns);
    command.help_template(format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{commands}Options:\n{{options}}{{after-help}}"
    ))
}

/// The colour choice for clap's own texts: clap prints them before the whole line is parsed.
fn colour_asked_for(arguments: impl Iterator<Item = String>) -> ColorChoice {
    let mut arguments = arguments.take_while(|argument| argument != "--").peekable();
    let mut choice = ColorChoice::Auto;
    while let Some(argument) = arguments.next() {
        let value = match argument.strip_prefix("--color") {
            Some("") => arguments.peek().map(String::as_str),
            Some(rest) => rest.strip_prefix('='),
            None => None,
        };
        choice = match value {
            Some("always") => ColorChoice::Always,
            Some("never") => ColorChoice::Never,
            _ => choice,
        };
    }
    choice
}

/// The commands with their purposes, under headings. A command without a group goes last.
fn groups(command: &Command, columns: usize) -> String {
    let shown: Vec<_> = command.get_subcommands().filter(|one| !one.is_hide_set()).collect();
    let width = shown.iter().map(|one| one.get_name().len()).max().unwrap_or(0);
    let group_of = |name: &str| {
        let group = GROUPS.iter().position(|(_, names)| names.contains(&name));
        group.unwrap_or(GROUPS.len() - 1)
    };
    let mut text = String::new();
    for (at, (head, names)) in GROUPS.iter().enumerate() {
        let mut members: Vec<_> =
            shown.iter().filter(|one| group_of(one.get_name()) == at).collect();
        members.sort_by_key(|one| names.iter().position(|name| *name == one.get_name()));
        if members.is_empty() {
            continue;
        }
        let _ = writeln!(text, "{head}:");
        for one in members {
            let about = one.get_about().map(ToString::to_string).unwrap_or_default();
            let column = width + 4;
            let about = wrapped(&about, Some(columns.saturating_sub(column)), 0);
            let about = about.join(&format!("\n{:column$}", ""));
            let _ = writeln!(text, "  {:width$}  {about}", one.get_name());
        }
        text.push('\n');
    }
    text
}

/// The definition without commands for our own child processes.
pub(super) fn public() -> Command {
    let mut all = command(HELP_COLUMNS);
    let hidden: Vec<_> = all.get_subcommands().filter(|one| one.is_hide_set()).cloned().collect();
    if hidden.is_empty() {
        return all;
    }
    // clap cannot remove commands, so the visible ones go into a command without any.
    let shown: Vec<_> = all.get_subcommands().filter(|one| !one.is_hide_set()).cloned().collect();
    let mut bare = Command::new("gatefold")
        .version(env!("CARGO_PKG_VERSION"))
        .propagate_version(true)
        .subcommand_required(true)
        .args(all.get_arguments().cloned())
        .subcommands(shown);
    // An empty text would take the place of the other one.
    if let Some(about) = all.get_about().cloned() {
        bare = bare.about(about);
    }
    if let Some(about) = all.get_long_about().cloned() {
        bare = bare.long_about(about);
    }
    if let Some(help) = all.get_after_help().cloned() {
        bare = bare.after_help(help);
    }
    all = bare;
    all
}

/// Writes the manual: one page of everything to standard output, or every page to a directory.
pub(super) fn pages(dir: Option<&Path>, environment: &Environment) -> anyhow::Result<ExitCode> {
    let mut command = public().disable_help_subcommand(true);
    command.build();
    let Some(dir) = dir else {
        let _ = io::stdout().write_all(&page(&command)?);
        return Ok(ExitCode::SUCCESS);
    };
    let dir = environment.directory().join(dir);
    write_pages(&command, &dir).map_err(|error| {
        with_help(
            format!("`{}` cannot be written to: {error}", dir.display()),
            "choose another directory with `--dir`",
        )
    })?;
    Ok(ExitCode::SUCCESS)
}

fn write_pages(command: &Command, dir: &Path) -> io::Result<()> {
    std::fs::create_dir_all(dir)?;
    let name = command.get_display_name().unwrap_or_else(|| command.get_name());
    std::fs::write(dir.join(format!("{name}.1")), page(command)?)?;
    let mut shown = command.get_subcommands().filter(|one| !one.is_hide_set());
    shown.try_for_each(|one| write_pages(one, dir))
}

fn page(command: &Command) -> io::Result<Vec<u8>> {
    let mut page = Vec::new();
    Man::new(command.clone()).manual("Gatefold").render(&mut page)?;
    Ok(page)
}

#[cfg(test)]
mod tests {
    use unicode_width::UnicodeWidthStr as _;

    use super::*;

    #[test]
    fn the_definition_holds_together() {
        command(HELP_COLUMNS).debug_assert();
        public().debug_assert();
    }

    #[test]
    fn every_shown_command_has_its_place_in_the_help() {
        let all = command(HELP_COLUMNS);
        let shown = all.get_subcommands().filter(|one| !one.is_hide_set());
        for name in shown.map(Command::get_name) {
            assert!(GROUPS.iter().any(|(_, names)| names.contains(&name)), "{name}");
        }
    }

    #[test]
    fn a_commands_own_options_come_first() {
        fn check(command: &mut Command) {
            let help = command.render_help().to_string();
            let options = help.split_once("Options:\n").map_or("", |(_, options)| options);
            let long = |line: &str| line.trim_start().split_once("--").map(|(_, it)| it.to_owned());
            let names: Vec<_> = options.lines().filter_map(long).collect();
            let is_shared = |name: &String| {
                ["config ", "mcp-config ", "state-dir ", "log ", "color "]
                    .iter()
                    .any(|shared| name.starts_with(shared))
            };
            let first = names.iter().position(is_shared).unwrap_or(names.len());
            let rest = names[first..].iter().filter(|name| !is_shared(name));
            let rest: Vec<_> =
                rest.filter(|it| !it.starts_with("help") && !it.starts_with("version")).collect();
            assert!(rest.is_empty(), "{}: {rest:?}", command.get_name());
            command.get_subcommands_mut().for_each(check);
        }
        let mut all = command(HELP_COLUMNS);
        all.build();
        check(&mut all);
    }

    #[test]
    fn the_manual_has_a_description() {
        let mut command = public().disable_help_subcommand(true);
        command.build();
        let page = String::from_utf8(page(&command).unwrap()).unwrap();
        let (_, description) = page.split_once(".SH DESCRIPTION\n").unwrap();
        assert!(description.starts_with("Gatefold stands between"), "{description:.200}");
    }

    #[test]
    fn help_is_wrapped() {
        fn check(command: &mut Command) {
            let help = command.render_long_help().to_string();
            let longest = help.lines().max_by_key(|line| line.width()).unwrap_or_default();
            assert!(longest.width() <= HELP_COLUMNS, "{longest}");
            command.get_subcommands_mut().for_each(check);
        }
        let mut all = command(HELP_COLUMNS);
        all.build();
        check(&mut all);
        assert!(groups(&all, 60).lines().all(|line| line.width() <= 60));
    }

    #[test]
    fn the_colour_asked_for_is_known_before_the_line_is_read() {
        for (line, choice) in [
            ("gatefold --help", ColorChoice::Auto),
            ("gatefold --color always --help", ColorChoice::Always),
            ("gatefold --color=never nonsense", ColorChoice::Never),
            ("gatefold -- --color=never", ColorChoice::Auto),
        ] {
            assert_eq!(colour_asked_for(line.split(' ').map(str::to_owned)), choice, "{line}");
        }
    }

    #[test]
    fn every_shown_command_has_an_example() {
        fn check(command: &Command) {
            for one in command.get_subcommands().filter(|one| !one.is_hide_set()) {
                let help = one.get_after_long_help().map(ToString::to_string).unwrap_or_default();
                assert!(help.starts_with("Example"), "{}", one.get_name());
                check(one);
            }
        }
        check(&command(HELP_COLUMNS));
    }
}
