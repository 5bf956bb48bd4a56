//! The clients by name.

use std::fmt;

/// A program that talks to MCP servers and keeps their list in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Client {
    ClaudeCode,
    ClaudeDesktop,
    Cursor,
    VsCode,
    Windsurf,
    Codex,
    Zed,
    GeminiCli,
    Goose,
    LmStudio,
    Opencode,
    Crush,
    Continue,
}

impl Client {
    /// Every client, in the order in which they are shown.
    pub const ALL: [Self; 13] = [
        Self::ClaudeCode,
        Self::ClaudeDesktop,
        Self::Cursor,
        Self::VsCode,
        Self::Windsurf,
        Self::Codex,
        Self::Zed,
        Self::GeminiCli,
        Self::Goose,
        Self::LmStudio,
        Self::Opencode,
        Self::Crush,
        Self::Continue,
    ];

    /// The name on a command line, such as `claude-code`.
    pub fn id(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::ClaudeDesktop => "claude-desktop",
            Self::Cursor => "cursor",
            Self::VsCode => "vs-code",
            Self::Windsurf => "windsurf",
            Self::Codex => "codex",
            Self::Zed => "zed",
            Self::GeminiCli => "gemini-cli",
            Self::Goose => "goose",
            Self::LmStudio => "lm-studio",
            Self::Opencode => "opencode",
            Self::Crush => "crush",
            Self::Continue => "continue",
        }
    }

    /// The name in a sentence, such as `Claude Code`.
    pub fn title(self) -> &'static str {
        match self {
            Self::ClaudeCode => "Claude Code",
            Self::ClaudeDesktop => "Claude Desktop",
            Self::Cursor => "Cursor",
            Self::VsCode => "VS Code",
            Self::Windsurf => "Windsurf",
            Self::Codex => "Codex",
            Self::Zed => "Zed",
            Self::GeminiCli => "Gemini CLI",
            Self::Goose => "Goose",
            Self::LmStudio => "LM Studio",
            Self::Opencode => "opencode",
            Self::Crush => "Crush",
            Self::Continue => "Continue",
        }
    }

    /// The client with this id, or a common spelling of one: `vscode`, `claude`, `gemini`. Case,
    /// spaces, hyphens and underscores do not matter.
    pub fn parse(id: &str) -> Option<Self> {
        let letters: String = id.chars().filter(|letter| !" -_".contains(*letter)).collect();
        Some(match letters.to_ascii_lowercase().as_str() {
            "claudecode" | "claude" => Self::ClaudeCode,
            "claudedesktop" => Self::ClaudeDesktop,
            "cursor" => Self::Cursor,
            "vscode" | "code" | "visualstudiocode" | "copilot" => Self::VsCode,
            "windsurf" | "codeium" => Self::Windsurf,
            "codex" | "codexcli" => Self::Codex,
            "zed" => Self::Zed,
            "geminicli" | "gemini" => Self::GeminiCli,
            "goose" => Self::Goose,
            "lmstudio" => Self::LmStudio,
            "opencode" => Self::Opencode,
            "crush" => Self::Crush,
            "continue" | "continuedev" => Self::Continue,
            _ => return None,
        })
    }
}

impl fmt::Display for Client {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.title())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_id_and_title_is_understood() {
        for client in Client::ALL {
            assert_eq!(Client::parse(client.id()), Some(client));
            assert_eq!(Client::parse(client.title()), Some(client));
        }
        let common = [("vscode", Client::VsCode), ("claude", Client::ClaudeCode)];
        for (id, client) in common {
            assert_eq!(Client::parse(id), Some(client));
        }
        assert_eq!(Client::parse("emacs"), None);
        assert_eq!(Client::parse(""), None);
    }
}
