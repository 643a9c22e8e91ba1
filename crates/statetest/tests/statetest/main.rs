//! Published state tests, where this machine has them.
#![allow(clippy::unwrap_used, reason = "tests may unwrap")]

use std::path::PathBuf;

use residue_engine::Batching;
use residue_isa::Revision;
use residue_statetest::{Filter, Options, Subject, find, run};

/// The folder of state tests: in that of `RESIDUE_VECTORS`, else beside the workspace.
fn folder() -> Option<PathBuf> {
    let beside = || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/vectors");
    let folder = std::env::var_os("RESIDUE_VECTORS").map_or_else(beside, PathBuf::from).join("state-tests");
    if folder.is_dir() {
        return Some(folder);
    }
    eprintln!("skipped: no vectors at {}", folder.display());
    None
}

/// Every tenth file under a revision of each kind, batched and not: all of them take minutes.
#[test]
fn published_tests_pass_with_revisions_switched_on() {
    let Some(folder) = folder() else {
        return;
    };
    let sources: Vec<_> = find(&[folder]).unwrap().into_iter().step_by(10).collect();
    let revisions = [Revision::Evm384V7, Revision::Evm384V9, Revision::Eip5843, Revision::Eip6690_2024];
    let subject = |revision: &Revision| Subject::new(*revision, &[Batching::Off, Batching::Always]).unwrap();
    let options = Options {
        subjects: revisions.iter().map(subject).collect(),
        filter: Filter::default(),
        steps_max: None,
        jobs: std::thread::available_parallelism().unwrap(),
    };
    let report = run(&sources, &options, &|_| ());
    assert!(report.failed.is_empty(), "{:#?}", report.failed);
    assert!(report.unreadable.is_empty(), "{:#?}", report.unreadable);
    assert!(report.total.passed > 300, "{:?}", report.total);
}
