//! Progress of running work, on standard error if it is a terminal.

use std::collections::VecDeque;
use std::io::IsTerminal as _;
use std::pin::pin;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use futures::FutureExt as _;
use futures::future::BoxFuture;
use gatefold::ConnectObserver;
use gatefold_core::Domain;
use gatefold_operations::OperationObserver;
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use tokio::time::timeout;

use super::output::Output;
use super::{stderr, visible};

/// How many running items are named at once; the rest are counted.
const LINES: usize = 8;

/// How many items without a line are remembered. Later ones are counted in the bar and never named.
const WAITING: usize = 1024;

/// What is shown while the encoder reads the tools.
pub(super) const READING: &str = "the encoder reads the tools";

/// What takes no longer than this is not worth a line.
pub(super) const MOMENT: Duration = Duration::from_millis(300);

/// How often the seconds are redrawn.
const TICK: Duration = Duration::from_millis(200);

/// Several running items: a line for each of the first ones, and a bar for all. It shows only on a
/// terminal, never with `--json`, and disappears when dropped. Where there is no terminal, a long
/// download prints a line from time to time.
pub(super) struct Progress(ProgressView);

enum ProgressView {
    Bars(Mutex<ProgressBars>),
    /// A line from time to time for whatever takes long, if standard error is not a terminal.
    Lines,
    Nothing,
}

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
        if output.is_json() {
            return Self(ProgressView::Nothing);
        }
        if !std::io::stderr().is_terminal() {
            return Self(ProgressView::Lines);
        }
        let all = MultiProgress::with_draw_target(ProgressDrawTarget::stderr());
        let total = all.add(ProgressBar::new(0).with_style(style("{msg} {bar:24} {pos} of {len}")));
        total.set_message(act);
        let more = all.add(ProgressBar::new(0).with_style(style("{wide_msg}")));
        stderr::set_drawn(Some(all.clone()));
        Self(ProgressView::Bars(Mutex::new(ProgressBars {
            all,
            total,
            more,
            shown: Vec::new(),
            waiting: VecDeque::new(),
        })))
    }

    /// Shows an item while `work` runs, if that takes longer than a moment.
    pub(super) async fn during<T>(&self, name: &str, work: impl Future<Output = T>) -> T {
        let mut work = pin!(work);
        if let Ok(done) = timeout(MOMENT, work.as_mut()).await {
            return done;
        }
        self.begin(name);
        let done = work.await;
        self.end(name);
        done
    }

    /// Starts one item.
    pub(super) fn begin(&self, name: &str) {
        let ProgressView::Bars(bars) = &self.0 else { return };
        let mut bars = lock(bars);
        bars.total.inc_length(1);
        if bars.waiting.len() < WAITING {
            bars.waiting.push_back((visible::on_one_line(name), Instant::now()));
        }
        bars.fill();
    }

    /// Ends one item that was started.
    pub(super) fn end(&self, name: &str) {
        let ProgressView::Bars(bars) = &self.0 else { return };
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

impl Progress {
    /// Reports that an item is downloading.
    fn downloads(&self, name: &str, so_far: Duration) {
        let text = format!("{name}: downloading, {} s", so_far.as_secs());
        match &self.0 {
            ProgressView::Bars(bars) => {
                let bars = lock(bars);
                if let Some((_, bar)) = bars.shown.iter().find(|(shown, _)| *shown == name) {
                    bar.set_message(text);
                }
            }
            // Less and less often, because it may take minutes.
            ProgressView::Lines if is_told(so_far) => {
                let _ = stderr::write(format!("{text}\n").as_bytes());
            }
            ProgressView::Lines | ProgressView::Nothing => {}
        }
    }
}

/// Whether a download that took this long is worth a line: at 5 s, and whenever that time has
/// doubled.
fn is_told(so_far: Duration) -> bool {
    let fives = so_far.as_secs() / 5;
    so_far.as_secs().is_multiple_of(5) && fives.is_power_of_two()
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
        let ProgressView::Bars(bars) = &self.0 else { return };
        let bars = lock(bars);
        for bar in bars.shown.iter().map(|(_, bar)| bar).chain([&bars.more, &bars.total]) {
            bar.finish_and_clear();
        }
        let _ = bars.all.clear();
        stderr::set_drawn(None);
    }
}

/// How many of a number of things are done, on standard error if it is a terminal. Disappears when dropped.
#[cfg(feature = "knowledge")]
pub(super) struct CountProgress(Option<(MultiProgress, ProgressBar)>);

/// How often a count is looked at.
#[cfg(feature = "knowledge")]
pub(super) const REFRESH: Duration = TICK;

#[cfg(feature = "knowledge")]
impl CountProgress {
    /// `act` says what is being done, such as `reading`.
    pub(super) fn new(output: &Output, act: &str) -> Self {
        if output.is_json() || !std::io::stderr().is_terminal() {
            return Self(None);
        }
        let all = MultiProgress::with_draw_target(ProgressDrawTarget::stderr());
        let bar = ProgressBar::new(0).with_style(style("{msg} {bar:24} {pos} of {len}"));
        // Setting a message later would show the bar at once.
        let bar = all.add(bar.with_message(visible::on_one_line(act)));
        Self(Some((all, bar)))
    }

    /// Shows so many of a total. What is done within a moment is never shown.
    pub(super) fn set(&self, done: usize, total: usize) {
        let Some((all, bar)) = &self.0 else { return };
        if total == 0 || bar.elapsed() < MOMENT {
            return;
        }
        stderr::set_drawn(Some(all.clone()));
        bar.set_length(total as u64);
        bar.set_position(done as u64);
    }
}

#[cfg(feature = "knowledge")]
impl Drop for CountProgress {
    fn drop(&mut self) {
        let Some((all, bar)) = &self.0 else { return };
        bar.finish_and_clear();
        let _ = all.clear();
        stderr::set_drawn(None);
    }
}

impl ConnectObserver for Progress {
    fn started(&self, domain: &Domain) {
        self.begin(domain.as_str());
    }

    fn finished(&self, domain: &Domain) {
        self.end(domain.as_str());
    }

    fn downloading(&self, domain: &Domain, so_far: Duration) {
        self.downloads(domain.as_str(), so_far);
    }
}

impl OperationObserver for Progress {
    fn while_encoder_reads<'a>(&'a self, reading: BoxFuture<'a, bool>) -> BoxFuture<'a, bool> {
        self.during(READING, reading).boxed()
    }
}

fn style(template: &str) -> ProgressStyle {
    let style = ProgressStyle::with_template(template).expect("our own templates are right");
    style.progress_chars("━╸─")
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_download_has_a_line_ever_less_often() {
        let told: Vec<_> = (0..300).filter(|s| is_told(Duration::from_secs(*s))).collect();
        assert_eq!(told, [5, 10, 20, 40, 80, 160]);
    }
}
