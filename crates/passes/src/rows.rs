//! Rows: neighbouring statements that are made as one. Every region becomes a list of rows once, before placement, so
//! that placement knows which values go to memory together, and lowering walks the rows. Lowering itself still chooses
//! the stack order for a row of stores.
//!
//! A row stays within its region and has nothing between its statements, so that no effect changes its place among
//! others. [`Limits`] has the maximum extents for an interface. Threaded calls allow no moves in between:
//! [`crate::threads`] cuts rows of calls once places are known.

mod parses;
mod transfers;
mod variables;

use foldhash::{HashSet, HashSetExt};
use residue_ir::program::{
    Arm, ArrayId, Block, Control, ControlKind, FunctionId, Operand, Program, Region, Statement, Value, VariableId,
    Word, WordDef,
};
use residue_ir::{Capacity, Cells, Effect};
use transfers::all_values;

pub use parses::Parses;
pub use transfers::{Direction, Transfer};
pub use variables::Shift;

/// Maximum extents of the rows of an interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Values that one load or store moves, at most.
    pub values_max: usize,
    /// Bytes between two elements of calldata that are read together, at most.
    pub gap_bytes_max: u32,
    /// Elements of these sizes are moved between slots and calldata, or an output, as they stand there: neighbours would best have
    /// consecutive slots too.
    pub moved_whole: Option<Sizes>,
}

/// Sizes of elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sizes {
    /// The least, in bytes.
    pub least_bytes: u32,
    /// The largest, in bytes.
    pub most_bytes: u32,
}

impl Sizes {
    /// True if `size_bytes` is one of these sizes of elements.
    pub fn has(self, size_bytes: u32) -> bool {
        (self.least_bytes..=self.most_bytes).contains(&size_bytes)
    }
}

/// The rows of a program, which borrow its statements.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rows<'p> {
    /// Those of each function's body, in the order of the functions.
    pub functions: Vec<Vec<Row<'p>>>,
    /// As in the [`Limits`] that they were made by.
    pub moved_whole: Option<Sizes>,
}

/// A statement, or several that are made as one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Row<'p> {
    /// Arithmetic.
    Block(&'p Block),
    /// Control.
    Control(Nest<'p>),
    /// Calls.
    Calls {
        /// The calls in order, at least one.
        calls: Vec<Call<'p>>,
        /// True if the function ends with these calls and returns the last one's results, in place.
        is_last: bool,
    },
    /// Elements of arrays.
    Transfer(Transfer),
    /// Elements of calldata.
    Parses(Parses),
    /// Room for this many records of the unbounded arrays: it serves all of these that ask for as many.
    Reserve(Word),
    /// Variables that are set to indices of one array.
    SetIndices {
        /// The array.
        array: ArrayId,
        /// Layout of the indices in the words.
        cells: Cells,
        /// The variables, each with its word; at least one.
        sets: Vec<(VariableId, Word)>,
    },
    /// Variables with indices that are shifted.
    Shift(Shift),
    /// Anything else.
    Effect(&'p Effect),
}

/// Control, whose regions are rows in their turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Nest<'p> {
    /// The statement.
    pub control: &'p Control,
    /// The rows of each arm, in the order of the arms.
    pub bodies: Vec<Vec<Row<'p>>>,
}

impl<'p> Nest<'p> {
    /// The arms, each with its rows.
    pub fn arms(&self) -> Vec<(&'p Arm, &[Row<'p>])> {
        self.control.arms.iter().zip(self.bodies.iter().map(Vec::as_slice)).collect()
    }
}

/// A statement that is a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Call<'p> {
    /// Callee.
    pub callee: FunctionId,
    /// Its input.
    pub arguments: &'p [Operand],
    /// Its output.
    pub results: &'p [Value],
}

/// The rows of `program`, as long as `limits` let them be.
pub fn rows<'p>(program: &'p Program, limits: &Limits) -> Rows<'p> {
    let mut with_indices = HashSet::new();
    program.for_each_effect(&mut |effect| {
        if let Effect::SetIndices { variable, .. } = effect {
            with_indices.insert(*variable);
        }
    });
    let functions = program.functions.iter().map(|function| {
        let finder = Finder { program, words: &function.words, limits, with_indices: &with_indices };
        finder.region(&function.body)
    });
    Rows { functions: functions.collect(), moved_whole: limits.moved_whole }
}

impl Rows<'_> {
    /// Bytes of calldata that the longest row of several elements covers.
    pub fn parsed_bytes_max(&self) -> u32 {
        let mut longest_bytes = 0;
        for rows in &self.functions {
            walk(rows, &mut |row| match row {
                Row::Parses(row) if row.results.len() > 1 => longest_bytes = longest_bytes.max(row.covered_bytes()),
                _ => {}
            });
        }
        longest_bytes
    }
}

impl Row<'_> {
    /// The words that it reads itself, each as often as it reads it; of elements in a row only the first one's place is read.
    pub fn words(&self) -> Vec<Word> {
        match self {
            Self::Block(_) | Self::Calls { .. } | Self::Shift(_) => Vec::new(),
            Self::Control(nest) => nest.control.words(),
            Self::Transfer(transfer) => vec![transfer.index],
            Self::Parses(elements) => vec![elements.offset],
            Self::Reserve(count) => vec![*count],
            Self::SetIndices { sets, .. } => sets.iter().map(|&(_, indices)| indices).collect(),
            Self::Effect(effect) => effect.words().collect(),
        }
    }
}

/// Calls `visit` on every row, in order; those of its arms come after a statement of control.
pub fn walk<'r, 'p>(rows: &'r [Row<'p>], visit: &mut impl FnMut(&'r Row<'p>)) {
    for row in rows {
        visit(row);
        if let Row::Control(nest) = row {
            nest.bodies.iter().for_each(|arm| walk(arm, visit));
        }
    }
}

/// Lists of values that would best stand in consecutive slots, as rows of transfers or single effects take or give them so; longer rows first.
pub fn together(rows: &[Row<'_>]) -> Vec<Vec<Value>> {
    let mut lists = Vec::new();
    for row in rows {
        if let Row::Transfer(transfer) = row {
            lists.extend(transfer.together());
        }
    }
    for row in rows.iter().rev() {
        match row {
            Row::Control(Nest { control, bodies }) => match control.kind {
                // Every count passes the last turn.
                ControlKind::Countdown { .. } => bodies.iter().rev().for_each(|arm| lists.extend(together(arm))),
                _ => bodies.iter().for_each(|arm| lists.extend(together(arm))),
            },
            Row::Transfer(transfer) => {
                lists.extend(transfer.elements.iter().rev().filter_map(|(_, values)| all_values(values)));
            }
            Row::Effect(Effect::Fill { values, .. }) => lists.extend(all_values(values)),
            Row::Effect(
                Effect::Lookup { results, .. } | Effect::TakeRow { results, .. } | Effect::TakeElement { results, .. },
            ) => lists.push(results.clone()),
            _ => {}
        }
    }
    lists
}

/// Lists of values that the program asks to be neighbours; longer ones first, as the others fit in beside them.
pub fn lines(rows: &[Row<'_>]) -> Vec<Vec<Value>> {
    let mut lists = Vec::new();
    walk(rows, &mut |row| {
        if let Row::Effect(Effect::LineUp { values }) = row {
            lists.extend(all_values(values).filter(|list| list.len() > 1));
        }
    });
    lists.sort_by_key(|list| std::cmp::Reverse(list.len()));
    lists
}

/// The same of elements of calldata and of outputs that are neighbours there, if elements of these sizes are moved as they stand.
pub fn side_by_side(rows: &[Row<'_>], moved_whole: Option<Sizes>) -> Vec<Vec<Value>> {
    let Some(sizes) = moved_whole else { return Vec::new() };
    let mut lists = Vec::new();
    walk(rows, &mut |row| match row {
        Row::Parses(Parses { results, size_bytes, stride_bytes, .. })
            if results.len() > 1 && stride_bytes == size_bytes && sizes.has(*size_bytes) =>
        {
            lists.push(results.clone());
        }
        Row::Effect(Effect::ReturnElements { values, size_bytes }) if values.len() > 1 && sizes.has(*size_bytes) => {
            lists.extend(all_values(values));
        }
        _ => {}
    });
    lists
}

/// Inputs to the search for the rows of a function.
struct Finder<'p, 'f> {
    program: &'p Program,
    words: &'p [WordDef],
    limits: &'f Limits,
    /// The variables that hold indices.
    with_indices: &'f HashSet<VariableId>,
}

impl<'p> Finder<'p, '_> {
    fn region(&self, region: &'p Region) -> Vec<Row<'p>> {
        let mut rows: Vec<Row<'p>> = Vec::new();
        let mut left = &region.statements[..];
        while let [statement, others @ ..] = left {
            let shift = Shift::of(left, self.words, |variable| self.with_indices.contains(&variable));
            let next = match shift {
                Some(shift) => Row::Shift(shift),
                None => self.row(statement),
            };
            left = if shift.is_some() { &others[1..] } else { others };
            let apart = match rows.last_mut() {
                Some(before) => self.join(before, next),
                None => Some(next),
            };
            rows.extend(apart);
        }
        rows
    }

    /// The row that a statement is by itself.
    fn row(&self, statement: &'p Statement) -> Row<'p> {
        match statement {
            Statement::Block(block) => Row::Block(block),
            Statement::Call { function, arguments, results } => {
                Row::Calls { calls: vec![Call { callee: *function, arguments, results }], is_last: false }
            }
            Statement::Control(control) => {
                let bodies = control.arms.iter().map(|arm| self.region(&arm.body)).collect();
                Row::Control(Nest { control, bodies })
            }
            Statement::Effect(effect) => self.effect(effect),
        }
    }

    fn effect(&self, effect: &'p Effect) -> Row<'p> {
        match *effect {
            Effect::Parse { result, offset, size_bytes } => Row::Parses(Parses::one(result, offset, size_bytes)),
            Effect::Reserve { array, count } if self.program.arrays[array.0].capacity == Capacity::Unbounded => {
                Row::Reserve(count)
            }
            Effect::SetIndices { variable, array, cells, indices } => {
                Row::SetIndices { array, cells, sets: vec![(variable, indices)] }
            }
            _ => Transfer::of(effect).map_or(Row::Effect(effect), Row::Transfer),
        }
    }

    /// Adds `next` to the row before it, or gives it back if the two are not made as one.
    fn join(&self, before: &mut Row<'p>, next: Row<'p>) -> Option<Row<'p>> {
        match (before, next) {
            (Row::Calls { calls, .. }, Row::Calls { calls: next, .. }) => calls.extend(next),
            (Row::Transfer(row), Row::Transfer(next))
                if row.is_continued_by(&next, self.program, self.limits.values_max) =>
            {
                row.elements.extend(next.elements);
            }
            (Row::Parses(row), Row::Parses(next))
                if let Some(stride_bytes) = row.stride_with(&next, self.words, self.limits.gap_bytes_max) =>
            {
                row.results.extend(next.results);
                row.stride_bytes = stride_bytes;
            }
            (Row::Reserve(count), Row::Reserve(next)) if *count == next => {}
            (Row::SetIndices { array, cells, sets }, Row::SetIndices { array: of, cells: within, sets: next })
                if (*array, *cells) == (of, within) =>
            {
                sets.extend(next);
            }
            (Row::Shift(row), Row::Shift(next)) if row.is_continued_by(&next) => row.count += next.count,
            (_, next) => return Some(next),
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use residue_ir::text;

    const LIMITS: Limits = Limits { values_max: 8, gap_bytes_max: 32, moved_whole: None };

    fn check(body: &str, expected: &str) {
        check_within(LIMITS, body, expected);
    }

    /// The rows of a start with this body, each with its length, arms in brackets. a0, a2 and a3 are unbounded; v0 and v1 are there.
    fn check_within(limits: Limits, body: &str, expected: &str) {
        let text = format!(
            "program \"p\" modulus 0x61 constant c0 = 0x5
             array a0 \"a\" values 2 capacity unbounded
             array a1 \"table\" values 2 capacity 4
             array a2 \"b\" values 3 capacity unbounded
             array a3 \"c\" values 1 capacity unbounded
             array a4 \"one\" values 2 capacity 1
             array a5 \"another\" values 2 capacity 1
             variable x0 \"x\" variable x1 \"y\" variable x2 \"z\"
             function f0 \"f\" (v0 v1) -> (v1 v0) values 2 {{ }}
             function f1 \"start\" () -> () values 40 {{
             word w0 = 0x0 word w1 = 0x1 word w2 = 0x30 word w3 = 0x40 word w4 = 0x50 word w5 = 0x60 word w6 = 0x80
             word w7 = 0x10 word w8 = 0x9 word w9 = calldata_size word w10 = defined word w11 = defined
             word w12 = add w9 w2 word w13 = add w9 w5 word w14 = shr w10 w7 word w15 = shr w11 w7 word w16 = shr w11 w8
             parse w0 bytes 1 -> v0 block {{ v1 = add v0 v0 }} {body} return_elements (v0) bytes 1 }}"
        );
        let program = text::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let rows = rows(&program, &limits);
        let [_, all @ .., _] = &rows.functions[1][1..] else { panic!("the start has a body") };
        assert_eq!(names(all), expected, "{body}");
    }

    fn names(rows: &[Row<'_>]) -> String {
        let name = |row: &Row<'_>| match row {
            Row::Block(_) => "block".to_owned(),
            Row::Control(nest) => {
                format!("[{}]", nest.bodies.iter().map(|arm| names(arm)).collect::<Vec<_>>().join("|"))
            }
            Row::Calls { calls, .. } => format!("calls {}", calls.len()),
            Row::Transfer(Transfer { direction: Direction::Load, elements, .. }) => format!("loads {}", elements.len()),
            Row::Transfer(Transfer { elements, .. }) => format!("stores {}", elements.len()),
            Row::Parses(row) => format!("parses {} by {}", row.results.len(), row.stride_bytes),
            Row::Reserve(_) => "room".to_owned(),
            Row::SetIndices { sets, .. } => format!("sets {}", sets.len()),
            Row::Shift(shift) => format!("shift {} by {}", shift.count, shift.bytes),
            Row::Effect(effect) => effect.name().to_owned(),
        };
        rows.iter().map(name).collect::<Vec<_>>().join(", ")
    }

    #[test]
    fn elements_of_one_record_that_are_neighbours_are_a_row() {
        check("load a0 w0 -> (v2 v3) load a2 w0 -> (v4 v5 v6) load a3 w0 -> (v7)", "loads 3");
        check("store a0 w9 (v0 v1) store a2 w9 (c0 v0 v1)", "stores 2");
        check("load a4 w0 -> (v2 v3) load a5 w0 -> (v4 v5)", "loads 2");
    }

    #[test]
    fn elements_that_are_no_neighbours_are_apart() {
        for (_what, body) in [
            ("an array between them", "load a0 w0 -> (v2 v3) load a3 w0 -> (v4)"),
            ("the other order", "load a2 w0 -> (v4 v5 v6) load a0 w0 -> (v2 v3)"),
            ("the same twice", "load a0 w0 -> (v2 v3) load a0 w0 -> (v4 v5)"),
            ("another index", "load a0 w0 -> (v2 v3) load a2 w1 -> (v4 v5 v6)"),
            ("an array of several elements", "load a1 w0 -> (v2 v3) load a4 w0 -> (v4 v5)"),
            ("outside of records", "load a0 w0 -> (v2 v3) load a4 w0 -> (v4 v5)"),
        ] {
            check(body, "loads 1, loads 1");
        }
    }

    #[test]
    fn no_row_crosses_a_statement() {
        let (first, second) = ("load a0 w0 -> (v2 v3)", "load a2 w0 -> (v4 v5 v6)");
        for (between, rows) in [
            ("store a2 w9 (v0 v1 v0)", "stores 1"), // It may be the element that is loaded next.
            ("store a3 w0 (v0)", "stores 1"),
            ("fill a1 count 4 (v0 v1)", "fill"),
            ("block { v7 = add v0 v1 }", "block"),
            ("call f0 (v0 v1) -> (v7 v8)", "calls 1"),
            ("reserve a0 w1", "room"),
            ("require w9", "require"),
            ("branch w9 { store a2 w0 (v0 v1 v0) give () } else { give () } -> ()", "[stores 1|]"),
        ] {
            check(&format!("{first} {between} {second}"), &format!("loads 1, {rows}, loads 1"));
        }
        check(&format!("branch w9 {{ {first} give () }} else {{ {second} give () }} -> ()"), "[loads 1|loads 1]");
        check(&format!("{first} branch w9 {{ {second} give () }} else {{ give () }} -> ()"), "loads 1, [loads 1|]");
    }

    #[test]
    fn a_row_has_no_more_values_than_one_instruction_moves() {
        let body = "load a0 w0 -> (v2 v3) load a2 w0 -> (v4 v5 v6) load a3 w0 -> (v7)";
        for (values_max, expected) in
            [(6, "loads 3"), (5, "loads 2, loads 1"), (4, "loads 1, loads 2"), (1, "loads 1, loads 1, loads 1")]
        {
            check_within(Limits { values_max, ..LIMITS }, body, expected);
        }
    }

    #[test]
    fn elements_of_calldata_at_equal_distances_are_a_row() {
        let parses = |offsets: &[u32], sizes: &[u32]| -> String {
            let statements = offsets.iter().zip(sizes).zip(2..);
            statements.map(|((offset, size), value)| format!("parse w{offset} bytes {size} -> v{value} ")).collect()
        };
        for (offsets, expected) in [
            (&[0, 2, 5][..], "parses 3 by 48"), // 0, 48 and 96
            (&[0, 3, 6], "parses 3 by 64"),     // 0, 64 and 128
            (&[0, 4], "parses 2 by 80"),        // 32 bytes between
            (&[9, 12, 13], "parses 3 by 48"),   // from the size of calldata on
            (&[0, 2, 6], "parses 2 by 48, parses 1 by 48"),
            (&[0, 5], "parses 1 by 48, parses 1 by 48"), // 48 bytes between
            (&[0, 7], "parses 1 by 48, parses 1 by 48"), // they overlap
            (&[2, 0], "parses 1 by 48, parses 1 by 48"),
            (&[0, 12], "parses 1 by 48, parses 1 by 48"),
        ] {
            check(&parses(offsets, &[48; 3]), expected);
        }
        check(&parses(&[0, 2], &[48, 32]), "parses 1 by 48, parses 1 by 32");
        check_within(Limits { gap_bytes_max: 0, ..LIMITS }, &parses(&[0, 2, 5], &[48; 3]), "parses 3 by 48");
        check_within(
            Limits { gap_bytes_max: 0, ..LIMITS },
            &parses(&[0, 3], &[48; 2]),
            "parses 1 by 48, parses 1 by 48",
        );
        check(
            "parse w0 bytes 48 -> v2 store a3 w0 (v2) parse w2 bytes 48 -> v3",
            "parses 1 by 48, stores 1, parses 1 by 48",
        );
    }

    #[test]
    fn calls_reservations_and_variables_with_indices_are_rows() {
        check("call f0 (v0 v1) -> (v2 v3) call f0 (v0 v1) -> (v4 v5) call f0 (v4 v5) -> (v6 v7)", "calls 3");
        check("call f0 (v0 v1) -> (v2 v3) bind w9 -> w10 call f0 (v0 v1) -> (v4 v5)", "calls 1, bind, calls 1");
        check("reserve a0 w9 reserve a2 w9 reserve a2 w1", "room, room");
        check("reserve a0 w9 reserve a1 w9 reserve a2 w9", "room, reserve, room");

        let set = |variable: u32, array: u32| format!("set_indices x{variable} a{array} cells 64 indices 8 w9 ");
        check(&[set(0, 1), set(1, 1)].concat(), "sets 2");
        check(&[set(0, 1), set(1, 0)].concat(), "sets 1, sets 1");
        let sets = [set(0, 1), set(1, 1)].concat();
        let shift = |variable: u32, got: u32, to: u32| format!("get x{variable} -> w{got} set x{variable} w{to} ");
        check(&[&sets, &shift(0, 10, 14), &shift(1, 11, 15)[..]].concat(), "sets 2, shift 2 by 2");
        check(&[&sets, &shift(1, 10, 14), &shift(0, 11, 15)[..]].concat(), "sets 2, shift 1 by 2, shift 1 by 2");
        check(&[&sets, &shift(1, 10, 14), &shift(2, 11, 15)[..]].concat(), "sets 2, shift 1 by 2, get, set");
        check(&[&sets, &shift(1, 11, 16)[..]].concat(), "sets 2, get, set"); // Nine bits are no bytes.
    }

    #[test]
    fn values_of_a_row_are_wanted_together_before_those_of_an_element() {
        let text = "program \"p\" modulus 0x61 array a0 \"a\" values 1 capacity unbounded array a1 \"b\" values 2 capacity unbounded
            array a2 \"c\" values 1 capacity unbounded constant c0 = 0x5
            function f0 \"start\" () -> () values 5 { word w0 = 0x0
            load a0 w0 -> (v0) load a1 w0 -> (v1 v2) load a2 w0 -> (v3) require w0
            store a0 w0 (v0) store a1 w0 (c0 v1) store a2 w0 (v3) }";
        let program = text::parse(text).unwrap_or_else(|error| panic!("{error}"));
        let rows = rows(&program, &LIMITS);
        let lists: Vec<Vec<u32>> =
            together(&rows.functions[0]).iter().map(|list| list.iter().map(|value| value.0).collect()).collect();
        let expected: [&[u32]; 6] = [&[0, 1, 2, 3], &[1, 2, 3], &[3], &[0], &[3], &[1, 2]];
        assert_eq!(lists[..6], expected);
        assert_eq!(lists[6..], [[0]]);
    }

    #[test]
    fn elements_of_calldata_and_outputs_are_wanted_together_if_they_are_moved_as_they_stand() {
        let text = "program \"p\" modulus 0x61 function f0 \"start\" () -> () values 6 {
            word w0 = 0x0 word w1 = 0x30 word w2 = 0x40 word w3 = 0x80 word w4 = 0xc0 word w5 = calldata_size
            parse w0 bytes 48 -> v0 parse w1 bytes 48 -> v1 require w5
            parse w2 bytes 64 -> v2 parse w3 bytes 64 -> v3 require w5
            parse w0 bytes 48 -> v4 parse w2 bytes 48 -> v5 return_elements (v5 v4) bytes 48 }";
        let program = text::parse(text).unwrap_or_else(|error| panic!("{error}"));
        let rows = rows(&program, &LIMITS);
        let lists = |least_bytes: u32, most_bytes: u32| -> Vec<Vec<u32>> {
            let lists = side_by_side(&rows.functions[0], Some(Sizes { least_bytes, most_bytes }));
            lists.iter().map(|list| list.iter().map(|value| value.0).collect()).collect()
        };
        // What has a gap between elements is moved one by one.
        assert_eq!(lists(48, 48), [[0, 1], [5, 4]]);
        assert_eq!(lists(48, 64), [[0, 1], [2, 3], [5, 4]]);
        assert_eq!(lists(49, 255), [[2, 3]]);
    }
}
