//! How functions are called where the revision has subroutines: by CALLSUB and RETURNSUB, or by jumps as everywhere else.
//!
//! A function is left in one way, so all its callers call it alike. A call by jumps is 12 gas in a thread, and 12 more for each thread; one by
//! CALLSUB is 17 wherever it is. So a function whose calls stand in long threads keeps jumps, and others do not. Which is cheaper is decided by
//! how often calls run, as far as that is known before; where it is not, only gas suffers.

use residue_ir::program::{ControlKind, Function, WordDef};
use residue_isa::opcode::subroutine::RETURNS_MAX;
use residue_passes::Row;
use residue_passes::rows::Nest;

/// How a function is entered and left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Convention {
    /// By JUMP to a JUMPDEST, with where to return on the stack.
    Jumps,
    /// By CALLSUB to an ENTERSUB, with where to return on the return stack.
    Subroutine,
}

use Convention::{Jumps, Subroutine};

/// Gas of a call in a thread: a push, a target, a jump (3, 1, 8).
const IN_THREAD: f64 = 12.0;
/// What a thread takes besides: a push of where it returns, the jump that begins it, the target where it ends.
const THREAD: f64 = 12.0;
/// Of a call by CALLSUB: a push, CALLSUB, ENTERSUB, RETURNSUB (3, 8, 1, 5: EIP-7979, "Costs").
const CALL: f64 = 17.0;
/// Of a function's end that is a jump to a subroutine, beside the return that it has in place of the function's own: a push, a jump, both targets.
const TAIL: f64 = 13.0;
/// Of a push and a jump, which fall away where the function that is called comes next.
const PUSH_AND_JUMP: f64 = 11.0;
/// How often a loop of a number of turns that is not known is taken to turn.
const TURNS: f64 = 8.0;
/// How often functions are looked at again.
const ROUNDS: usize = 4;

/// The conventions of the functions of a program or subprogram.
#[derive(Debug, Clone, Default)]
pub(super) struct Conventions {
    functions: Vec<Convention>,
    /// Whether a function ends by a jump to this one, which is a subroutine.
    is_jumped_to: Vec<bool>,
}

impl Conventions {
    /// Jumps alone.
    pub fn jumps(functions: usize) -> Self {
        Self { functions: vec![Jumps; functions], is_jumped_to: vec![false; functions] }
    }

    /// Those that cost least, as far as is known; `enters` says whether a subprogram is entered from outside, at its last function.
    pub fn cheapest(functions: &[Function], rows: &[Vec<Row<'_>>], enters: bool) -> Self {
        let count = functions.len();
        // Functions call earlier ones only, so the return stack is never higher than there are functions.
        if count >= RETURNS_MAX / 2 {
            return Self::jumps(count);
        }
        let sites = sites(functions, rows, enters);
        let found = [Jumps, Subroutine].map(|first| improved(vec![first; count], &sites));
        let [jumps, subroutines] = found.map(|found| (cost(&found, &sites), found));
        let functions = if subroutines.0 < jumps.0 { subroutines.1 } else { jumps.1 };
        let mut is_jumped_to = vec![false; count];
        for site in &sites {
            if let Some(callee) = site.tail(&functions).filter(|&callee| callee + 1 != site.caller) {
                is_jumped_to[callee] = true;
            }
        }
        Self { functions, is_jumped_to }
    }

    /// That of a function.
    pub fn of(&self, function: usize) -> Convention {
        self.functions[function]
    }

    /// Whether some function ends by a jump to this subroutine.
    pub fn is_jumped_to(&self, function: usize) -> bool {
        self.is_jumped_to[function]
    }
}

/// A row of calls.
#[derive(Debug)]
struct Site {
    caller: usize,
    callees: Vec<usize>,
    /// Whether the caller ends with it.
    is_last: bool,
    /// How often it is met.
    times: f64,
}

impl Site {
    /// The function that the caller ends by going on to, where both are subroutines.
    fn tail(&self, functions: &[Convention]) -> Option<usize> {
        let last = *self.callees.last().filter(|_| self.is_last)?;
        (functions[self.caller] == Subroutine && functions[last] == Subroutine).then_some(last)
    }

    fn cost(&self, functions: &[Convention]) -> f64 {
        let mut gas = 0.0;
        let mut threads = self.callees.chunk_by(|&before, &after| functions[before] == functions[after]).peekable();
        while let Some(calls) = threads.next() {
            let number = calls.len() as f64; // a count
            let is_end = self.is_last && threads.peek().is_none();
            let falls = calls.last().is_some_and(|&last| last + 1 == self.caller);
            gas += match (functions[calls[0]], functions[self.caller]) {
                (Subroutine, Subroutine) if is_end && falls => CALL * number + TAIL - CALL - PUSH_AND_JUMP,
                (Subroutine, Subroutine) if is_end => CALL * number + TAIL - CALL,
                (Subroutine, _) => CALL * number,
                (Jumps, Jumps) if is_end && calls[0] + 1 == self.caller => IN_THREAD * number - PUSH_AND_JUMP,
                (Jumps, Jumps) if is_end => IN_THREAD * number,
                (Jumps, _) => IN_THREAD * number + THREAD,
            };
        }
        self.times * gas
    }
}

fn cost(functions: &[Convention], sites: &[Site]) -> f64 {
    sites.iter().map(|site| site.cost(functions)).sum()
}

/// Conventions changed one by one as long as that saves gas.
fn improved(mut functions: Vec<Convention>, sites: &[Site]) -> Vec<Convention> {
    let mut of: Vec<Vec<&Site>> = vec![Vec::new(); functions.len()];
    for site in sites {
        let mut named = site.callees.clone();
        named.push(site.caller);
        named.sort_unstable();
        named.dedup();
        named.into_iter().for_each(|function| of[function].push(site));
    }
    for _ in 0..ROUNDS {
        let mut has_changed = false;
        for number in 0..functions.len() {
            let gas = |functions: &[Convention]| of[number].iter().map(|site| site.cost(functions)).sum::<f64>();
            let before = gas(&functions);
            let kept = functions[number];
            functions[number] = if kept == Jumps { Subroutine } else { Jumps };
            if gas(&functions) < before {
                has_changed = true;
            } else {
                functions[number] = kept;
            }
        }
        if !has_changed {
            break;
        }
    }
    functions
}

/// The number of times that each function runs, as far as is known.
pub(super) fn runs(functions: &[Function], rows: &[Vec<Row<'_>>]) -> Vec<f64> {
    let mut runs = vec![0.0; functions.len()];
    if let Some(start) = runs.last_mut() {
        *start = 1.0;
    }
    for site in sites(functions, rows, false) {
        site.callees.iter().for_each(|&callee| runs[callee] += site.times);
    }
    runs
}

/// The number of times that the bodies of a control run each time that it does.
pub(super) fn turns(function: &Function, nest: &Nest<'_>) -> f64 {
    match &nest.control.kind {
        ControlKind::Repeat { count, .. } => match &function.words[count.0 as usize] {
            WordDef::Constant(count) => u32::try_from(*count).map_or(TURNS, f64::from),
            _ => TURNS,
        },
        ControlKind::Countdown { .. } | ControlKind::Branch { .. } => 0.5,
        ControlKind::Sequence(order) => order.steps.len() as f64 / nest.bodies.len().max(1) as f64, // counts
    }
}

/// All rows of calls, with how often they are met. A subprogram's entrance is one too, in no function of its own: it is taken for a call of
/// its last function by itself.
fn sites(functions: &[Function], rows: &[Vec<Row<'_>>], enters: bool) -> Vec<Site> {
    let mut times = vec![0.0; functions.len()];
    let mut sites = Vec::new();
    let Some(start) = functions.len().checked_sub(1) else { return sites };
    times[start] = 1.0;
    if enters {
        sites.push(Site { caller: start, callees: vec![start], is_last: false, times: 1.0 });
    }
    for number in (0..functions.len()).rev() {
        let first = sites.len();
        gather(&mut sites, (number, &functions[number]), &rows[number], times[number]);
        for site in &sites[first..] {
            site.callees.iter().for_each(|&callee| times[callee] += site.times);
        }
    }
    sites
}

fn gather(sites: &mut Vec<Site>, (caller, function): (usize, &Function), rows: &[Row<'_>], times: f64) {
    for row in rows {
        match row {
            Row::Calls { calls, is_last } => {
                let callees = calls.iter().map(|call| call.callee.0 as usize).collect(); // u32 to usize widens
                sites.push(Site { caller, callees, is_last: *is_last, times });
            }
            Row::Control(nest) => {
                let turns = turns(function, nest);
                for body in &nest.bodies {
                    gather(sites, (caller, function), body, times * turns);
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn site(caller: usize, callees: &[usize], is_last: bool, times: f64) -> Site {
        Site { caller, callees: callees.to_vec(), is_last, times }
    }

    #[track_caller]
    fn check(count: usize, sites: &[Site], expected: &[Convention]) {
        let found = [Jumps, Subroutine].map(|first| improved(vec![first; count], sites));
        let [jumps, subroutines] = found.map(|found| (cost(&found, sites), found));
        let least = if subroutines.0 < jumps.0 { subroutines } else { jumps };
        assert_eq!(&least.1[..expected.len()], expected, "{}", least.0);
    }

    #[test]
    fn single_calls_are_subroutines_and_long_threads_jump() {
        check(2, &[site(1, &[0], false, 1.0)], &[Subroutine]);
        check(2, &[site(1, &[0, 0], false, 1.0)], &[Subroutine]);
        check(2, &[site(1, &[0, 0, 0], false, 1.0)], &[Jumps]);
        // How often decides: 3 · 48 and 24 against 3 · 51 and 17 in the first case.
        check(2, &[site(1, &[0, 0, 0], false, 3.0), site(1, &[0], false, 1.0)], &[Jumps]);
        check(2, &[site(1, &[0, 0, 0], false, 1.0), site(1, &[0], false, 1.0)], &[Subroutine]);
    }

    #[test]
    fn a_function_that_comes_next_is_gone_on_to() {
        let sites = [site(2, &[1], false, 9.0), site(1, &[0], true, 9.0)];
        check(3, &sites, &[Subroutine, Subroutine]);
        assert_eq!(sites[1].tail(&[Subroutine; 3]), Some(0));
        assert_eq!(sites[1].cost(&[Subroutine; 3]), 9.0 * 2.0);
        assert_eq!(sites[1].tail(&[Subroutine, Jumps, Jumps]), None);
    }
}
