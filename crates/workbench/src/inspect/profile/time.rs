//! Times of the segments of an execution: the clock at every jump target, less the time to read the clock.

use std::time::Instant;

use crate::harness::time_ns;
use crate::statistics::Spread;
use residue_engine::{EXECUTIONS_TO_WARM, Engine, Probe};
use residue_isa::opcode::evm::JUMPDEST;

use super::{Segment, Unsteady};

/// Jump targets in the code that probes are calibrated with.
const TARGETS: usize = 4096;

/// Median time of each segment, and of a whole execution without probes.
pub(super) fn segment_times(
    engine: &Engine,
    code: &[u8],
    input: &[u8],
    gas: u64,
    segments: &[Segment],
    rounds: usize,
) -> Result<(Vec<f64>, f64), Unsteady> {
    let probe_ns = probe_ns(engine, rounds);
    let mut plain = engine.prepare(code);
    let mut probed = engine.prepare(code).with_probes();
    let mut samples = vec![Vec::with_capacity(rounds); segments.len()];
    let mut whole = Vec::with_capacity(rounds);
    let mut probes: Vec<Probe> = Vec::with_capacity(segments.len());
    for round in 0..EXECUTIONS_TO_WARM + rounds {
        probes.clear();
        let begin = Instant::now();
        probed.run(input, gas, &mut probes);
        let end = Instant::now();
        let (_, plain_ns) = time_ns(|| plain.run_without_memory(input, gas));
        let passed = probes.iter().map(|probe| probe.pc);
        if !passed.eq(segments.iter().filter_map(|segment| segment.pc)) {
            return Err(Unsteady);
        }
        if round < EXECUTIONS_TO_WARM {
            continue;
        }
        whole.push(plain_ns);
        let starts = std::iter::once(begin).chain(probes.iter().map(|probe| probe.at));
        let ends = probes.iter().map(|probe| probe.at).chain([end]);
        for (samples, (start, end)) in samples.iter_mut().zip(starts.zip(ends)) {
            samples.push(end.duration_since(start).as_secs_f64() * 1e9);
        }
    }
    let times = samples.iter().map(|samples| (Spread::of(samples).median - probe_ns).max(0.0)).collect();
    Ok((times, Spread::of(&whole).median))
}

/// Time of a probe beyond its jump target, in nanoseconds.
fn probe_ns(engine: &Engine, rounds: usize) -> f64 {
    let code = vec![JUMPDEST; TARGETS];
    let mut plain = engine.prepare(&code);
    let mut probed = engine.prepare(&code).with_probes();
    let mut probes = Vec::with_capacity(TARGETS);
    let gas = 10 * TARGETS as u64; // A small number, and a jump target costs one gas, or at most a few.
    let mut round = || {
        probes.clear();
        let (_, with) = time_ns(|| probed.run(&[], gas, &mut probes));
        let (_, without) = time_ns(|| plain.run_without_memory(&[], gas));
        (with - without) / TARGETS as f64
    };
    let samples: Vec<f64> = (0..EXECUTIONS_TO_WARM + rounds).map(|_| round()).skip(EXECUTIONS_TO_WARM).collect();
    Spread::of(&samples).median
}
