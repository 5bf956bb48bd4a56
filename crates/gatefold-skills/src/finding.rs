use std::fmt;

/// What a finding means for its skill.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The skill is offered all the same.
    Warning,
    /// The skill is not offered.
    Fault,
}

/// Something that is wrong in a folder of skills.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    pub severity: Severity,
    /// The file or folder, below the configured folder, with `/` between its parts. Characters that
    /// cannot be seen are written as their numbers.
    pub path: String,
    /// Counted from 1.
    pub line: Option<usize>,
    /// What is wrong, and how to mend it.
    pub message: String,
}

impl Finding {
    pub(crate) fn fault(path: &str, line: Option<usize>, message: impl Into<String>) -> Self {
        Self { severity: Severity::Fault, path: path.to_owned(), line, message: message.into() }
    }

    pub(crate) fn warning(path: &str, line: Option<usize>, message: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, ..Self::fault(path, line, message) }
    }

    pub fn is_fault(&self) -> bool {
        self.severity == Severity::Fault
    }
}

/// `refunds/SKILL.md:3: the name ...`
impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.path)?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        write!(f, ": {}", self.message)
    }
}
