//! Recognizes command lines that start Gatefold, after any number of launchers.

/// Programs that start the command given after them.
const LAUNCHERS: [&str; 10] =
    ["env", "npx", "uvx", "bunx", "exec", "command", "nohup", "nice", "sudo", "time"];

/// Programs that do so after their subcommand `run`.
const RUNNERS: [&str; 5] = ["docker", "podman", "nerdctl", "pipx", "uv"];

/// Options of launchers that take no value, so that the next word may be the program. After any
/// other option, the next word may be its value.
const FLAGS: [&str; 15] = [
    "--",
    "-y",
    "--yes",
    "-q",
    "--quiet",
    "--offline",
    "--isolated",
    "--bun",
    "--rm",
    "--init",
    "--interactive",
    "--tty",
    "--read-only",
    "--privileged",
    "--detach",
];

/// Options of Gatefold that take a value, which may be any word.
const VALUED: [&str; 5] = ["--config", "--mcp-config", "--state-dir", "--log", "--color"];

/// How many launchers may start one another.
const LAUNCHERS_DEEP: usize = 8;

/// Whether this starts Gatefold's `stdio`.
pub(super) fn starts_gatefold(command: &str, args: &[String]) -> bool {
    let words: Vec<_> = std::iter::once(command).chain(args.iter().map(String::as_str)).collect();
    starts(&words, LAUNCHERS_DEEP)
}

fn starts(words: &[&str], depth: usize) -> bool {
    let Some((program, args)) = words.split_first() else {
        return false;
    };
    if is_gatefold(program) {
        return has_stdio(args);
    }
    let Some(depth) = depth.checked_sub(1) else {
        return false;
    };
    if is_assignment(program) {
        return starts(args, depth);
    }
    if has_line(args, depth) {
        return true;
    }
    let launcher = file_name(program).to_ascii_lowercase();
    match launcher.strip_suffix(".exe").or(launcher.strip_suffix(".cmd")).unwrap_or(&launcher) {
        "cmd" => behind_switch(args, depth),
        name if LAUNCHERS.contains(&name) => launches(args, depth),
        name if RUNNERS.contains(&name) => {
            let run = args.iter().position(|arg| *arg == "run");
            run.is_some_and(|at| launches(&args[at + 1..], depth))
        }
        _ => false,
    }
}

/// Whether `stdio` is the subcommand.
fn has_stdio(args: &[&str]) -> bool {
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        if VALUED.contains(arg) {
            args.next();
        } else if !arg.starts_with('-') {
            return *arg == "stdio";
        }
    }
    false
}

/// Whether a launcher with these arguments starts Gatefold. Options and assignments are skipped.
fn launches(args: &[&str], depth: usize) -> bool {
    let mut at = 0;
    while let Some(arg) = args.get(at) {
        at += 1;
        if is_assignment(arg) || is_flag(arg) {
            continue;
        }
        if !arg.starts_with('-') {
            return starts(&args[at - 1..], depth);
        }
        let next = args.get(at).filter(|next| !next.starts_with('-'));
        if next.is_some_and(|next| is_gatefold(next)) && has_stdio(&args[at + 1..]) {
            return true;
        }
        at += usize::from(next.is_some() && !arg.contains('='));
    }
    false
}

/// Whether one argument is a whole command line that starts Gatefold, as `sh -c` takes it.
fn has_line(args: &[&str], depth: usize) -> bool {
    let lines = args.windows(2).filter(|pair| takes_line(pair[0])).map(|pair| pair[1]);
    lines.into_iter().any(|line| commands(line).iter().any(|words| line_starts(words, depth)))
}

fn line_starts(words: &[String], depth: usize) -> bool {
    let words: Vec<_> = words.iter().map(String::as_str).collect();
    starts(&words, depth)
}

/// `cmd /d /c` takes the line as one argument or as many.
fn behind_switch(args: &[&str], depth: usize) -> bool {
    let is_switch = |arg: &&str| ["/c", "/k"].iter().any(|switch| arg.eq_ignore_ascii_case(switch));
    let rest = args.iter().position(is_switch).map_or(&[][..], |at| &args[at + 1..]);
    match rest {
        [line] => commands(line).iter().any(|words| line_starts(words, depth)),
        words => starts(words, depth),
    }
}

/// `-c`, also with other letters before it (`-lc`), and the long options of the same meaning.
fn takes_line(option: &str) -> bool {
    let is_short = option.strip_prefix('-').and_then(|rest| rest.strip_suffix('c'));
    is_short.is_some_and(|letters| letters.chars().all(|letter| letter.is_ascii_alphabetic()))
        || ["--call", "--command", "-command", "-S", "--split-string"]
            .iter()
            .any(|long| option.eq_ignore_ascii_case(long))
}

fn is_flag(option: &str) -> bool {
    let is_of_terminal = |letters: &str| letters.chars().all(|letter| "itd".contains(letter));
    FLAGS.contains(&option)
        || option.starts_with("--no-")
        || option.strip_prefix('-').is_some_and(is_of_terminal)
}

fn is_assignment(word: &str) -> bool {
    let name = word.split_once('=').map_or("", |(name, _)| name);
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// A path, a package or an image of Gatefold's name: `gatefold.exe`, `gatefold@1`, `x/gatefold:1`.
fn is_gatefold(word: &str) -> bool {
    file_name(word).split(['.', '@', ':', '=']).next() == Some("gatefold")
}

fn file_name(word: &str) -> &str {
    word.rsplit(['/', '\\']).next().unwrap_or_default()
}

/// The commands of a shell's line, each as its words. A backslash counts as part of a path unless a
/// blank or a quote follows it.
fn commands(line: &str) -> Vec<Vec<String>> {
    let mut commands = vec![Vec::new()];
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut letters = line.chars().peekable();
    while let Some(letter) = letters.next() {
        match (quote, letter) {
            (Some(open), _) if letter == open => quote = None,
            (None, '"' | '\'') => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            (None | Some('"'), '\\') => {
                let escaped = letters.next_if(|next| matches!(next, '"' | '\'' | ' '));
                word.get_or_insert_default().push(escaped.unwrap_or(letter));
            }
            (None, ';' | '&' | '|' | '(' | ')' | '\n') => {
                end(&mut commands, &mut word);
                commands.push(Vec::new());
            }
            (None, _) if letter.is_whitespace() => end(&mut commands, &mut word),
            _ => word.get_or_insert_default().push(letter),
        }
    }
    end(&mut commands, &mut word);
    commands
}

fn end(commands: &mut [Vec<String>], word: &mut Option<String>) {
    if let (Some(command), Some(word)) = (commands.last_mut(), word.take()) {
        command.push(word);
    }
}
