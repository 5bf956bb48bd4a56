use serde::Deserialize;
use serde_json::value::RawValue;

/// How severe a log message is (RFC 5424, section 6.2.1), the least severe first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum LogLevel {
    Debug,
    Info,
    Notice,
    Warning,
    Error,
    Critical,
    Alert,
    Emergency,
}

impl LogLevel {
    /// All of them, as the protocol writes them.
    pub(crate) const WORDS: &str =
        "`debug`, `info`, `notice`, `warning`, `error`, `critical`, `alert` or `emergency`";

    pub(crate) fn parse(word: &str) -> Option<Self> {
        serde_json::from_value(serde_json::Value::from(word)).ok()
    }

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Debug => "debug",
            Self::Info => "info",
            Self::Notice => "notice",
            Self::Warning => "warning",
            Self::Error => "error",
            Self::Critical => "critical",
            Self::Alert => "alert",
            Self::Emergency => "emergency",
        }
    }

    /// Whether a message is at least this severe. One without a readable level always is.
    pub(crate) fn admits(self, message: &RawValue) -> bool {
        #[derive(Deserialize)]
        struct LeveledMessage {
            level: LogLevel,
        }
        serde_json::from_str::<LeveledMessage>(message.get())
            .map_or(true, |message| message.level >= self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_messages_that_are_severe_enough_are_admitted() {
        for (level, admitted) in
            [("debug", false), ("info", false), ("warning", true), ("alert", true)]
        {
            let message = RawValue::from_string(format!(r#"{{"level":"{level}","data":1}}"#));
            assert_eq!(LogLevel::Warning.admits(&message.unwrap()), admitted, "{level}");
            assert_eq!(LogLevel::parse(level).map(LogLevel::as_str), Some(level));
        }
        assert!(LogLevel::Warning.admits(RawValue::NULL));
        assert_eq!(LogLevel::parse("loud"), None);
    }
}
