//! What a source said besides its answers, kept for later readers.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use gatefold_catalog::with_whole_pairs;
use gatefold_core::Clock;
use gatefold_dispatch::{SourceLogLine, SpokenWhere};
use serde::Deserialize;
use serde_json::value::RawValue;

/// The most lines kept of one source.
pub const LINES: usize = 1000;
/// The most bytes of these lines together.
pub const BYTES: usize = 256 * 1024;
/// How much of a line is kept, in bytes.
pub const LINE_BYTES: usize = 4 * 1024;
/// The longest level: the protocol's own are shorter.
const LEVEL_BYTES: usize = 32;

/// The last lines of one source, whichever of its processes and sessions they come from. Secrets in
/// them are masked before they come here.
pub(crate) struct SourceLog {
    clock: Arc<dyn Clock>,
    kept: Mutex<KeptLines>,
}

struct KeptLines {
    /// At most [`LINES`].
    lines: VecDeque<SourceLogLine>,
    bytes: usize,
    /// The number of the next line.
    next: u64,
}

impl SourceLog {
    /// An empty log. Its line numbers start above those of any earlier log, so that a reader's
    /// cursor still works after the source was replaced.
    pub(crate) fn new(clock: Arc<dyn Clock>) -> Self {
        let next = clock.now().as_millis() << 20;
        Self { clock, kept: Mutex::new(KeptLines { lines: VecDeque::new(), bytes: 0, next }) }
    }

    /// Keeps a line of a local server's standard error.
    pub(crate) fn take_stderr(&self, line: &str) {
        self.keep(SpokenWhere::Stderr, None, line);
    }

    /// Keeps a log notification of the protocol.
    pub(crate) fn take_notification(&self, params: &RawValue) {
        #[derive(Deserialize)]
        struct LogParams<'a> {
            level: Option<String>,
            logger: Option<String>,
            #[serde(borrow)]
            data: Option<&'a RawValue>,
        }
        let params = with_whole_pairs(params.get());
        let Ok(LogParams { level, logger, data }) = serde_json::from_str(&params) else {
            return;
        };
        let data = data.map_or("", RawValue::get);
        let text = serde_json::from_str::<String>(data).unwrap_or_else(|_| data.to_owned());
        let text = logger.map_or(text.clone(), |logger| format!("{logger}: {text}"));
        self.keep(SpokenWhere::Protocol, level, &text);
    }

    /// The lines after this number.
    pub(crate) fn after(&self, number: u64) -> Vec<SourceLogLine> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.lines.iter().filter(|line| line.number > number).cloned().collect()
    }

    fn keep(&self, spoken: SpokenWhere, level: Option<String>, text: &str) {
        // A copy, because a text that is cut in place holds the memory of the whole.
        let text = text[..text.floor_char_boundary(LINE_BYTES)].to_owned();
        let level = level.filter(|level| level.len() <= LEVEL_BYTES);
        let at = self.clock.now();
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.next += 1;
        kept.bytes += text.len();
        let line = SourceLogLine { number: kept.next, at, spoken, level, text };
        kept.lines.push_back(line);
        while kept.lines.len() > LINES || kept.bytes > BYTES {
            let Some(dropped) = kept.lines.pop_front() else { return };
            kept.bytes -= dropped.text.len();
        }
    }
}

#[cfg(test)]
mod tests {
    use gatefold_core::{ManualClock, SystemClock};

    use super::*;

    fn texts(log: &SourceLog, after: u64) -> Vec<String> {
        log.after(after).into_iter().map(|line| line.text).collect()
    }

    #[test]
    fn only_the_last_lines_are_kept_and_no_more_than_their_bytes() {
        let log = SourceLog::new(Arc::new(SystemClock));
        for line in 0..3 * LINES {
            log.take_stderr(&format!("line {line}"));
        }
        let kept = log.after(0);
        assert_eq!((kept.len(), kept[0].text.as_str()), (LINES, "line 2000"));
        assert_eq!(texts(&log, kept[LINES - 2].number), ["line 2999"]);
        for _ in 0..LINES {
            log.take_stderr(&"é".repeat(LINE_BYTES));
        }
        let bytes: usize = texts(&log, 0).iter().map(String::len).sum();
        assert!(bytes <= BYTES && bytes > BYTES - 2 * LINE_BYTES, "{bytes}");
    }

    #[test]
    fn a_long_line_takes_no_more_memory_than_what_is_kept_of_it() {
        let log = SourceLog::new(Arc::new(SystemClock));
        let data = "x".repeat(1 << 20);
        let params = RawValue::from_string(format!(r#"{{"data":"{data}"}}"#)).unwrap();
        log.take_notification(&params);
        log.take_stderr(&data);
        let kept = log.kept.lock().unwrap();
        let held: Vec<_> = kept.lines.iter().map(|line| line.text.capacity()).collect();
        assert_eq!(held, [LINE_BYTES, LINE_BYTES]);
    }

    #[test]
    fn a_later_log_goes_on_after_an_earlier_one() {
        let clock = Arc::new(ManualClock::default());
        let log = SourceLog::new(clock.clone());
        log.take_stderr("before");
        let last = log.after(0)[0].number;
        clock.advance(std::time::Duration::from_millis(1));
        let log = SourceLog::new(clock);
        log.take_stderr("after");
        assert_eq!(texts(&log, last), ["after"]);
    }

    #[test]
    fn notifications_are_kept_with_their_level_whatever_their_data() {
        let log = SourceLog::new(Arc::new(SystemClock));
        for params in [
            r#"{"level":"info","data":"plain"}"#,
            r#"{"level":"error","logger":"db","data":{"code":7}}"#,
            r#"{"data":null}"#,
            "[]",
        ] {
            log.take_notification(&RawValue::from_string(params.to_owned()).unwrap());
        }
        let kept = log.after(0).into_iter();
        let kept: Vec<_> = kept.map(|line| (line.level, line.text)).collect();
        let level = |level: &str| Some(level.to_owned());
        let expected = [
            (level("info"), "plain".to_owned()),
            (level("error"), "db: {\"code\":7}".to_owned()),
            (None, String::new()),
        ];
        assert_eq!(kept, expected);
    }
}
