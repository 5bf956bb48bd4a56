use std::fmt;

/// Why a server stays in its client's file. `Display` says so on one line, after the server's name.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum KeepReason {
    /// The client does not start it.
    SwitchedOff,
    /// Gatefold cannot use it, and why.
    Unusable(String),
    /// It takes its variables from this file.
    EnvFile(String),
    /// It refers to the folder of the open project, but the file is for all projects.
    ProjectFolder,
    /// No source matches it.
    NotServed,
    /// The source of its name is switched off.
    SourceOff,
    /// The source of its name cannot be used.
    SourceUnusable,
    /// The source of its name reaches something else.
    Different,
    /// It has these keys, for which a source has no equivalent.
    OtherKeys(Vec<String>),
    /// The source allows other tools.
    OtherTools,
    /// Gatefold cannot find its program.
    MissingProgram,
    /// Gatefold needs variables for it that the client does not pass on.
    NeedsVariables,
    /// Gatefold never reached it as it is configured now.
    NeverReached,
    /// The last check could not reach it.
    CheckFailed,
}

impl KeepReason {
    /// The name for programs.
    pub fn id(&self) -> &'static str {
        match self {
            Self::SwitchedOff => "switched_off",
            Self::Unusable(_) => "unusable",
            Self::EnvFile(_) => "env_file",
            Self::ProjectFolder => "project_folder",
            Self::NotServed => "not_served",
            Self::SourceOff => "source_off",
            Self::SourceUnusable => "source_unusable",
            Self::Different => "different",
            Self::OtherKeys(_) => "other_keys",
            Self::OtherTools => "other_tools",
            Self::MissingProgram => "missing_program",
            Self::NeedsVariables => "needs_variables",
            Self::NeverReached => "never_reached",
            Self::CheckFailed => "check_failed",
        }
    }

    /// What to do before connecting again, if Gatefold is meant to have the server.
    pub fn cure(&self) -> Option<&'static str> {
        Some(match self {
            Self::SwitchedOff | Self::Unusable(_) | Self::NotServed => return None,
            Self::EnvFile(_) => "write what the file sets into the server's `env`",
            Self::ProjectFolder => "write out a folder, or move the server to a project's file",
            Self::SourceOff => "remove `enabled = false` from the source",
            Self::SourceUnusable => "fix what `gatefold check` says about the source",
            Self::Different => {
                "make the source the same as the client's entry, or rename one of them"
            }
            Self::OtherKeys(_) => "remove those keys if the server does not need them",
            Self::OtherTools => "give the source the same `allow` and `deny`",
            Self::MissingProgram => "set `command` of the source to the full path",
            Self::NeedsVariables => {
                "write `${secret:NAME}` for `${NAME}` in the source, and store it with `gatefold \
                 secret set NAME`"
            }
            Self::NeverReached | Self::CheckFailed => "run `gatefold check`",
        })
    }
}

impl fmt::Display for KeepReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SwitchedOff => f.write_str("it is switched off in the client"),
            Self::Unusable(fault) => write!(f, "Gatefold cannot use it: it {fault}"),
            Self::EnvFile(path) => {
                write!(f, "it takes its variables from `{path}`, which Gatefold does not read")
            }
            Self::ProjectFolder => {
                f.write_str("`${workspaceFolder}` in it is another folder in each project")
            }
            Self::NotServed => f.write_str("Gatefold does not serve it"),
            Self::SourceOff => f.write_str("Gatefold's source of that name is switched off"),
            Self::SourceUnusable => f.write_str("Gatefold's source of that name cannot be used"),
            Self::Different => f.write_str("Gatefold's source of that name is not the same"),
            Self::OtherKeys(keys) => {
                write!(f, "Gatefold has no equivalent for `{}`", keys.join("`, `"))
            }
            Self::OtherTools => f.write_str("Gatefold's source allows other tools"),
            Self::MissingProgram => f.write_str("Gatefold cannot find its program"),
            Self::NeedsVariables => {
                f.write_str("Gatefold needs variables for it that the client does not pass on")
            }
            Self::NeverReached => f.write_str("Gatefold has not reached it yet"),
            Self::CheckFailed => f.write_str("the last `gatefold check` could not reach it"),
        }
    }
}
