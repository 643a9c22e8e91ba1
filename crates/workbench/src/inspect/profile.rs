//! Profile of a contract's gas and time: a tree of the functions that were called and of the named stretches in them.
//!
//! Gas is counted: each instruction belongs to the function that its byte was compiled from, and field arithmetic to the
//! named stretches of the text around it, lane by lane. Time is measured between the jump targets of executions as they
//! always are, whole blocks as one; a stretch of code without a jump target is timed as one, and its time is divided among
//! what is in it by gas.

mod time;

use std::collections::HashMap;

use residue_compiler::SourceMap;
use residue_engine::{Engine, Outcome, Step, Tracer, View};
use residue_isa::opcode::evm::JUMPDEST;
use serde::Deserialize;
use thiserror::Error;

/// Two executions of the same code took different ways, so its segments have no times.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("two executions of the code passed different jump targets")]
pub struct Unsteady;

/// Profile of an execution.
#[derive(Debug, Clone, PartialEq)]
pub struct Profile {
    /// The tree; a parent comes before its children, the function that begins the program first.
    pub nodes: Vec<Node>,
    /// Gas of the frame.
    pub gas_used: u64,
    /// Median time of an execution without probes, if times were measured.
    pub time_ns: Option<f64>,
}

/// A function or a named stretch, called from where its parents say.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Node {
    /// Its name.
    pub name: String,
    /// Index of the caller, or of the enclosing stretch.
    pub parent: Option<usize>,
    /// True if it is a function of its own in the code.
    pub is_function: bool,
    /// Number of calls.
    pub calls: u64,
    /// Its own gas, without that of its children.
    pub gas: u64,
    /// Its own time, without that of its children; 0 if times were not measured.
    pub time_ns: f64,
}

/// A line of the table by name.
#[derive(Debug, Clone, PartialEq)]
pub struct ByName {
    /// Function or stretch.
    pub name: String,
    /// Number of calls.
    pub calls: u64,
    /// Its own gas.
    pub gas: u64,
    /// With everything that it called.
    pub gas_with_callees: u64,
    /// Its own time.
    pub time_ns: f64,
    /// With everything that it called.
    pub time_with_callees_ns: f64,
}

/// Unit of a profile: gas or time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Measure {
    /// Gas.
    Gas,
    /// Nanoseconds.
    Time,
}

/// Profiles code with its map. Times are medians of `rounds` executions; none are measured for 0.
pub fn profile(
    engine: &Engine,
    code: &[u8],
    map: &SourceMap,
    input: &[u8],
    gas: u64,
    rounds: usize,
) -> Result<(Profile, Outcome), Unsteady> {
    let mut walk = Walk::new(map);
    let outcome = engine.run_traced(code, input, gas, &mut walk);
    let Walk { mut nodes, segments, .. } = walk;
    let mut time_ns = None;
    if rounds > 0 {
        let (times, total_ns) = time::segment_times(engine, code, input, gas, &segments, rounds)?;
        for (segment, time_ns) in segments.iter().zip(times) {
            let whole: u64 = segment.gas.iter().map(|(_, gas)| gas).sum();
            for &(node, gas) in &segment.gas {
                // Gas of a frame is far below 2⁵³.
                nodes[node].time_ns += time_ns * gas as f64 / whole.max(1) as f64;
            }
        }
        time_ns = Some(total_ns);
    }
    Ok((Profile { nodes, gas_used: outcome.gas_used, time_ns }, outcome))
}

/// Execution from one jump target to the next.
#[derive(Debug, Default)]
struct Segment {
    /// The jump target; none for the beginning of the code.
    pc: Option<usize>,
    /// Gas by node.
    gas: Vec<(usize, u64)>,
}

/// A function that has begun and not ended.
#[derive(Debug, Clone, Copy)]
struct Running {
    /// Its index in the map.
    function: usize,
    node: usize,
    /// Words on the stack when it began.
    stack_height: usize,
}

/// Walks through an execution and builds the tree.
struct Walk<'a> {
    map: &'a SourceMap,
    nodes: Vec<Node>,
    /// Children by parent and name.
    children: HashMap<(Option<usize>, String), usize>,
    /// The functions that are running, innermost last.
    running: Vec<Running>,
    segments: Vec<Segment>,
}

impl<'a> Walk<'a> {
    fn new(map: &'a SourceMap) -> Self {
        Self { map, nodes: vec![], children: HashMap::new(), running: vec![], segments: vec![Segment::default()] }
    }

    fn node(&mut self, parent: Option<usize>, name: &str, is_function: bool) -> usize {
        let next = self.nodes.len();
        let node = *self.children.entry((parent, name.to_owned())).or_insert(next);
        if node == next {
            self.nodes.push(Node { name: name.to_owned(), parent, is_function, calls: 0, gas: 0, time_ns: 0.0 });
        }
        node
    }

    /// The node of the function that runs at `pc`. Control enters a function at its first byte, from its caller or, by the
    /// address that it takes from the stack, from a function that ends, and comes back elsewhere.
    fn function(&mut self, pc: usize, stack_height: usize) -> usize {
        let running = self.running.last().copied();
        let function = match (self.map.function_at(pc), running) {
            (Some(function), _) => function,
            // The end that failed requirements jump to belongs to who failed.
            (None, Some(current)) => return current.node,
            (None, None) => return self.node(None, "code", true),
        };
        let (name, entry) = self.map.function(function).expect("the map has the function");
        let name = name.to_owned();
        if pc != entry
            && let Some(depth) = self.running.iter().rposition(|known| known.function == function)
        {
            self.running.truncate(depth + 1);
            return self.running[depth].node;
        }
        while self.running.last().is_some_and(|ended| ended.stack_height > stack_height) {
            self.running.pop();
        }
        let node = self.node(self.running.last().map(|caller| caller.node), &name, true);
        self.nodes[node].calls += 1;
        self.running.push(Running { function, node, stack_height });
        node
    }

    fn path(&mut self, function: usize, path: usize) -> usize {
        let map = self.map;
        map.path(path).iter().fold(function, |node, name| self.node(Some(node), name, false))
    }

    fn charge(&mut self, node: usize, gas: u64) {
        self.nodes[node].gas += gas;
        let segment = self.segments.last_mut().expect("there is one from the beginning");
        match segment.gas.iter_mut().find(|(known, _)| *known == node) {
            Some((_, sum)) => *sum += gas,
            None => segment.gas.push((node, gas)),
        }
    }
}

impl Tracer for Walk<'_> {
    fn after(&mut self, step: &Step, view: &View<'_>) {
        if step.depth > 0 {
            let node = self.running.last().map_or(0, |current| current.node);
            return self.charge(node, step.gas_cost);
        }
        if step.opcode == JUMPDEST {
            self.segments.push(Segment { pc: Some(step.pc), gas: Vec::new() });
        }
        let function = self.function(step.pc, view.stack_height());
        let map = self.map;
        let Some(span) = map.span_at(step.pc).filter(|span| !span.lanes.is_empty()) else {
            return self.charge(function, step.gas_cost);
        };
        if step.pc == span.bytes.start {
            for &path in &span.begins {
                let node = self.path(function, path);
                self.nodes[node].calls += 1;
            }
        }
        // Lanes cost the same; what cannot be divided goes to the first ones.
        let lanes = span.lanes.len() as u64; // At most 256.
        for (lane, &path) in (0..).zip(&span.lanes) {
            let node = self.path(function, path);
            self.charge(node, step.gas_cost / lanes + u64::from(lane < step.gas_cost % lanes));
        }
    }
}

impl Node {
    /// Its own share.
    pub fn own(&self, measure: Measure) -> f64 {
        match measure {
            // Gas of a frame is far below 2⁵³.
            Measure::Gas => self.gas as f64,
            Measure::Time => self.time_ns,
        }
    }
}

impl Profile {
    /// Measure of each node with all its children.
    pub fn with_children(&self, measure: Measure) -> Vec<f64> {
        let mut sums: Vec<f64> = self.nodes.iter().map(|node| node.own(measure)).collect();
        for (index, node) in self.nodes.iter().enumerate().rev() {
            if let Some(parent) = node.parent {
                sums[parent] += sums[index];
            }
        }
        sums
    }

    /// The table by name, the most gas with callees first. What calls itself by another way is counted once.
    pub fn by_name(&self) -> Vec<ByName> {
        let (gas, time) = (self.with_children(Measure::Gas), self.with_children(Measure::Time));
        let mut lines: Vec<ByName> = Vec::new();
        for (index, node) in self.nodes.iter().enumerate() {
            let position = lines.iter().position(|line| line.name == node.name).unwrap_or_else(|| {
                let name = node.name.clone();
                lines.push(ByName {
                    name,
                    calls: 0,
                    gas: 0,
                    gas_with_callees: 0,
                    time_ns: 0.0,
                    time_with_callees_ns: 0.0,
                });
                lines.len() - 1
            });
            let line = &mut lines[position];
            line.calls += node.calls;
            line.gas += node.gas;
            line.time_ns += node.time_ns;
            if !self.is_within(node.parent, &node.name) {
                line.gas_with_callees += gas[index].round() as u64; // A sum of whole gas below 2⁵³.
                line.time_with_callees_ns += time[index];
            }
        }
        lines.sort_by(|a, b| b.gas_with_callees.cmp(&a.gas_with_callees).then_with(|| a.name.cmp(&b.name)));
        lines
    }

    fn is_within(&self, mut node: Option<usize>, name: &str) -> bool {
        while let Some(index) = node {
            if self.nodes[index].name == name {
                return true;
            }
            node = self.nodes[index].parent;
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use residue_engine::EngineConfig;
    use residue_isa::Revision;

    use super::*;

    #[test]
    fn all_gas_of_the_pairing_has_a_place_and_so_has_its_time() {
        let contract = residue_contracts::find("bls12_381/pairing").unwrap();
        let input = (contract.example)();
        for revision in [Revision::Evm384V7, Revision::Eip6690_2024] {
            let config = EngineConfig::default_for(revision);
            let compiled = residue_compiler::compile(&contract.program(), revision, &config.schedule).unwrap();
            let engine = Engine::new(config).unwrap();
            let (profile, outcome) =
                profile(&engine, &compiled.code, &compiled.source_map, &input, 1 << 40, 3).unwrap();
            assert!(outcome.is_success());
            assert_eq!(profile.nodes.iter().map(|node| node.gas).sum::<u64>(), outcome.gas_used);
            assert_eq!(profile.nodes.iter().filter(|node| node.parent.is_none()).count(), 1);
            let lines = profile.by_name();
            let line =
                |name: &str| lines.iter().find(|line| line.name == name).unwrap_or_else(|| panic!("{name}: {lines:?}"));
            assert_eq!(line("start").gas_with_callees, outcome.gas_used);
            assert_eq!((line("start").calls, line("fp_inverse").calls), (1, 1));
            // The loop count has 63 digits after the first, five of them ones; the example has two pairs.
            assert_eq!((line("doubling_step").calls, line("addition_step").calls), (126, 10));
            assert!(line("fp2_mul").calls > 1000 && line("fp2_mul").gas > outcome.gas_used / 20);
            let spent_ns: f64 = profile.nodes.iter().map(|node| node.time_ns).sum();
            assert!(spent_ns > 0.0 && profile.time_ns.unwrap() > 0.0);
        }
    }

    /// The share of the program's beginning is parsing, control and calls, not arithmetic without a name.
    #[test]
    fn arithmetic_has_names() {
        for (name, named) in [("bls12_381/g1_msm", "point_add"), ("bls12_381/map_fp2_to_g2", "fp2_root")] {
            let contract = residue_contracts::find(name).unwrap();
            let config = EngineConfig::default_for(Revision::Eip6690_2024);
            let program = contract.program();
            let compiled = residue_compiler::compile(&program, Revision::Eip6690_2024, &config.schedule).unwrap();
            let engine = Engine::new(config).unwrap();
            let input = (contract.example)();
            let (profile, _) = profile(&engine, &compiled.code, &compiled.source_map, &input, 1 << 40, 0).unwrap();
            let lines = profile.by_name();
            assert!(lines.iter().any(|line| line.name == named && line.calls > 0), "{name}: {lines:?}");
            let start = lines.iter().find(|line| line.name == "start").unwrap();
            assert!(start.gas < profile.gas_used / 4, "{name}: {lines:?}");
        }
    }
}
