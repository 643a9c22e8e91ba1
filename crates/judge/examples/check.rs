//! Replays histories.
use residue_judge::{history::text, mode::Mode, verdict::judge};
fn main() {
    for path in std::env::args().skip(1) {
        let history = text::read(&std::fs::read_to_string(&path).unwrap()).unwrap_or_else(|e| panic!("{path}: {e}"));
        let judged = judge(&history, &Mode::ALL).unwrap();
        println!("{path}: {judged:?}");
    }
}
