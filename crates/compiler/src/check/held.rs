//! Checker of sequences whose state stays on the stack: parts must agree on its form, and code that only moves it is
//! read like blocks.

use super::{Evidence, in_slots, item_bytes};
use crate::lower::{HeldEnds, HeldWay, HeldWord, Way};
use crate::target::words::Words;
use crate::words::read::{Element, Elements, Held};
use foldhash::HashMap;
use num_bigint::BigUint;
use residue_ir::program::{Arm, Control, ControlKind, Function, Operand, Order, Statement, Value};
use residue_passes::Slot;
use std::collections::BTreeSet;

/// The words at both ends as the reader knows them.
pub(super) fn read(elements: &mut Elements, known: (&[Element], &[BigUint]), ends: &HeldEnds) -> [Vec<Held>; 2] {
    [(&ends.entry, &ends.before), (&ends.exit, &ends.after)]
        .map(|(words, state)| words.iter().map(|word| read_word(elements, known, word, state)).collect())
}

/// A word; values are those of `state`.
fn read_word(
    elements: &mut Elements,
    (source, constants): (&[Element], &[BigUint]),
    word: &HeldWord,
    state: &[Operand],
) -> Held {
    match *word {
        HeldWord::Next => Held::Next,
        HeldWord::Modulus => Held::Modulus,
        HeldWord::Number(ref number) => Held::Number(number.clone()),
        HeldWord::Value(at, form) => match state[at] {
            Operand::Value(value) => Held::Value(source[value.0 as usize], form), // u32 to usize widens
            Operand::Constant(id) => Held::Value(elements.constant(&constants[id.0 as usize]), form),
        },
    }
}

/// Code of a sequence: code that moves its state, or the block of a part, by the first value that it defines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Piece {
    Way(Way),
    Block(Value),
}

/// Checks the moves of states in a function, and that all code of a sequence agrees on the form of the state.
pub(super) fn check(
    judge: (&Words, &mut Elements),
    (source, evidence): (&[Element], &Evidence<'_>),
    (number, function): (usize, &Function),
) -> Result<(), String> {
    let (words, elements) = judge;
    let of_function = evidence.blocks.iter().filter(|part| part.function == number);
    let mut ends: HashMap<Piece, &HeldEnds> =
        of_function.filter_map(|part| Some((Piece::Block(part.first), part.held.as_ref()?))).collect();
    for way in evidence.ways.iter().filter(|way| way.function == number) {
        check_way((words, elements), (source, evidence), way)?;
        ends.insert(Piece::Way(way.way), &way.ends);
    }
    let mut wrong = Ok(());
    let mut fitting = 0;
    function.body.walk(&mut |statement| {
        if let Statement::Control(control) = statement
            && let ControlKind::Sequence(order) = &control.kind
        {
            match fits(control, order, &ends) {
                Ok(pieces) => fitting += pieces,
                Err(what) => wrong = Err(what),
            }
        }
    });
    wrong?;
    if fitting == ends.len() { Ok(()) } else { Err("code that finds a state is of no sequence".to_owned()) }
}

/// Compares the bytes of a move of a state with the stack and memory before and after it.
fn check_way(
    (words, elements): (&Words, &mut Elements),
    (source, evidence): (&[Element], &Evidence<'_>),
    HeldWay { function, way, items, ends }: &HeldWay,
) -> Result<(), String> {
    let placement = &evidence.allocation.functions[*function];
    let values = |state: &[Operand]| state.iter().filter_map(|operand| operand.value()).collect::<BTreeSet<_>>();
    let (found, left) = (values(&ends.before), values(&ends.after));
    let before = in_slots(source, placement, left.difference(&found).copied())?;
    // The end stores the state.
    let stored = if let Way::OutOf(_) = way { found } else { BTreeSet::new() };
    let after = in_slots(source, placement, stored)?;
    let own: BTreeSet<Slot> = after.iter().map(|&(slot, _)| slot).collect();
    let read = read(elements, (source, &evidence.lowered.constants), ends);
    words.judge(elements, &before, &own, &after, read, item_bytes(evidence.code, items)?).map(drop)
}

/// Checks that all pieces of a sequence agree on the state at entry and exit, if any piece has a state on the stack.
/// Returns the number of pieces checked.
fn fits(control: &Control, order: &Order, ends: &HashMap<Piece, &HeldEnds>) -> Result<usize, String> {
    let Some(&first) = control.arms.first().and_then(|arm| arm.params.first()) else { return Ok(0) };
    let mut pieces = vec![Piece::Way(Way::Into(first)), Piece::Way(Way::OutOf(first))];
    pieces.extend(control.arms.iter().map(of_part));
    if pieces.iter().all(|piece| !ends.contains_key(piece)) {
        return Ok(0);
    }
    let fail = || format!("the code of the sequence of v{} does not agree in how it holds the state", first.0);
    let found: Option<Vec<&HeldEnds>> = pieces.iter().map(|piece| ends.get(piece).copied()).collect();
    let found = found.ok_or_else(fail)?;
    let [into, out_of, parts @ ..] = &found[..] else { return Err(fail()) };
    let between = &out_of.entry;
    let params = |arm: &Arm| arm.params.iter().map(|&value| Operand::Value(value)).collect::<Vec<_>>();
    let with_next = [&between[..], &[HeldWord::Next]].concat();
    let goes_in = into.before.is_empty()
        && into.entry == [HeldWord::Next]
        && into.exit == with_next
        && into.after == control.initial;
    let goes_out = out_of.exit.is_empty() && out_of.before == params(&control.arms[0]);
    let passes = |(number, (arm, part)): (usize, (&Arm, &&HeldEnds))| {
        let next: &[HeldWord] = if order.then[number].is_none() { &[HeldWord::Next] } else { &[] };
        let mut state = between.clone();
        for _ in arm.takes() {
            state.rotate_right(1);
        }
        let is_state = part.before == params(arm) && part.after == arm.gives;
        is_state && part.entry == [next, &state].concat() && part.exit == [between, next].concat()
    };
    let pass = control.arms.iter().zip(parts).enumerate().all(passes);
    if goes_in && goes_out && pass && has_each(between, control.initial.len()) { Ok(pieces.len()) } else { Err(fail()) }
}

/// The code of a part.
fn of_part(arm: &Arm) -> Piece {
    let first = arm.body.statements.iter().find_map(|statement| match statement {
        Statement::Block(block) => block.ops.first().map(|&(first, _)| first),
        _ => None,
    });
    first.map_or_else(|| Piece::Way(Way::Through(arm.params[0])), Piece::Block)
}

/// True if each of `count` values of a state is among the words exactly once.
fn has_each(words: &[HeldWord], count: usize) -> bool {
    let is_once =
        |at| words.iter().filter(|word| matches!(word, HeldWord::Value(value, _) if *value == at)).count() == 1;
    (0..count).all(is_once)
}
