//! The canonical value of a slot as two words.

use super::{HIGH, LOW, SLOT, Wide, halves};
use crate::wide::emission::{Emission, Name};
use crate::wide::system::Residue;
use residue_isa::assembly::Assembly;
use residue_isa::opcode::evm;

impl Wide {
    /// [slot, slot, return] → [high, low]: T is the integer X itself, so r = X/A mod p, and below 2p.
    pub(super) fn write_leave(&self, code: &mut Assembly) {
        code.label(self.leave.0);
        let system = &self.system;
        let mut e = Emission::new(system, code);
        e.stack = vec![SLOT, Name::Other, Name::Other];
        e.reduce(1, |e, residue| {
            e.address(SLOT, residue);
            e.op(evm::MLOAD, 1);
            e.raise(residue);
        });
        // u₁ + b₁u₂ = u₂·2²⁴⁰ + (u₁ + E·u₂).
        let (excess, below, above) = system.high();
        e.dup(Name::Digit);
        e.push(excess);
        e.op(evm::MUL, 2);
        e.dup(Name::Lower);
        e.op(evm::ADD, 2);
        e.push(below);
        e.op(evm::SHR, 2);
        e.dup(Name::Digit);
        e.op(evm::ADD, 2);
        e.push(above);
        e.op(evm::SHR, 2);
        e.name(HIGH);
        e.dup(Name::Digit);
        e.push(system.modulus(Residue::B1).clone());
        e.op(evm::MUL, 2);
        e.dup(Name::Lower);
        e.op(evm::ADD, 2);
        e.name(LOW);
        self.subtract(&mut e); //                   [slot, slot, return, q₂, q₁, u₁, r, u₂, low, high]
        // The results take the places of the parameters.
        e.swap(9);
        e.pop();
        e.swap(7);
        e.pop(); //                                 [high, low, return, q₂, q₁, u₁, r, u₂]
        for _ in 0..5 {
            e.pop();
        }
        code.op(evm::JUMP);
    }

    /// Takes p away from a number below 2p that is not below p. [high, low] → [low, high]
    fn subtract(&self, e: &mut Emission<'_>) {
        let (high, low) = halves(&self.system.p);
        let borrowed = Name::Parameter(3);
        // 1 if it is not below p.
        e.push(high.clone());
        e.dup(HIGH);
        e.op(evm::GT, 2);
        e.push(high.clone());
        e.dup(HIGH);
        e.op(evm::EQ, 2);
        e.push(low.clone());
        e.dup(LOW);
        e.op(evm::LT, 2);
        e.op(evm::ISZERO, 1);
        e.op(evm::AND, 2);
        e.op(evm::OR, 2);
        e.name(Name::Parameter(4)); //              [high, low, is]
        e.dup(Name::Parameter(4));
        e.push(low);
        e.op(evm::MUL, 2);
        e.name(borrowed); //                        [high, low, is, low of p or 0]
        e.dup(borrowed);
        e.dup(LOW);
        e.op(evm::LT, 2); //                        [high, low, is, low of p or 0, borrow]
        e.dup(Name::Parameter(4));
        e.push(high);
        e.op(evm::MUL, 2);
        e.op(evm::ADD, 2);
        e.dup(HIGH);
        e.op(evm::SUB, 2); //                       [high, low, is, low of p or 0, new high]
        e.swap(4);
        e.pop(); //                                 [new high, low, is, low of p or 0]
        e.dup(LOW);
        e.op(evm::SUB, 2); //                       [new high, low, is, new low]
        e.swap(2);
        e.pop();
        e.pop(); //                                 [new high, new low]
        e.swap(1);
    }
}
