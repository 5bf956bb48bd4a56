//! What a person types that is for the chat and not for the model.

/// The commands, with what each does.
pub(super) const COMMANDS: [(&str, &str); 11] = [
    ("/agent [NAME]", "list the agents, or begin anew with one; `/agent none` is without"),
    ("/model [NAME]", "list the models, or go on with another"),
    ("/file [PATH]", "send a file or an image with your next message; `/file none` sends none"),
    ("/calls", "list the calls of this conversation"),
    ("/show [NUMBER]", "show one of them, or the last one, with its arguments and its result"),
    ("/tools", "list what the model is shown, and how much is behind it"),
    ("/context", "count what the prompt holds, in tokens"),
    (
        "/compact",
        "make room: the model sees a summary of what is older, and reads on where it needs to",
    ),
    ("/undo", "take back your last message and what followed; calls that were made stay made"),
    ("/help", "list these"),
    ("/quit", "leave"),
];

#[derive(Debug, PartialEq, Eq)]
pub(super) enum ChatCommand<'t> {
    Agent(Option<&'t str>),
    Model(Option<&'t str>),
    File(Option<&'t str>),
    Calls,
    Show(Option<&'t str>),
    Tools,
    Context,
    Compact,
    Undo,
    Help,
    Quit,
    Unknown(&'t str),
}

impl<'t> ChatCommand<'t> {
    /// None for a text that is for the model: one that begins with anything but a `/`.
    pub(super) fn read(line: &'t str) -> Option<Self> {
        let rest = line.strip_prefix('/')?.trim_end();
        let (name, argument) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        let argument = Some(argument.trim()).filter(|text| !text.is_empty());
        Some(match (name, argument) {
            ("agent", name) => Self::Agent(name),
            ("model", name) => Self::Model(name),
            ("file", path) => Self::File(path),
            ("calls", None) => Self::Calls,
            ("show", number) => Self::Show(number),
            ("tools", None) => Self::Tools,
            ("context", None) => Self::Context,
            ("compact", None) => Self::Compact,
            ("undo", None) => Self::Undo,
            ("help", None) => Self::Help,
            ("quit" | "exit", None) => Self::Quit,
            _ => Self::Unknown(line),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_begins_the_line() {
        for (line, expected) in [
            ("/agent", Some(ChatCommand::Agent(None))),
            ("/agent  sales \n", Some(ChatCommand::Agent(Some("sales")))),
            ("/model openai:gpt-5", Some(ChatCommand::Model(Some("openai:gpt-5")))),
            ("/file my notes.md", Some(ChatCommand::File(Some("my notes.md")))),
            ("/quit", Some(ChatCommand::Quit)),
            ("/etc/hosts", Some(ChatCommand::Unknown("/etc/hosts"))),
            ("/undo all", Some(ChatCommand::Unknown("/undo all"))),
            (" /undo", None),
            ("what is /undo?", None),
            ("", None),
        ] {
            assert_eq!(ChatCommand::read(line), expected, "{line}");
        }
    }

    #[test]
    fn every_command_that_is_listed_is_one() {
        for (usage, _) in COMMANDS {
            let name = usage.split(' ').next().unwrap();
            assert!(
                !matches!(ChatCommand::read(name), None | Some(ChatCommand::Unknown(_))),
                "{name}"
            );
        }
    }
}
