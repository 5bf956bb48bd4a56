//! Commands that download what they run: which these are, and what they download.

use std::fmt;

use super::settings::StdioSettings;

/// What a command downloads before it runs it, by its own name and without its version.
///
/// It only tells packages apart. It may contain a secret, such as a token in the address of a
/// repository, so it is never shown.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct PackageName(String);

impl PackageName {
    /// What a server's command downloads, if it is a package runner or starts one.
    ///
    /// Mistaking a command for a runner only gives its first start more time, so the match is
    /// generous: a runner may have a path and an extension, and a shell may start it.
    pub(crate) fn of(settings: &StdioSettings) -> Option<Self> {
        let args: Vec<_> = settings.args.iter().map(String::as_str).collect();
        of_command(&settings.command, &args)
    }
}

impl fmt::Debug for PackageName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PackageName(***)")
    }
}

/// How a runner is called, and where its command line names the package.
struct RunnerForm {
    program: &'static str,
    /// The subcommands that may follow the program, each as its words. Empty if it has none.
    verbs: &'static [&'static [&'static str]],
    /// Options that name the package. Without one, the first word that is not an option names it.
    package: &'static [&'static str],
    /// Further options with a value of their own.
    valued: &'static [&'static str],
}

const NPM_PACKAGE: &[&str] = &["-p", "--package"];
const NPM_VALUED: &[&str] =
    &["-c", "--call", "-w", "--workspace", "--registry", "--prefix", "--cache"];
const UV_VALUED: &[&str] = &[
    "-p",
    "--python",
    "--with",
    "-w",
    "--with-editable",
    "--with-requirements",
    "--index",
    "--index-url",
    "-i",
    "--extra-index-url",
    "--default-index",
    "--cache-dir",
    "--directory",
    "--project",
    "--env-file",
    "--refresh-package",
    "-P",
    "--upgrade-package",
    "--config-file",
    "--constraints",
    "-c",
    "--overrides",
    "--index-strategy",
    "--link-mode",
    "--find-links",
    "-f",
    "--color",
    "--prerelease",
    "--resolution",
    "--extra",
    "--group",
];
const CONTAINER_VALUED: &[&str] = &[
    "-e",
    "--env",
    "--env-file",
    "-v",
    "--volume",
    "--mount",
    "-p",
    "--publish",
    "--name",
    "--network",
    "--net",
    "-w",
    "--workdir",
    "-u",
    "--user",
    "--entrypoint",
    "-m",
    "--memory",
    "--cpus",
    "-h",
    "--hostname",
    "-l",
    "--label",
    "--add-host",
    "--platform",
    "--pull",
    "--security-opt",
    "--cap-add",
    "--cap-drop",
    "--device",
    "--gpus",
    "--restart",
    "--tmpfs",
    "--ulimit",
    "--userns",
    "--shm-size",
    "--dns",
    "--log-driver",
    "--context",
    "--host",
    "-H",
    "-c",
    "--cidfile",
    "--config",
    "--connection",
    "--log-level",
    "--tlscacert",
    "--tlscert",
    "--tlskey",
];
/// How an engine is told to run a container.
const CONTAINER_VERBS: &[&[&str]] = &[&["run"], &["container", "run"]];

const RUNNERS: &[RunnerForm] = &[
    RunnerForm { program: "npx", verbs: &[], package: NPM_PACKAGE, valued: NPM_VALUED },
    RunnerForm {
        program: "npm",
        verbs: &[&["exec"], &["x"]],
        package: NPM_PACKAGE,
        valued: NPM_VALUED,
    },
    RunnerForm { program: "pnpx", verbs: &[], package: &["--package"], valued: NPM_VALUED },
    RunnerForm {
        program: "pnpm",
        verbs: &[&["dlx"]],
        package: &["--package"],
        valued: &["-C", "--dir", "--registry"],
    },
    RunnerForm { program: "yarn", verbs: &[&["dlx"]], package: NPM_PACKAGE, valued: &["--cwd"] },
    RunnerForm { program: "bunx", verbs: &[], package: NPM_PACKAGE, valued: &[] },
    RunnerForm { program: "bun", verbs: &[&["x"]], package: NPM_PACKAGE, valued: &[] },
    RunnerForm { program: "uvx", verbs: &[], package: &["--from"], valued: UV_VALUED },
    RunnerForm {
        program: "uv",
        verbs: &[&["tool", "run"]],
        package: &["--from"],
        valued: UV_VALUED,
    },
    // It first creates the environment of a project or script.
    RunnerForm {
        program: "uv",
        verbs: &[&["run"]],
        package: &["--with", "--directory", "--project"],
        valued: UV_VALUED,
    },
    RunnerForm {
        program: "pipx",
        verbs: &[&["run"]],
        package: &["--spec"],
        valued: &["--python", "--pip-args", "-i", "--index-url"],
    },
    RunnerForm {
        program: "docker",
        verbs: CONTAINER_VERBS,
        package: &[],
        valued: CONTAINER_VALUED,
    },
    RunnerForm {
        program: "podman",
        verbs: CONTAINER_VERBS,
        package: &[],
        valued: CONTAINER_VALUED,
    },
    RunnerForm {
        program: "nerdctl",
        verbs: CONTAINER_VERBS,
        package: &[],
        valued: CONTAINER_VALUED,
    },
];

/// Prefixes of modules that `deno run` downloads.
const REMOTE_MODULES: &[&str] = &["npm:", "jsr:", "https:", "http:"];

/// Shells, and the command processor of Windows.
const SHELLS: &[&str] = &["sh", "bash", "zsh", "dash", "ksh", "fish", "cmd"];

/// Words of a shell's script before a command's name.
const BEFORE_COMMANDS: &[&str] = &["exec", "env", "command", "time", "nice"];

/// File extensions of programs on Windows.
const ENDINGS: &[&str] = &["cmd", "exe", "bat", "ps1"];

/// Programs that run the command behind them.
const PREFIXES: &[&str] = &["env", "sudo", "doas", "nice"];

/// Where `run` stands among the arguments of a command that runs a container. Unlike for a package, the
/// match is strict: a shell's script cannot be changed.
pub(super) fn container_run(command: &str, args: &[&str]) -> Option<usize> {
    let program = program_name(command);
    if PREFIXES.contains(&&*program) {
        let at = args.iter().position(|word| !word.starts_with('-') && !word.contains('='))?;
        return Some(at + 1 + container_run(args[at], &args[at + 1..])?);
    }
    let forms = RUNNERS.iter().filter(|form| form.program == program);
    let mut engines = forms.filter(|form| form.verbs == CONTAINER_VERBS);
    let engine = engines.next()?;
    let behind = CONTAINER_VERBS.iter().find_map(|verbs| engine.behind(verbs, args))?;
    Some(args.len() - behind.len() - 1)
}

fn of_command(command: &str, args: &[&str]) -> Option<PackageName> {
    let program = program_name(command);
    if program == "env" {
        return of_words(args);
    }
    if SHELLS.contains(&&*program) {
        return of_shell(args);
    }
    if program == "deno" {
        let modules = args.iter().filter(|_| args.contains(&"run"));
        let mut remote =
            modules.filter(|word| REMOTE_MODULES.iter().any(|from| word.starts_with(from)));
        return remote.next().map(|module| named("deno", module));
    }
    let forms = RUNNERS.iter().filter(|form| form.program == program);
    forms.into_iter().find_map(|form| form.package(args))
}

/// The package of a shell's script: that of its first command that is a runner.
fn of_shell(args: &[&str]) -> Option<PackageName> {
    let is_switch = |word: &&str| {
        let word = word.to_ascii_lowercase();
        word == "/c" || word == "/k" || word.starts_with('-') && word.ends_with('c')
    };
    let script = args.get(args.iter().position(is_switch)? + 1..)?;
    // `cmd` takes its script as several arguments, a shell as one.
    let script = script.join(" ");
    script.split(['&', '|', ';', '\n', '(', ')']).find_map(|command| {
        let words: Vec<_> =
            command.split_whitespace().map(|word| word.trim_matches(['"', '\''])).collect();
        of_words(&words)
    })
}

/// A command, after any assignments, options and words such as `exec` before it.
fn of_words(words: &[&str]) -> Option<PackageName> {
    let is_before =
        |word: &str| word.contains('=') || word.starts_with('-') || BEFORE_COMMANDS.contains(&word);
    let at = words.iter().position(|word| !is_before(word))?;
    of_command(words[at], &words[at + 1..])
}

impl RunnerForm {
    /// What this runner downloads, if these are its arguments.
    fn package(&self, args: &[&str]) -> Option<PackageName> {
        let words = self.verbs.iter().find_map(|verbs| self.behind(verbs, args));
        let words = match words {
            Some(words) => words,
            None if self.verbs.is_empty() => args,
            None => return None,
        };
        // An option may stand before the verb, as in `uv --directory DIR run`.
        let options = &args[..args.len() - words.len()];
        let package = self.option(options).or_else(|| self.option(words));
        let package = package.or_else(|| self.positional(words).map(|(_, word)| word));
        Some(named(self.program, package.unwrap_or_default()))
    }

    /// The arguments after these verbs, if the first words that are not options are these verbs.
    fn behind<'w, 'a>(&self, verbs: &[&str], args: &'w [&'a str]) -> Option<&'w [&'a str]> {
        let mut rest = args;
        for verb in verbs {
            let (at, word) = self.positional(rest)?;
            if word != *verb {
                return None;
            }
            rest = &rest[at + 1..];
        }
        Some(rest)
    }

    /// The value of the first option that names the package, among the runner's own.
    fn option<'a>(&self, words: &[&'a str]) -> Option<&'a str> {
        let own = self.positional(words).map_or(words, |(at, _)| &words[..at]);
        own.iter().enumerate().find_map(|(at, word)| match word.split_once('=') {
            Some((name, value)) if self.package.contains(&name) => Some(value),
            None if self.package.contains(word) => own.get(at + 1).copied(),
            _ => None,
        })
    }

    /// The first word that is neither an option nor an option's value, and its place.
    fn positional<'a>(&self, words: &[&'a str]) -> Option<(usize, &'a str)> {
        let mut is_value = false;
        for (at, word) in words.iter().enumerate() {
            if std::mem::take(&mut is_value) || *word == "--" {
                continue;
            }
            if !word.starts_with('-') {
                return Some((at, *word));
            }
            is_value = self.valued.contains(word) || self.package.contains(word);
        }
        None
    }
}

/// `npx`, `/usr/bin/npx` and `C:\node\NPX.CMD` are the same program.
fn program_name(command: &str) -> String {
    let file = command.rsplit(['/', '\\']).next().unwrap_or(command).to_ascii_lowercase();
    match file.rsplit_once('.') {
        Some((stem, ending)) if ENDINGS.contains(&ending) => stem.to_owned(),
        _ => file,
    }
}

/// A package by its own name: `@scope/name@1.2` and `@scope/name` are one.
fn named(program: &str, package: &str) -> PackageName {
    let is_address = package.contains("://");
    // A scope begins with the same sign: at the start, or behind `npm:`.
    let version = package
        .char_indices()
        .rfind(|(at, letter)| *letter == '@' && *at > 0 && !package[..*at].ends_with(':'));
    let name = match version {
        Some((at, _)) if !is_address => &package[..at],
        _ => package,
    };
    let name = name.split("==").next().unwrap_or(name);
    PackageName(format!("{} {name}", registry(program)))
}

/// Runners of one registry share what they download.
fn registry(program: &str) -> &'static str {
    match program {
        "uvx" | "uv" | "pipx" => "python",
        "docker" | "podman" | "nerdctl" => "image",
        "deno" => "deno",
        _ => "npm",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks what a command line downloads, if anything. Words are separated by a space, and text
    /// within `'` is one word.
    #[track_caller]
    fn check(line: &str, expected: Option<&str>) {
        let parts = line.split('\'').enumerate();
        let words = parts.flat_map(|(n, part)| match n % 2 {
            0 => part.split_whitespace().collect(),
            _ => vec![part],
        });
        let mut words = words.map(ToOwned::to_owned);
        let command = words.next().unwrap();
        let args = words.collect();
        let settings = StdioSettings { command, args, ..StdioSettings::default() };
        let package = PackageName::of(&settings);
        assert_eq!(package.as_ref().map(|package| package.0.as_str()), expected, "{line}");
    }

    #[test]
    fn package_runners_are_known_with_what_they_download() {
        for (line, package) in [
            (
                "npx -y @modelcontextprotocol/server-everything stdio",
                "npm @modelcontextprotocol/server-everything",
            ),
            ("/usr/local/bin/npx some-server@1.2.3 --flag", "npm some-server"),
            (r"C:\node\NPX.CMD --yes @a/b@latest", "npm @a/b"),
            ("npx -p some-server -c 'run it'", "npm some-server"),
            ("npx --package=@a/b@2 -- b --stdio", "npm @a/b"),
            ("npm exec --yes -- some-server", "npm some-server"),
            ("npm exec --package=some-server -- other", "npm some-server"),
            ("npm --silent x some-server", "npm some-server"),
            ("pnpm dlx some-server", "npm some-server"),
            ("pnpm --package=some-server dlx other", "npm some-server"),
            ("pnpx some-server", "npm some-server"),
            ("yarn dlx -p some-server other", "npm some-server"),
            ("bunx --bun some-server", "npm some-server"),
            ("bun x some-server", "npm some-server"),
            ("uvx mcp-server-time --local-timezone UTC", "python mcp-server-time"),
            ("uvx --python 3.12 mcp-server-git==1.0", "python mcp-server-git"),
            (
                "uvx --from git+https://host.example/a@v1 server",
                "python git+https://host.example/a@v1",
            ),
            ("uv tool run --from some-server other", "python some-server"),
            ("uv --directory /srv/weather run server.py", "python /srv/weather"),
            ("uv run --with mcp mcp run server.py", "python mcp"),
            ("pipx run --spec some-server==1 other", "python some-server"),
            ("pipx run some-server", "python some-server"),
            ("docker run -i --rm -e TOKEN mcp/github", "image mcp/github"),
            ("docker run -i --mount type=bind,src=/a,dst=/b ghcr.io/a/b:1", "image ghcr.io/a/b:1"),
            ("podman container run --name x image", "image image"),
            ("deno run -A npm:some-server", "deno npm:some-server"),
            ("deno run --allow-net jsr:@a/b@1 x", "deno jsr:@a/b"),
            ("env TOKEN=x npx some-server", "npm some-server"),
            ("cmd /c npx -y some-server", "npm some-server"),
            ("cmd.exe /d /s /c 'npx some-server'", "npm some-server"),
            ("sh -c 'npx -y some-server'", "npm some-server"),
            (
                "/bin/bash -lc 'cd /srv && A=b exec uvx \"some-server\" 2>/dev/null'",
                "python some-server",
            ),
        ] {
            check(line, Some(package));
        }
    }

    #[test]
    fn other_programs_are_not_taken_for_package_runners() {
        for line in [
            "node /srv/npx/index.js",
            "python -m some_server",
            "/srv/npx-like some-server",
            "npm run start",
            "npm start exec",
            "uv pip install x",
            "uv tool install run",
            "docker exec -i running server",
            "docker compose up",
            "deno run --allow-net server.ts",
            "pnpm start",
            "yarn serve",
            "bun server.ts",
            "sh server.sh npx",
            "sh -c 'exec ./server'",
            "sh",
            "env",
        ] {
            check(line, None);
        }
    }

    #[test]
    fn a_package_is_shown_nowhere() {
        let args = vec!["--from".to_owned(), "git+https://TOKEN@host.example/a".to_owned()];
        let settings =
            StdioSettings { command: "uvx".to_owned(), args, ..StdioSettings::default() };
        assert_eq!(format!("{:?}", PackageName::of(&settings)), "Some(PackageName(***))");
    }
}
