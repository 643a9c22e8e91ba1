//! EVM384: the same three operations in every revision, on operands that each revision names in its own way.
//!
//! Source: evmone branches `evm384-v1` to `-v9`, go-ethereum branch `evm384-v10`, poemm/EVMcurves; the files of
//! `residue_isa::revision` have the places. Operands need not be below the modulus, which may be any number but in
//! `x-383`. [`words`] has the revisions with an operand a word, [`packed`] those with one word for all, [`immediate`]
//! those with operands after the opcode and [`values`] the one with values on the stack; [`arithmetic`] is common to
//! all of them.

mod arithmetic;
pub(crate) mod blocks;
mod immediate;
mod packed;
mod values;
mod words;

use residue_isa::revision::{evm384_v7::LOGF, evm384_v12::SETMOD};
use revm::interpreter::Instruction;
use revm::interpreter::interpreter::EthInterpreter;

use super::{FieldHost, Frame, Handled, charge_base, pop};
use arithmetic::{ADD, MUL, SUB};

/// The handlers of one revision by opcode: those of the three operations, and its other ones.
macro_rules! by_opcode {
    ($($revision:ident: $family:ident::$handler:ident $(, $opcode:ident => $other:expr)?;)*) => {
        $(
            /// The handler of an opcode of this revision.
            pub(crate) fn $revision<H: FieldHost>(opcode: u8) -> Option<Instruction<EthInterpreter, H>> {
                match opcode {
                    ADD => Some(Instruction::new($family::$handler::<ADD, H>)),
                    SUB => Some(Instruction::new($family::$handler::<SUB, H>)),
                    MUL => Some(Instruction::new($family::$handler::<MUL, H>)),
                    $($opcode => Some(Instruction::new($other)),)?
                    _ => None,
                }
            }
        )*
    };
}

by_opcode! {
    v0: values::v0;
    v1: words::v1;
    v2: words::v2;
    v3: words::v3;
    v4: words::v4;
    v5: words::v5;
    v6: packed::v6;
    v7: packed::v7, LOGF => logf;
    v8: packed::v8;
    v9: immediate::v9;
    x_383: immediate::x_383;
    v10: packed::v10;
    v12: immediate::v12, SETMOD => immediate::setmod;
}

/// `LOGF`: offset, element size and number of elements, without effect.
fn logf<H: FieldHost>(mut frame: Frame<'_, H>) -> Handled {
    let [_offset, _element_size, _count] = pop(&mut frame)?;
    charge_base::<LOGF, H>(&mut frame)
}
