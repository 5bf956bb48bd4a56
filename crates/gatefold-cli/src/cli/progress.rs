//! Progress of running work, on standard error if it is a terminal.

use std::collections::VecDeque;
use std::io::IsTerminal as _;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use gatefold::Connecting;
use gatefold_core::Domain;
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::output::Output;
use super::{stderr, visible};

/// How many running items are named at once; the rest are counted.
const LINES: usize = 8;

/// How many items without a line are remembered. Later ones are counted in the bar and never named.
const WAITING: usize = 1024;

/// How often the seconds are redrawn.
const TICK: Duration = Duration::from_millis(200);

/// Several running items: one line for each of the first, and a bar for all. It shows only on a
/// terminal, never with `--json`, and disappears when dropped.
pub(super) struct Progress(Option<Mutex<ProgressBars>>);

struct ProgressBars {
    all: MultiProgress,
    total: ProgressBar,
    more: ProgressBar,
    /// At most [`LINES`].
    shown: Vec<(String, ProgressBar)>,
    /// At most [`WAITING`].
    waiting: VecDeque<(String, Instant)>,
}

impl Progress {
    /// `act` says what is being done, such as `connecting`.
    pub(super) fn new(output: &Output, act: &'static str) -> Self {
        if output.is_json() || !std::io::stderr().is_terminal() {
            return Self(None);
        }
        let all = MultiProgress::with_draw_target(ProgressDrawTarget::stderr());
        let total = all.add(ProgressBar::new(0).with_style(style("{msg} {bar:24} {pos} of {len}")));
        total.set_message(act);
        let more = all.add(ProgressBar::new(0).with_style(style("{wide_msg}")));
        stderr::set_drawn(Some(all.clone()));
        Self(Some(Mutex::new(ProgressBars {
            all,
            total,
            more,
            shown: Vec::new(),
            waiting: VecDeque::new(),
        })))
    }

    /// Starts one item.
    pub(super) fn begin(&self, name: &str) {
        let Some(bars) = &self.0 else { return };
        let mut bars = lock(bars);
        bars.total.inc_length(1);
        if bars.waiting.len() < WAITING {
            bars.waiting.push_back((visible::on_one_line(name), Instant::now()));
        }
        bars.fill();
    }

    /// Ends one item that was started.
    pub(super) fn end(&self, name: &str) {
        let Some(bars) = &self.0 else { return };
        let name = visible::on_one_line(name);
        let mut bars = lock(bars);
        bars.total.inc(1);
        if let Some(at) = bars.shown.iter().position(|(shown, _)| *shown == name) {
            let (_, bar) = bars.shown.remove(at);
            bar.finish_and_clear();
            bars.all.remove(&bar);
        } else {
            bars.waiting.retain(|(waiting, _)| *waiting != name);
        }
        bars.fill();
    }
}

impl ProgressBars {
    /// Names as many items as there is room for.
    fn fill(&mut self) {
        while self.shown.len() < LINES
            && let Some((name, since)) = self.waiting.pop_front()
        {
            let bar = ProgressBar::new_spinner()
                .with_style(style("  {elapsed:>4}  {wide_msg}"))
                .with_elapsed(since.elapsed());
            let bar = self.all.insert_before(&self.more, bar);
            bar.set_message(name.clone());
            bar.enable_steady_tick(TICK);
            self.shown.push((name, bar));
        }
        let more = match self.waiting.len() {
            0 => String::new(),
            count => format!("        and {count} more"),
        };
        self.more.set_message(more);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        let Some(bars) = self.0.take() else { return };
        let bars = bars.into_inner().unwrap_or_else(PoisonError::into_inner);
        for bar in bars.shown.iter().map(|(_, bar)| bar).chain([&bars.more, &bars.total]) {
            bar.finish_and_clear();
        }
        let _ = bars.all.clear();
        stderr::set_drawn(None);
    }
}

impl Connecting for Progress {
    fn started(&self, domain: &Domain) {
        self.begin(domain.as_str());
    }

    fn finished(&self, domain: &Domain) {
        self.end(domain.as_str());
    }
}

fn style(template: &str) -> ProgressStyle {
    let style = ProgressStyle::with_template(template).expect("our own templates are right");
    style.progress_chars("━╸─")
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
