//! Calling conventions of revisions with subroutines: CALLSUB and RETURNSUB, or jumps as in other revisions.
//!
//! A function is left in one way, so all its callers call it alike. A call by jumps is 12 gas in a thread, and 12 more
//! for each thread; one by CALLSUB is 17 wherever it is. So a function whose calls stand in long threads keeps jumps,
//! and others do not. The choice depends on the estimated number of executions of each call; a wrong estimate costs gas
//! only.

use super::words;
use crate::words::prices::EvmGas;
use foldhash::{HashSet, HashSetExt};
use residue_ir::program::{ControlKind, Function, Word, WordDef};
use residue_isa::opcode::subroutine::RETURNS_MAX;
use residue_isa::{GasSchedule, Price};
use residue_passes::Row;
use residue_passes::rows::Nest;

/// Calling convention of a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Convention {
    /// By JUMP to a JUMPDEST, with where to return on the stack.
    Jumps,
    /// By CALLSUB to an ENTERSUB, with where to return on the return stack.
    Subroutine,
}

use Convention::{Jumps, Subroutine};

/// Gas of calls under a schedule.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CallGas {
    /// A call in a thread: a push, a target, a jump (3, 1, 8).
    in_thread: f64,
    /// Extra gas of a thread: a push of its return address, the jump to its start, the target at its end.
    thread: f64,
    /// By CALLSUB: a push, CALLSUB, ENTERSUB, RETURNSUB (3, 8, 1, 5: EIP-7979, "Costs").
    call: f64,
    /// Of a function's end that is a jump to a subroutine, beside the return that it has in place of the function's own: a push, a jump, both targets.
    tail: f64,
    /// Of a push and a jump, which fall away where the function that is called comes next.
    push_and_jump: f64,
}

impl CallGas {
    /// That of a schedule; what it has no price for, such as CALLSUB where there are no subroutines, is free.
    pub fn of(schedule: &GasSchedule) -> Self {
        let EvmGas { push, jump, target, .. } = EvmGas::of(schedule);
        let base = |mnemonic| schedule.base(mnemonic).map_or(0, Price::whole);
        let [call, enter, leave] = ["CALLSUB", "ENTERSUB", "RETURNSUB"].map(base);
        let thread = push + jump + target;
        let [thread, call, tail, push_and_jump] =
            [thread, push + call + enter + leave, thread + enter, push + jump].map(|gas| gas as f64); // far below 2⁵³
        Self { in_thread: thread, thread, call, tail, push_and_jump }
    }

    /// Gas of a call by CALLSUB and the way back.
    pub fn call(&self) -> f64 {
        self.call
    }
}

/// Estimated number of turns of a loop with an unknown count.
const TURNS: f64 = 8.0;
/// Number of rounds over the functions.
const ROUNDS: usize = 4;

/// The conventions of the functions of a program or subprogram.
#[derive(Debug, Clone, Default)]
pub(super) struct Conventions {
    functions: Vec<Convention>,
    /// True for subroutines to which another function's tail jumps.
    is_jumped_to: Vec<bool>,
}

impl Conventions {
    /// Jumps alone.
    pub fn jumps(functions: usize) -> Self {
        Self { functions: vec![Jumps; functions], is_jumped_to: vec![false; functions] }
    }

    /// Those that cost least, as far as is known; `enters` says whether a subprogram is entered from outside, at its last function.
    pub fn cheapest(functions: &[Function], rows: &[Vec<Row<'_>>], enters: bool, gas: &CallGas) -> Self {
        let count = functions.len();
        // Functions call earlier ones only, so the return stack is never higher than there are functions.
        if count >= RETURNS_MAX / 2 {
            return Self::jumps(count);
        }
        let sites = sites(functions, rows, &vec![HashSet::new(); functions.len()], enters);
        let found = [Jumps, Subroutine].map(|first| improved(vec![first; count], &sites, gas));
        let [jumps, subroutines] = found.map(|found| (cost(&found, &sites, gas), found));
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

    /// True if some function ends by a jump to this subroutine.
    pub fn is_jumped_to(&self, function: usize) -> bool {
        self.is_jumped_to[function]
    }
}

/// A row of calls.
#[derive(Debug)]
struct Site {
    caller: usize,
    callees: Vec<usize>,
    /// True if it is the caller's last statement.
    is_last: bool,
    /// Estimated number of executions.
    times: f64,
}

impl Site {
    /// The function that the caller ends by going on to, where both are subroutines.
    fn tail(&self, functions: &[Convention]) -> Option<usize> {
        let last = *self.callees.last().filter(|_| self.is_last)?;
        (functions[self.caller] == Subroutine && functions[last] == Subroutine).then_some(last)
    }

    fn cost(&self, functions: &[Convention], of: &CallGas) -> f64 {
        let mut gas = 0.0;
        let mut threads = self.callees.chunk_by(|&before, &after| functions[before] == functions[after]).peekable();
        while let Some(calls) = threads.next() {
            let number = calls.len() as f64; // a count
            let is_end = self.is_last && threads.peek().is_none();
            let falls = calls.last().is_some_and(|&last| last + 1 == self.caller);
            gas += match (functions[calls[0]], functions[self.caller]) {
                (Subroutine, Subroutine) if is_end && falls => of.call * number + of.tail - of.call - of.push_and_jump,
                (Subroutine, Subroutine) if is_end => of.call * number + of.tail - of.call,
                (Subroutine, _) => of.call * number,
                (Jumps, Jumps) if is_end && calls[0] + 1 == self.caller => of.in_thread * number - of.push_and_jump,
                (Jumps, Jumps) if is_end => of.in_thread * number,
                (Jumps, _) => of.in_thread * number + of.thread,
            };
        }
        self.times * gas
    }
}

fn cost(functions: &[Convention], sites: &[Site], gas: &CallGas) -> f64 {
    sites.iter().map(|site| site.cost(functions, gas)).sum()
}

/// Conventions changed one by one as long as that saves gas.
fn improved(mut functions: Vec<Convention>, sites: &[Site], of_calls: &CallGas) -> Vec<Convention> {
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
            let gas =
                |functions: &[Convention]| of[number].iter().map(|site| site.cost(functions, of_calls)).sum::<f64>();
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

/// Number of runs of each function, as far as known.
pub(super) fn runs(functions: &[Function], rows: &[Vec<Row<'_>>]) -> Vec<f64> {
    let mut runs = vec![0.0; functions.len()];
    if let Some(start) = runs.last_mut() {
        *start = 1.0;
    }
    let zero_tests: Vec<_> = functions.iter().map(words::zero_tests).collect();
    for site in sites(functions, rows, &zero_tests, false) {
        site.callees.iter().for_each(|&callee| runs[callee] += site.times);
    }
    runs
}

/// Number of runs of the bodies of a control for each of its own.
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

/// Expected share of elements that are zero, of those that a program asks about.
const ZERO_SHARE: f64 = 1.0 / 1024.0;

/// Share of its [`turns`] that a body of a control runs: little, where an element has to be zero.
pub(super) fn share(nest: &Nest<'_>, body: usize, zero_tests: &HashSet<Word>) -> f64 {
    match nest.control.kind {
        ControlKind::Branch { condition } if body == 0 && zero_tests.contains(&condition) => ZERO_SHARE,
        _ => 1.0,
    }
}

/// All rows of calls, with how often they are met. A subprogram's entrance is one too, in no function of its own: it is taken for a call of
/// its last function by itself. Of each function's branches those on its `zero_tests` are seldom taken.
fn sites(functions: &[Function], rows: &[Vec<Row<'_>>], zero_tests: &[HashSet<Word>], enters: bool) -> Vec<Site> {
    let mut times = vec![0.0; functions.len()];
    let mut sites = Vec::new();
    let Some(start) = functions.len().checked_sub(1) else { return sites };
    times[start] = 1.0;
    if enters {
        sites.push(Site { caller: start, callees: vec![start], is_last: false, times: 1.0 });
    }
    for number in (0..functions.len()).rev() {
        let first = sites.len();
        gather(&mut sites, (number, &functions[number], &zero_tests[number]), &rows[number], times[number]);
        for site in &sites[first..] {
            site.callees.iter().for_each(|&callee| times[callee] += site.times);
        }
    }
    sites
}

fn gather(
    sites: &mut Vec<Site>,
    of @ (caller, function, zero_tests): (usize, &Function, &HashSet<Word>),
    rows: &[Row<'_>],
    times: f64,
) {
    for row in rows {
        match row {
            Row::Calls { calls, is_last } => {
                let callees = calls.iter().map(|call| call.callee.0 as usize).collect(); // u32 to usize widens
                sites.push(Site { caller, callees, is_last: *is_last, times });
            }
            Row::Control(nest) => {
                let turns = turns(function, nest);
                for (number, body) in nest.bodies.iter().enumerate() {
                    let share = share(nest, number, zero_tests);
                    gather(sites, of, body, times * turns * share);
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use residue_isa::Revision;
    use residue_isa::opcode::evm;

    fn site(caller: usize, callees: &[usize], is_last: bool, times: f64) -> Site {
        Site { caller, callees: callees.to_vec(), is_last, times }
    }

    fn gas() -> CallGas {
        CallGas::of(&GasSchedule::default_for(Revision::EvmCallsub).unwrap())
    }

    #[track_caller]
    fn check(count: usize, sites: &[Site], expected: &[Convention]) {
        let found = [Jumps, Subroutine].map(|first| improved(vec![first; count], sites, &gas()));
        let [jumps, subroutines] = found.map(|found| (cost(&found, sites, &gas()), found));
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
    fn the_schedule_decides() {
        let schedule = GasSchedule::default_for(Revision::EvmCallsub).unwrap();
        let sites = [site(1, &[0], false, 1.0)];
        let least = |schedule: &GasSchedule| {
            let gas = CallGas::of(schedule);
            [Jumps, Subroutine].map(|all| cost(&[all; 2], &sites, &gas))
        };
        assert_eq!(least(&schedule), [24.0, 17.0]);
        assert_eq!(least(&schedule.clone().with_evm([(evm::JUMP, Price::from_gas(2))])), [12.0, 17.0]);
        let dear = |mnemonic, price| if mnemonic == "CALLSUB" { Price::from_gas(20) } else { price };
        let dear = schedule.repriced("dear", "", Revision::EvmCallsub, dear, |_, width| width);
        assert_eq!(least(&dear), [24.0, 29.0]);
    }

    #[test]
    fn a_function_that_comes_next_is_gone_on_to() {
        let sites = [site(2, &[1], false, 9.0), site(1, &[0], true, 9.0)];
        check(3, &sites, &[Subroutine, Subroutine]);
        assert_eq!(sites[1].tail(&[Subroutine; 3]), Some(0));
        assert_eq!(sites[1].cost(&[Subroutine; 3], &gas()), 9.0 * 2.0);
        assert_eq!(sites[1].tail(&[Subroutine, Jumps, Jumps]), None);
    }
}
