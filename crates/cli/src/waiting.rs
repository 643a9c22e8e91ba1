//! What a terminal shows while a command computes: nothing for half a second, then what is done, with a clock.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::output::shows_progress;

/// Whether there is one already: others that begin meanwhile show nothing.
static IS_TAKEN: AtomicBool = AtomicBool::new(false);

const BEFORE_IT_IS_TAKEN: Duration = Duration::from_millis(500);
const BETWEEN_TICKS: Duration = Duration::from_millis(100);

/// Is shown until it is dropped, and leaves nothing.
#[derive(Debug)]
pub struct WaitingLine {
    ends: Option<Sender<()>>,
    shows: Option<JoinHandle<()>>,
}

impl WaitingLine {
    /// Shows `what` on stderr after half a second, if that is a terminal.
    #[must_use]
    pub fn new(what: impl FnOnce() -> String) -> Self {
        if !shows_progress() || IS_TAKEN.swap(true, Ordering::Relaxed) {
            return Self { ends: None, shows: None };
        }
        let what = what();
        let (ends, ended) = channel::<()>();
        let shows = thread::Builder::new().spawn(move || {
            let mut wait = BEFORE_IT_IS_TAKEN;
            let mut bar = None;
            while ended.recv_timeout(wait) == Err(RecvTimeoutError::Timeout) {
                bar.get_or_insert_with(|| spinner(&what)).tick();
                wait = BETWEEN_TICKS;
            }
            if let Some(bar) = bar {
                bar.finish_and_clear();
            }
        });
        // Without a thread nothing is shown.
        Self { ends: Some(ends), shows: shows.ok() }
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

fn spinner(what: &str) -> ProgressBar {
    bar(0, "{spinner} {msg} {elapsed}").with_message(what.to_owned()).with_elapsed(BEFORE_IT_IS_TAKEN)
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
