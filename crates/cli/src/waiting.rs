//! What a terminal shows while a command computes: nothing for half a second, then what is done, with a clock.

use std::io::{IsTerminal, stderr};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

/// Whether one is shown already: others that begin meanwhile show nothing.
static IS_SHOWN: AtomicBool = AtomicBool::new(false);

const BEFORE_IT_IS_SHOWN: Duration = Duration::from_millis(500);
const BETWEEN_TICKS: Duration = Duration::from_millis(100);

/// Is shown until it is dropped, and leaves nothing.
#[derive(Debug)]
pub struct Waiting {
    ends: Option<Sender<()>>,
    shows: Option<JoinHandle<()>>,
}

impl Waiting {
    /// Shows `what` on stderr if it is a terminal.
    #[must_use]
    pub fn new(what: impl FnOnce() -> String) -> Self {
        if !stderr().is_terminal() || IS_SHOWN.swap(true, Ordering::Relaxed) {
            return Self { ends: None, shows: None };
        }
        let what = what();
        let (ends, ended) = channel::<()>();
        let shows = thread::spawn(move || {
            let mut wait = BEFORE_IT_IS_SHOWN;
            let mut bar = None;
            while ended.recv_timeout(wait) == Err(RecvTimeoutError::Timeout) {
                bar.get_or_insert_with(|| spinner(&what)).tick();
                wait = BETWEEN_TICKS;
            }
            if let Some(bar) = bar {
                bar.finish_and_clear();
            }
        });
        Self { ends: Some(ends), shows: Some(shows) }
    }
}

fn spinner(what: &str) -> ProgressBar {
    let bar = ProgressBar::new_spinner().with_message(what.to_owned()).with_elapsed(BEFORE_IT_IS_SHOWN);
    match ProgressStyle::with_template("{spinner} {msg} {elapsed}") {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        if self.ends.take().is_none() {
            return;
        }
        // A thread that panicked has nothing to clear.
        let _ = self.shows.take().map(JoinHandle::join);
        IS_SHOWN.store(false, Ordering::Relaxed);
    }
}
