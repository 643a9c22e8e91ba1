//! Threads: calls of a row that return into each other, as nothing has to be moved between them. The placement of
//! values cuts rows.

use crate::allocate::{Allocation, Placement};
use crate::liveness::values_read;
use crate::rows::{Call, Row, Rows};
use fixedbitset::FixedBitSet;
use residue_ir::program::{Function, Operand, Program, Value};
use std::mem;

/// Cuts rows of calls where something has to be moved between two of them, and finds those that functions end with.
pub fn cut(rows: &mut Rows<'_>, program: &Program, allocation: &Allocation) {
    for (number, (function, rows)) in program.functions.iter().zip(&mut rows.functions).enumerate() {
        let caller = Caller {
            function,
            placement: &allocation.functions[number],
            read: values_read(function),
            program,
            allocation,
        };
        caller.cut(rows);
        let is_start = number + 1 == program.functions.len();
        if let Some(Row::Calls { calls, is_last }) = rows.last_mut()
            && let Some(last) = calls.last()
        {
            *is_last = !is_start && caller.gives_what_it_gets(last);
        }
    }
}

/// A function that calls others.
struct Caller<'a> {
    function: &'a Function,
    placement: &'a Placement,
    /// The values that something in it reads.
    read: FixedBitSet,
    program: &'a Program,
    allocation: &'a Allocation,
}

impl Caller<'_> {
    fn cut(&self, rows: &mut Vec<Row<'_>>) {
        for mut row in mem::take(rows) {
            match &mut row {
                Row::Calls { calls, .. } => {
                    let threads = calls.chunk_by(|before, after| self.is_in_place(before, after));
                    rows.extend(threads.map(|thread| Row::Calls { calls: thread.to_vec(), is_last: false }));
                    continue;
                }
                Row::Control(nest) => nest.bodies.iter_mut().for_each(|arm| self.cut(arm)),
                _ => {}
            }
            rows.push(row);
        }
    }

    /// True if no value has to move between two calls.
    fn is_in_place(&self, before: &Call<'_>, after: &Call<'_>) -> bool {
        let callee = self.program.function(before.callee);
        let results = before.results.iter().zip(&callee.results);
        let mut outward = results.filter(|(result, _)| self.read.contains(result.0 as usize)); // u32 to usize widens
        let mut inward = self.program.function(after.callee).params.iter().zip(after.arguments);
        outward.all(|(&result, given)| self.is_one_place(result, before, given))
            && inward.all(|(&param, argument)| {
                let place = self.allocation.functions[after.callee.0 as usize].slot(param); // u32 to usize widens
                argument.value().is_some_and(|value| self.placement.slot(value) == place)
            })
    }

    /// True if the result of a call has the slot of the value that the callee returns. A constant has no slot.
    fn is_one_place(&self, result: Value, call: &Call<'_>, given: &Operand) -> bool {
        let placed = &self.allocation.functions[call.callee.0 as usize]; // u32 to usize widens
        given.value().is_some_and(|given| placed.slot(given) == self.placement.slot(result))
    }

    /// True if all results of the function are results of this call, in the same slots.
    fn gives_what_it_gets(&self, call: &Call<'_>) -> bool {
        let given = &self.program.function(call.callee).results;
        let in_place = |operand: &Operand| {
            let place = call.results.iter().position(|&result| Operand::Value(result) == *operand);
            place.is_some_and(|place| self.is_one_place(call.results[place], call, &given[place]))
        };
        self.function.results.iter().all(in_place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::allocate::allocate;
    use crate::rows::{Limits, rows};
    use residue_ir::text;

    /// Compares the lengths of the threads of `g`, whose body is `calls` of f0, which leaves two values where it takes them, and
    /// whether the last of them ends the function.
    fn check(calls: &str, given: &str, expected: &[usize], ends: bool) {
        let values = 2 + 2 * calls.matches("call").count();
        let text = format!(
            "program \"p\" modulus 0x61
             function f0 \"same\" (v0 v1) -> (v2 v1) values 3 {{ block {{ v2 = mul v0 v1 }} }}
             function f1 \"g\" (v0 v1) -> {given} values {values} {{ {calls} }}
             function f2 \"start\" () -> () values 4 {{ word w0 = 0x0 parse w0 bytes 1 -> v0 parse w0 bytes 1 -> v1
             call f1 (v0 v1) -> (v2 v3) return_elements (v2 v3) bytes 1 }}"
        );
        let program = text::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        residue_ir::verify(&program).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let mut rows = rows(&program, &Limits { values_max: 256, gap_bytes_max: 0, moved_whole: None });
        assert_eq!(rows.functions[1].len(), 1);
        let allocation = allocate(&program, &rows, 40, None).unwrap();
        cut(&mut rows, &program, &allocation);
        let threads: Vec<(usize, bool)> = rows.functions[1].iter().filter_map(thread).collect();
        let lengths: Vec<usize> = threads.iter().map(|&(length, _)| length).collect();
        assert_eq!(lengths, expected, "{calls}");
        let last: Vec<bool> = threads.iter().map(|&(_, is_last)| is_last).collect();
        assert_eq!(
            last,
            (1..=expected.len()).map(|place| ends && place == expected.len()).collect::<Vec<_>>(),
            "{calls}"
        );
        assert!(rows.functions[2].iter().filter_map(thread).all(|(_, is_last)| !is_last), "the start has no caller");
    }

    fn thread(row: &Row<'_>) -> Option<(usize, bool)> {
        match row {
            Row::Calls { calls, is_last } => Some((calls.len(), *is_last)),
            _ => None,
        }
    }

    #[test]
    fn calls_that_leave_the_state_in_place_are_one_thread() {
        let calls = "call f0 (v0 v1) -> (v2 v3) call f0 (v2 v3) -> (v4 v5) call f0 (v4 v5) -> (v6 v7)";
        check(calls, "(v6 v7)", &[3], true);
    }

    #[test]
    fn a_row_is_cut_where_values_change_places() {
        let calls = "call f0 (v0 v1) -> (v2 v3) call f0 (v3 v2) -> (v4 v5) call f0 (v4 v5) -> (v6 v7)";
        check(calls, "(v6 v7)", &[1, 2], true);
        check("call f0 (v0 v1) -> (v2 v3) call f0 (v2 v3) -> (v4 v5)", "(v5 v4)", &[2], true);
    }

    #[test]
    fn calls_whose_results_the_function_does_not_give_do_not_end_it() {
        check("call f0 (v0 v1) -> (v2 v3) call f0 (v2 v3) -> (v4 v5)", "(v4 v3)", &[1, 1], false);
    }
}
