//! Prices by which code for blocks of words is chosen: gas of the EVM's opcodes as the schedule has it, and bytes of code.

use super::emit::{Instruction, Operation, number};
use super::terms::Terms;
use num_bigint::BigUint;
use residue_isa::opcode::evm;
use residue_isa::{GasSchedule, Price};

/// Gas of the opcodes that code for today's EVM consists of.
///
/// The Yellow Paper's fee schedule (appendix G), the same in every fork, where the gas schedule's `[evm]` section does not reprice the opcode. Of PUSH,
/// DUP and SWAP the first opcode stands for all. Fractions are rounded up, as execution meters whole gas.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct EvmGas {
    /// PUSH1.
    pub push: u64,
    /// DUP1.
    pub dup: u64,
    /// SWAP1.
    pub swap: u64,
    /// POP.
    pub pop: u64,
    /// MLOAD.
    pub load: u64,
    /// MSTORE.
    pub store: u64,
    /// ADD.
    pub add: u64,
    /// SUB.
    pub sub: u64,
    /// MUL.
    pub mul: u64,
    /// MOD.
    pub modulo: u64,
    /// ADDMOD.
    pub add_mod: u64,
    /// MULMOD.
    pub mul_mod: u64,
    /// JUMP.
    pub jump: u64,
    /// JUMPDEST.
    pub target: u64,
}

impl EvmGas {
    /// The Yellow Paper's.
    const YELLOW_PAPER: Self = Self {
        push: 3,
        dup: 3,
        swap: 3,
        pop: 2,
        load: 3,
        store: 3,
        add: 3,
        sub: 3,
        mul: 5,
        modulo: 5,
        add_mod: 8,
        mul_mod: 8,
        jump: 8,
        target: 1,
    };

    /// Prices under a schedule.
    pub fn of(schedule: &GasSchedule) -> Self {
        let mut gas = Self::default();
        for (opcode, price) in schedule.evm_overrides() {
            if let Some(repriced) = gas.at(opcode) {
                *repriced = Price::whole(price);
            }
        }
        gas
    }

    /// The price that stands for an opcode.
    fn at(&mut self, opcode: u8) -> Option<&mut u64> {
        Some(match opcode {
            evm::PUSH1 => &mut self.push,
            evm::DUP1 => &mut self.dup,
            evm::SWAP1 => &mut self.swap,
            evm::POP => &mut self.pop,
            evm::MLOAD => &mut self.load,
            evm::MSTORE => &mut self.store,
            evm::ADD => &mut self.add,
            evm::SUB => &mut self.sub,
            evm::MUL => &mut self.mul,
            evm::MOD => &mut self.modulo,
            evm::ADDMOD => &mut self.add_mod,
            evm::MULMOD => &mut self.mul_mod,
            evm::JUMP => &mut self.jump,
            evm::JUMPDEST => &mut self.target,
            _ => return None,
        })
    }

    /// The price of an opcode, 0 for those that are none of these.
    pub fn price(&self, opcode: u8) -> u64 {
        let stands_for_it = match opcode {
            evm::PUSH0..=evm::PUSH32 => evm::PUSH1,
            evm::DUP1..=evm::DUP16 => evm::DUP1,
            evm::SWAP1..=evm::SWAP16 => evm::SWAP1,
            other => other,
        };
        let mut prices = *self;
        prices.at(stands_for_it).map_or(0, |price| *price)
    }

    /// That of an operation.
    pub const fn operation(&self, operation: Operation) -> u64 {
        match operation {
            Operation::Add => self.add,
            Operation::Sub => self.sub,
            Operation::Mul => self.mul,
            Operation::Mod => self.modulo,
            Operation::AddMod => self.add_mod,
            Operation::MulMod => self.mul_mod,
        }
    }
}

impl Default for EvmGas {
    /// Prices where no schedule reprices an opcode.
    fn default() -> Self {
        Self::YELLOW_PAPER
    }
}

/// Prices of a block's instructions.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Prices {
    /// Gas of opcodes.
    pub gas: EvmGas,
    /// Bytes of code that are worth as much as one gas. If they are few, long numbers are pushed once and copied.
    pub bytes_a_gas: u64,
    /// True if memory holds p.
    pub loads_modulus: bool,
    /// Numbers that memory holds.
    pub in_memory: Vec<BigUint>,
}

impl Default for Prices {
    /// Gas alone counts, and memory holds no numbers.
    fn default() -> Self {
        Self { gas: EvmGas::default(), bytes_a_gas: Self::GAS_ALONE, loads_modulus: false, in_memory: Vec::new() }
    }
}

/// Bytes of a push of an address.
const ADDRESS_BYTES: u64 = 3;

impl Prices {
    /// More bytes than a block has: of two ways that cost the same gas the shorter one is better.
    pub const GAS_ALONE: u64 = 1000;

    /// True if gas is traded for shorter code.
    pub const fn is_short(&self) -> bool {
        self.bytes_a_gas < Self::GAS_ALONE
    }

    /// Objective to minimise: gas and bytes as one number.
    pub const fn weight(&self, (gas, bytes): (u64, u64)) -> u64 {
        self.bytes_a_gas * gas + bytes
    }

    /// Weight of one way beyond that of a copy by DUP; 0 where it is below that.
    pub const fn beyond_copy(&self, way: (u64, u64)) -> u64 {
        self.weight(way).saturating_sub(self.weight(self.copy()))
    }

    /// Gas and bytes of a DUP.
    pub const fn copy(&self) -> (u64, u64) {
        (self.gas.dup, 1)
    }

    /// Gas and bytes of a SWAP.
    pub const fn exchange(&self) -> (u64, u64) {
        (self.gas.swap, 1)
    }

    /// Gas and bytes of a POP.
    pub const fn drop(&self) -> (u64, u64) {
        (self.gas.pop, 1)
    }

    /// Gas and bytes of a load from a known address.
    pub const fn load(&self) -> (u64, u64) {
        (self.gas.push + self.gas.load, ADDRESS_BYTES + 1)
    }

    /// Gas and bytes of a store to a known address.
    pub const fn store(&self) -> (u64, u64) {
        (self.gas.push + self.gas.store, ADDRESS_BYTES + 1)
    }

    /// Gas and bytes of p.
    pub const fn modulus(&self) -> (u64, u64) {
        if self.loads_modulus { self.load() } else { (self.gas.push, 33) }
    }

    /// Gas and bytes of a number.
    pub fn number(&self, number: &BigUint) -> (u64, u64) {
        if self.in_memory.contains(number) { self.load() } else { (self.gas.push, 1 + number.bits().div_ceil(8)) }
    }

    /// Gas and bytes of an operation.
    pub const fn operation(&self, operation: Operation) -> (u64, u64) {
        (self.gas.operation(operation), 1)
    }

    /// Gas and bytes of an instruction on these terms.
    pub fn instruction(&self, terms: &Terms, instruction: &Instruction) -> (u64, u64) {
        match *instruction {
            Instruction::Push(id) => self.number(number(terms, id)),
            Instruction::PushModulus => self.modulus(),
            Instruction::Dup(_) => self.copy(),
            Instruction::Swap(_) => self.exchange(),
            Instruction::Pop => self.drop(),
            Instruction::Load(_) => self.load(),
            Instruction::Store(_) => self.store(),
            Instruction::Operation(operation) => self.operation(operation),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compile;
    use num_bigint::BigUint;
    use residue_ir::{Machine, record};
    use residue_isa::Revision;

    /// Gas of straight code: what is priced of it.
    fn gas(code: &[u8], mut of: EvmGas) -> u64 {
        let (mut at, mut gas) = (0, 0);
        while let Some(&opcode) = code.get(at) {
            let stands_for = match opcode {
                evm::PUSH0..=evm::PUSH32 => evm::PUSH1,
                evm::DUP1..=evm::DUP16 => evm::DUP1,
                evm::SWAP1..=evm::SWAP16 => evm::SWAP1,
                other => other,
            };
            gas += of.at(stands_for).map_or(0, |price| *price);
            at += 1 + usize::from(opcode.checked_sub(evm::PUSH0).filter(|&bytes| bytes <= 32).unwrap_or(0));
        }
        gas
    }

    #[test]
    fn a_repriced_schedule_changes_the_code() {
        let p = (BigUint::from(1u8) << 255u32) - 19u8;
        let program = record("sums", &p, |machine| {
            let x: Vec<_> = (0..12).map(|at| machine.parse(machine.small(32 * at), 32)).collect();
            let products: Vec<_> = (0..12).map(|at| x[at] * x[(5 * at + 1) % 12]).collect();
            let sums: Vec<_> =
                (0..12).map(|at| products[at] * x[(7 * at + 3) % 12] - products[(at + 4) % 12]).collect();
            machine.return_elements([sums.into_iter().reduce(|all, sum| all * sum).unwrap()], 32);
        });
        let stock = GasSchedule::default_for(Revision::Evm).unwrap();
        let dear = [evm::DUP1, evm::SWAP1].map(|opcode| (opcode, Price::from_gas(30)));
        let dear = stock.clone().with_evm(dear);
        let code = [&stock, &dear].map(|schedule| {
            let compiled = compile(&program, Revision::Evm, schedule).unwrap();
            compiled.code[..compiled.instruction_bytes].to_vec()
        });
        let by_dear = code.each_ref().map(|code| gas(code, EvmGas::of(&dear)));
        assert!(by_dear[1] < by_dear[0], "{by_dear:?}");
    }
}
