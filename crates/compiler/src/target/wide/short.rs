//! Numbers of two words on the stack that become values and that values are, where a value is four words.

use super::{HIGH, LOW, SLOT, Wide, word_of};
use crate::wide::emission::{Emission, Name};
use crate::wide::system::{POWER, Residue};
use num_bigint::BigUint;
use num_traits::One;
use residue_isa::assembly::Assembly;
use residue_isa::opcode::evm;

impl Wide {
    /// [high, low, return, slot] → [high, low]: T = (high·2²⁵⁶ + low)·(A² mod p), reduced, so that it stands for the number.
    pub(super) fn write_enter(&self, code: &mut Assembly) {
        code.label(self.enter.0);
        let system = &self.system;
        let mut e = Emission::new(system, code);
        e.stack = vec![HIGH, LOW, Name::Other, SLOT];
        let square = system.square();
        let total = |e: &mut Emission<'_>, residue| {
            let modulus = system.modulus(residue);
            let low = &square % &modulus;
            if residue == POWER {
                e.push(low);
                e.dup(LOW);
                e.op(evm::MUL, 2);
                return;
            }
            let high = (&square << 256u32) % &modulus;
            for (factor, name) in [(high, HIGH), (low, LOW)] {
                e.push(modulus.clone());
                e.push(factor);
                e.dup(name);
                e.op(evm::MULMOD, 3);
            }
            e.op(evm::ADD, 2);
            e.raise(residue);
        };
        e.reduced(1, total, |e, residue| {
            e.address(SLOT, residue);
            e.store_at();
        });
        e.pop(); //                                 [high, low, return]
        code.op(evm::JUMP);
    }

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
        // u₀ + b₀u₁ = u₁·2²⁴⁰ + (u₀ + E·u₁).
        let first = system.factor(Residue::B(0));
        let (below, above) = (240u32, 16u32);
        let excess = first - (BigUint::one() << below);
        e.dup(Name::Digit(1));
        e.push(excess);
        e.op(evm::MUL, 2);
        e.dup(Name::Digit(0));
        e.op(evm::ADD, 2);
        e.push(below);
        e.op(evm::SHR, 2);
        e.dup(Name::Digit(1));
        e.op(evm::ADD, 2);
        e.push(above);
        e.op(evm::SHR, 2);
        e.name(HIGH);
        e.dup(Name::Digit(1));
        e.push(first.clone());
        e.op(evm::MUL, 2);
        e.dup(Name::Digit(0));
        e.op(evm::ADD, 2);
        e.name(LOW);
        self.subtract(&mut e); //                   [slot, slot, return, q₀, q₁, u₀, r, u₁, low, high]
        // The results take the places of the parameters.
        e.swap(9);
        e.pop();
        e.swap(7);
        e.pop(); //                                 [high, low, return, q₀, q₁, u₀, r, u₁]
        for _ in 0..5 {
            e.pop();
        }
        code.op(evm::JUMP);
    }

    /// Takes p away from a number below 2p that is not below p. [high, low] → [low, high]
    fn subtract(&self, e: &mut Emission<'_>) {
        let [high, low] = [1, 0].map(|word| word_of(&self.system.p, word));
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
