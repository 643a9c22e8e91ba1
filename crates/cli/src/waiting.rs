//! Display on a terminal while a command computes: nothing for half a second, then the current step, with a clock.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::output::shows_progress;

/// True while there is a display: others that begin meanwhile show nothing.
static IS_TAKEN: AtomicBool = AtomicBool::new(false);

const BEFORE_IT_IS_TAKEN: Duration = Duration::from_millis(500);
const BETWEEN_TICKS: Duration = Duration::from_millis(100);

/// Is shown until it is dropped, and leaves nothing.
#[derive(Debug)]
pub struct WaitingLine {
    ends: Option<Sender<()>>,
    shows: Option<JoinHandle<()>>,
    done: Arc<AtomicU64>,
}

impl WaitingLine {
    /// Shows `what` on stderr after half a second, if that is a terminal.
    #[must_use]
    pub fn new(what: impl FnOnce() -> String) -> Self {
        Self::shown(None, what)
    }

    /// The same for so many tasks, with the number of those that are [`done`](Self::done).
    #[must_use]
    pub fn of(tasks: usize, what: impl FnOnce() -> String) -> Self {
        Self::shown(Some(tasks as u64), what) // usize to u64 widens
    }

    /// One more task is done.
    pub fn done(&self) {
        self.done.fetch_add(1, Ordering::Relaxed);
    }

    fn shown(tasks: Option<u64>, what: impl FnOnce() -> String) -> Self {
        let done = Arc::new(AtomicU64::new(0));
        if !shows_progress() || IS_TAKEN.swap(true, Ordering::Relaxed) {
            return Self { ends: None, shows: None, done };
        }
        let what = what();
        let (ends, ended) = channel::<()>();
        let counted = Arc::clone(&done);
        let shows = thread::Builder::new().spawn(move || {
            let mut wait = BEFORE_IT_IS_TAKEN;
            let mut bar = None;
            while ended.recv_timeout(wait) == Err(RecvTimeoutError::Timeout) {
                let bar: &mut ProgressBar = bar.get_or_insert_with(|| spinner(&what, tasks));
                bar.set_position(counted.load(Ordering::Relaxed));
                bar.tick();
                wait = BETWEEN_TICKS;
            }
            if let Some(bar) = bar {
                bar.finish_and_clear();
            }
        });
        // Without a thread nothing is shown.
        Self { ends: Some(ends), shows: shows.ok(), done }
    }
}

/// A bar of a template that is drawn on stderr, and nowhere if that is no terminal or one that knows no escape sequences.
pub fn bar(length: u64, template: &str) -> ProgressBar {
    let target = if shows_progress() { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
    let bar = ProgressBar::with_draw_target(Some(length), target);
    match ProgressStyle::with_template(template) {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}

fn spinner(what: &str, tasks: Option<u64>) -> ProgressBar {
    let template = match tasks {
        None => "{spinner} {msg} {elapsed}",
        Some(_) => "{spinner} {msg} {pos}/{len} {elapsed}",
    };
    bar(tasks.unwrap_or(0), template).with_message(what.to_owned()).with_elapsed(BEFORE_IT_IS_TAKEN)
}

impl Drop for WaitingLine {
    fn drop(&mut self) {
        if self.ends.take().is_none() {
            return;
        }
        // A thread that panicked has nothing to clear.
        let _ = self.shows.take().map(JoinHandle::join);
        IS_TAKEN.store(false, Ordering::Relaxed);
    }
}
