//! Number of instructions that an entry executes.

use residue_engine::revm::Inspector;
use residue_engine::revm::interpreter::Interpreter;

use crate::execution::{Execution, Setting};

/// True if the transaction executes more instructions than `max` on stock revm. Gas alone does not tell: a program that
/// ends at a byte without meaning uses all that it was given.
pub fn more_than(max: u64, setting: &Setting<'_>, stock: &Execution) -> bool {
    // All instructions take gas but those that end a frame, and a frame that is called takes more than one gas.
    stock.gas_used() > max && setting.stock_observed(Steps(0)).1.0 > max
}

struct Steps(u64);

impl<CTX> Inspector<CTX> for Steps {
    fn step(&mut self, _: &mut Interpreter, _: &mut CTX) {
        self.0 += 1;
    }
}
