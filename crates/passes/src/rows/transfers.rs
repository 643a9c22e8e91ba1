//! Elements with the same index in neighbouring arrays: they are like one longer element.

use residue_ir::program::{ArrayDecl, ArrayId, Operand, Program, Value, Word};
use residue_ir::{Capacity, Effect};

/// Direction of a transfer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// From memory to slots.
    Load,
    /// From slots to memory.
    Store,
}

/// Elements that are loaded, or stored, as one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transfer {
    /// Direction.
    pub direction: Direction,
    /// Their index.
    pub index: Word,
    /// The array of each with its values; at least one.
    pub elements: Vec<(ArrayId, Vec<Operand>)>,
}

impl Transfer {
    /// The element that an effect loads or stores, if it does.
    pub fn of(effect: &Effect) -> Option<Self> {
        let (direction, array, index, values) = match effect {
            Effect::Load { array, index, results } => {
                (Direction::Load, array, index, results.iter().copied().map(Operand::Value).collect())
            }
            Effect::Store { array, index, values } => (Direction::Store, array, index, values.clone()),
            _ => return None,
        };
        Some(Self { direction, index: *index, elements: vec![(*array, values)] })
    }

    /// The values of all elements, as they stand in memory.
    pub fn operands(&self) -> impl Iterator<Item = Operand> {
        self.elements.iter().flat_map(|(_, values)| values.iter().copied())
    }

    /// True if `next`, a single element, continues this row, and the whole has at most `values_max` values.
    pub fn is_continued_by(&self, next: &Self, program: &Program, values_max: usize) -> bool {
        let [.., (last, _)] = &self.elements[..] else { return false };
        (self.direction, self.index) == (next.direction, next.index)
            && next.elements.iter().all(|(array, _)| are_neighbours(program, *last, *array))
            && self.operands().chain(next.operands()).count() <= values_max
    }

    /// Lists of values that would best stand in consecutive slots: those of all elements, then, in case that there is no place for
    /// them, of all but the first, and so on to the last two. Constants have places of their own and end a list.
    pub fn together(&self) -> impl Iterator<Item = Vec<Value>> {
        (0..self.elements.len()).filter_map(|start| {
            let elements = self.elements[start..].iter().map_while(|(_, values)| all_values(values));
            let elements: Vec<Vec<Value>> = elements.collect();
            (elements.len() > 1).then(|| elements.concat())
        })
    }
}

/// The values that `operands` are, if none is a constant.
pub fn all_values(operands: &[Operand]) -> Option<Vec<Value>> {
    operands.iter().map(|operand| operand.value()).collect()
}

/// True if each element of `next` directly follows the element of `array` with the same index. Memory holds arrays in
/// the order of their declaration: those of fixed size, and a record with an element of each unbounded array for each
/// index.
fn are_neighbours(program: &Program, array: ArrayId, next: ArrayId) -> bool {
    let is_unbounded = |array: &ArrayDecl| array.capacity == Capacity::Unbounded;
    let (before, after) = (&program.arrays[array.0], &program.arrays[next.0]);
    let are_alike = match (before.capacity, after.capacity) {
        (Capacity::Unbounded, Capacity::Unbounded) => true,
        // Where there are several elements, the next one of the same array stands there.
        (Capacity::Fixed(1), Capacity::Fixed(1)) => before.element_values == after.element_values,
        _ => false,
    };
    let mut between = program.arrays.iter().take(next.0).skip(array.0 + 1);
    are_alike && array.0 < next.0 && between.all(|other| is_unbounded(other) != is_unbounded(after))
}
