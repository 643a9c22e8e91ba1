//! Numbers of documents are those of records.
#![allow(clippy::unwrap_used, reason = "tests may unwrap")]

mod bn254_times;
mod drafts;
mod eip2537_times;
mod evidence_gas;
mod fronts_figure;
mod library_times;
mod pairing_figure;
mod quotes;
mod today_times;
