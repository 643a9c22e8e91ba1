//! Operations of stack code, found in what the reader of its bytes says of each instruction.

use crate::words::read::{Element, Elements, Made};
use foldhash::{HashMap, HashMapExt};
use num_bigint::BigUint;
use residue_ir::program::{Block, Op, Operand, Value};

/// The operations whose results, or their negatives, are these elements, with those that are part of them; elements that are no
/// operation's are left out.
pub(super) fn operations(
    made: Made,
    elements: &mut Elements,
    (source, constants): (&[Element], &[BigUint]),
    block: &Block,
) -> Vec<(usize, Vec<Value>)> {
    let mut known: HashMap<Value, Element> = HashMap::new();
    let mut operations: HashMap<Element, Value> = HashMap::new();
    for &(value, Op { kind, x, y }) in &block.ops {
        // Passes give values of their own numbers after the program's.
        let mut read = |operand| match operand {
            Operand::Value(value) => known.get(&value).or_else(|| source.get(value.0 as usize)).copied(), // u32 to usize widens
            Operand::Constant(id) => Some(elements.constant(&constants[id.0 as usize])),
        };
        if let (Some(x), Some(y)) = (read(x), read(y)) {
            let element = elements.operation(kind, x, y);
            known.insert(value, element);
            operations.entry(elements.without_sign(element).0).or_insert(value);
        }
    }
    let mut found: Vec<(usize, Vec<Value>)> = Vec::new();
    let mut place: HashMap<Value, usize> = HashMap::new();
    for (end, element) in made {
        let Some(&value) = operations.get(&elements.without_sign(element).0) else { continue };
        match found.last_mut() {
            Some((last, values)) if *values == [value] => *last = end,
            _ => {
                place.entry(value).or_insert(found.len());
                found.push((end, vec![value]));
            }
        }
    }
    // Backwards, the first reader comes last.
    let mut read_at: HashMap<Value, usize> = HashMap::new();
    for &(value, op) in block.ops.iter().rev() {
        let Some(&reader) = place.get(&value).or_else(|| read_at.get(&value)) else { continue };
        read_at.extend([op.x, op.y].into_iter().filter_map(Operand::value).map(|operand| (operand, reader)));
    }
    for &(value, _) in &block.ops {
        if let (None, Some(&reader)) = (place.get(&value), read_at.get(&value)) {
            found[reader].1.push(value);
        }
    }
    found
}
