//! Operands of a form, kind by kind, from a source that knows which slots there are: for random programs, searches and edge cases.

use alloc::vec::Vec;

use super::{Form, Operand, Shape};
use crate::field_instruction::Lanes;

/// A source of operands.
pub trait Draw {
    /// Number of lanes or values of the next instruction.
    fn count(&mut self) -> u8;

    /// Slots of `count` lanes that are written, or read.
    fn lanes(&mut self, is_written: bool, count: u8) -> Lanes;

    /// A slot.
    fn slot(&mut self) -> u8;

    /// The second coefficient of an element of Fp2 whose first is in these lanes: most often its neighbour.
    fn second(&mut self, first: Lanes, count: u8) -> u8;

    /// Signs of products, or a number that is no slot.
    fn byte(&mut self) -> u8;
}

impl Form {
    /// Its operands, as the immediate has them.
    pub fn draw(self, source: &mut impl Draw) -> Vec<u8> {
        let operands = self.row().operands;
        let count = if operands.contains(&Operand::Count) { source.count() } else { 1 };
        let mut bytes = Vec::new();
        for operand in operands {
            match *operand {
                Operand::Writes(shape) | Operand::Reads(shape) => {
                    let is_written = matches!(operand, Operand::Writes(_));
                    match shape {
                        Shape::InLanes => {
                            let Lanes { index, stride } = source.lanes(is_written, count);
                            bytes.extend([index, stride]);
                        }
                        Shape::Pairs => {
                            let first = source.lanes(is_written, count);
                            bytes.extend([first.index, source.second(first, count), first.stride]);
                        }
                        Shape::Slots(_) | Shape::Products(_) | Shape::Run => {
                            bytes.extend((0..operand.bytes()).map(|_| source.slot()));
                        }
                    }
                }
                Operand::Signs | Operand::Bytes(_) => bytes.extend((0..operand.bytes()).map(|_| source.byte())),
                Operand::Count => bytes.push(count),
            }
        }
        bytes
    }
}
