//! Resident memory of a candidate beyond the needs of the EVM itself, measured in a process of its own.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use residue_engine::{Batching, Step, Tracer, View};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::scene::Scene;
use crate::bench::process::{SILENT, Told, peak_bytes, refused, resident_bytes, sent};
use crate::error::LabError;

/// Limit of a process's growth: far more than any budget, and less than machines have.
const CEILING_BYTES: u64 = 1 << 30;
/// Limit of its running time: time is another fitness. Sixty million gas take longer only where a price does not grow
/// with the work.
const TIME_MAX: Duration = Duration::from_secs(2);
/// Between two looks at both.
const LOOKS: Duration = Duration::from_millis(1);
/// The stack of a frame in revm, which is the EVM's own: 1024 words.
const STACK_BYTES: u64 = 32 << 10;

/// A scene with what is counted of it, as one process hands it to another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stay {
    scene: Scene,
    counted: Counted,
}

/// Counted memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Counted {
    /// Resident memory of the process.
    Resident,
    /// The same by an engine without blocks.
    ResidentPlain,
    /// Memory that the EVM itself needs: memory and stacks of all frames that are open together.
    OfEvm,
}

/// Resident memory of a candidate. A process is stopped when it has grown by a gibibyte, or has run for two seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Resident {
    /// By how much the process grew while the transactions ran.
    pub grown_bytes: u64,
    /// By how much it grew without blocks and plans.
    pub plain_bytes: u64,
    /// Bytes that the EVM itself needs.
    pub evm_bytes: u64,
}

impl Resident {
    /// Bytes that the engine needs beyond the EVM.
    pub fn beyond_bytes(&self) -> u64 {
        self.grown_bytes.saturating_sub(self.evm_bytes)
    }
}

/// Measures a scene with and without blocks; nothing where the system does not say what is resident.
pub fn resident(scene: &Scene) -> Result<Option<Resident>, LabError> {
    if peak_bytes().is_none() {
        return Ok(None);
    }
    let [grown_bytes, plain_bytes] = [counted(scene, Counted::Resident)?, counted(scene, Counted::ResidentPlain)?];
    Ok(Some(Resident { grown_bytes, plain_bytes, evm_bytes: counted(scene, Counted::OfEvm)? }))
}

/// Bytes beyond the EVM's own: the second fitness.
pub fn beyond_bytes(scene: &Scene) -> Result<f64, LabError> {
    let (grown, own) = (counted(scene, Counted::Resident)?, counted(scene, Counted::OfEvm)?);
    Ok(grown.saturating_sub(own) as f64) // Far below 2⁵³.
}

/// Bytes counted by another process.
fn counted(scene: &Scene, counted: Counted) -> Result<u64, LabError> {
    Ok(sent(&json!({ "stay": Stay::new(scene, counted) }).to_string())?.grown_bytes())
}

impl Stay {
    pub(super) fn new(scene: &Scene, counted: Counted) -> Self {
        Self { scene: scene.clone(), counted }
    }

    /// Runs the transactions, and says what they took.
    pub(crate) fn told(self) -> Result<Told, LabError> {
        let (before_bytes, peak_bytes) = self.run()?.ok_or_else(|| refused(SILENT.to_owned()))?;
        Ok(Told { before_bytes, peak_bytes, output: String::new() })
    }

    /// Runs the transactions, and says what was there before and what at most; `None` where the system does not say.
    ///
    /// Memory that was taken and given back to make the world would hide as much of the transactions' memory, so the
    /// world is made first, they run on a thread of their own, and the peak is counted from there. The process that ran
    /// this has to end, as the transactions may still run.
    pub(crate) fn run(self) -> Result<Option<(u64, u64)>, LabError> {
        let staged = self.scene.stage()?;
        let batching = if self.counted == Counted::Resident { Batching::Warm } else { Batching::Off };
        let engine = staged.engine(batching)?;
        // proc(5), `/proc/pid/clear_refs`: 5 sets the peak to what is resident now. Without it the peak may be one from before.
        let _ = fs::write("/proc/self/clear_refs", "5");
        let Some(before) = resident_bytes() else { return Ok(None) };
        let (evm, is_done) = (EvmMemory::default(), Arc::new(AtomicBool::new(false)));
        let (own, done) = (Arc::clone(&evm.most_bytes), Arc::clone(&is_done));
        let worker = thread::spawn(move || {
            let ended = match self.counted {
                Counted::OfEvm => staged.trace(&mut { evm }),
                _ => {
                    staged.run(&engine);
                    Ok(())
                }
            };
            done.store(true, Ordering::Release);
            ended
        });
        let begun = Instant::now();
        let has_grown_too_much = || resident_bytes().is_some_and(|now| now.saturating_sub(before) >= CEILING_BYTES);
        while !is_done.load(Ordering::Acquire) && !worker.is_finished() {
            if begun.elapsed() >= TIME_MAX || has_grown_too_much() {
                break;
            }
            thread::sleep(LOOKS);
        }
        if worker.is_finished() {
            worker.join().map_err(|_| LabError::Scene { reason: "the transactions panicked".to_owned() })??;
        }
        Ok(match self.counted {
            Counted::OfEvm => Some((0, own.load(Ordering::Relaxed))),
            _ => peak_bytes().map(|peak| (before, peak)),
        })
    }
}

/// The most memory that the EVM itself needed, of all frames that were open together.
#[derive(Debug, Default)]
struct EvmMemory {
    by_depth: Vec<u64>,
    most_bytes: Arc<AtomicU64>,
}

impl Tracer for EvmMemory {
    fn before(&mut self, view: &View<'_>) {
        let (depth, bytes) = (view.depth(), STACK_BYTES + view.memory_bytes() as u64); // Widens.
        if self.by_depth.len() == depth + 1 && self.by_depth[depth] == bytes {
            return;
        }
        self.by_depth.truncate(depth);
        self.by_depth.resize(depth, STACK_BYTES);
        self.by_depth.push(bytes);
        self.most_bytes.fetch_max(self.by_depth.iter().sum(), Ordering::Relaxed);
    }

    fn after(&mut self, _: &Step, _: &View<'_>) {}
}
