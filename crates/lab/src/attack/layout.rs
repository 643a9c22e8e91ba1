//! The codes of a candidate: a contract of which the world has copies, and the one that calls them in turn.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};
use residue_isa::opcode::evm as op;
use residue_isa::{Assembly, LabelId};

use super::gene::{CallKind, Field, Gene, Operation};
use super::genome::{Filler, Genome, Place};
use super::room::Room;
use crate::error::LabError;

/// The address of the first copy; each next one has the next address.
pub(super) const CONTRACTS_AT: u32 = 0x10_0000;
/// A head has two words above the count of the inner loop: where to go on, and where to jump.
const WORDS_OF_HEADS: u8 = 2;

/// A contract. Copies differ in two bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Contract {
    code: Vec<u8>,
    number_at: usize,
}

impl Contract {
    /// The code of the copy of this number.
    pub fn code(&self, number: u16) -> Vec<u8> {
        let mut code = self.code.clone();
        code[self.number_at..][..2].copy_from_slice(&number.to_be_bytes());
        code
    }
}

/// The contract, with as much of the candidate as fits into the code.
pub(super) fn contract(genome: &Genome, room: &Room<'_>, code_bytes_max: usize) -> Result<Contract, LabError> {
    let number_at = if genome.is_idle { 2 } else { 1 };
    let mut fitting = genome.clone();
    fitting.turns = match genome.genes().any(|gene| *gene == Gene::ModulusOfTurn) {
        true => genome.turns.min(room.turns_max()),
        false => genome.turns,
    };
    let mut code = bytes(&fitting, room)?;
    while code.len() > code_bytes_max && shrink(&mut fitting, code.len(), code_bytes_max) {
        code = bytes(&fitting, room)?;
    }
    fill(&mut code, genome.filler, room, code_bytes_max)?;
    Ok(Contract { code, number_at })
}

/// Takes copies away where there are most, then heads, then genes; whether anything was left to take.
fn shrink(genome: &mut Genome, bytes: usize, bytes_max: usize) -> bool {
    let longest = genome.sections.iter_mut().max_by_key(|section| section.copies);
    if let Some(section) = longest.filter(|section| section.copies > 1) {
        // Rounds down, so that it ends.
        section.copies = (section.copies * bytes_max / bytes).clamp(1, section.copies - 1);
        return true;
    }
    if genome.heads.count > 1 {
        genome.heads.count /= 2;
        return true;
    }
    genome.sections.iter_mut().any(|section| section.genes.pop().is_some())
}

fn bytes(genome: &Genome, room: &Room<'_>) -> Result<Vec<u8>, LabError> {
    let mut code = Assembly::new();
    if genome.is_idle {
        code.op(op::STOP);
    }
    code.data(vec![op::PUSH1 + 1, 0, 0]).op(op::POP);
    if !genome.is_idle {
        room.image_in_code(&mut code, genome);
        room.begin(&mut code, genome);
        body(&mut code, genome, room)?;
    }
    crate::opcodes::assembled(&code, room.ground.revision)
}

/// The loop of a contract: turns, and what is after them.
fn body(code: &mut Assembly, genome: &Genome, room: &Room<'_>) -> Result<(), LabError> {
    let turn_at = (genome.turns > 1).then_some(0);
    let top = code.new_label();
    code.label(top);
    let turn = code.new_label();
    if turn_at.is_some() {
        code.push(genome.turns).label(turn);
    }
    sections(code, genome, room, Place::Turn, turn_at)?;
    let ways = Ways::new(code, genome);
    if genome.heads.count > 0 {
        ways.enter(code, genome, room);
    } else {
        sections(code, genome, room, Place::Tail, turn_at)?;
    }
    if turn_at.is_some() {
        code.push(1_u8).op(op::SWAP1).op(op::SUB).op(op::DUP1).push_label(turn).op(op::JUMPI).op(op::POP);
    }
    sections(code, genome, room, Place::After, None)?;
    code.push_label(top).op(op::JUMP);
    if genome.heads.count > 0 {
        ways.write(code, genome, room, turn_at.map(|at| at + WORDS_OF_HEADS))?;
    }
    Ok(())
}

fn sections(
    code: &mut Assembly,
    genome: &Genome,
    room: &Room<'_>,
    place: Place,
    turn_at: Option<u8>,
) -> Result<(), LabError> {
    for section in genome.sections.iter().filter(|section| section.place == place) {
        for copy in 0..section.copies {
            for &gene in &section.genes {
                // Where a turn has no number, the copy has one.
                let copied = match gene {
                    Gene::ModulusOfTurn if turn_at.is_none() => Gene::Modulus(copy as u8), // Any number will do.
                    gene => gene,
                };
                room.emit(code, copied, turn_at)?;
            }
            if section.has_targets {
                code.op(op::JUMPDEST);
            }
        }
    }
    Ok(())
}

/// Heads, and where they lead.
struct Ways {
    heads: Vec<LabelId>,
    out: LabelId,
    tail: LabelId,
}

impl Ways {
    fn new(code: &mut Assembly, genome: &Genome) -> Self {
        let heads = (0..genome.heads.count).map(|_| code.new_label()).collect();
        Self { heads, out: code.new_label(), tail: code.new_label() }
    }

    /// Enters each head: first with the way out, then with the tail; or as calldata says.
    fn enter(&self, code: &mut Assembly, genome: &Genome, room: &Room<'_>) {
        for (&head, number) in self.heads.iter().zip(0..) {
            let short = genome.heads.short_entries;
            for entry in 0..=short {
                let back = code.new_label();
                code.push_label(back);
                if genome.heads.asks_calldata {
                    // out + word·(tail − out)
                    code.push_label(self.out).push_label(self.out).push_label(self.tail).op(op::SUB);
                    room.push_word(code, number);
                    code.op(op::MUL).op(op::ADD);
                } else {
                    code.push_label(if entry == short { self.tail } else { self.out });
                }
                code.push_label(head).op(op::JUMP).label(back);
            }
        }
    }

    /// The heads, the way out and the tail.
    fn write(
        &self,
        code: &mut Assembly,
        genome: &Genome,
        room: &Room<'_>,
        turn_at: Option<u8>,
    ) -> Result<(), LabError> {
        for &head in &self.heads {
            code.label(head);
            for &gene in &genome.heads.genes {
                room.emit(code, gene, turn_at)?;
            }
            code.op(op::DUP1).op(op::JUMP);
        }
        code.label(self.out).op(op::POP).op(op::JUMP);
        code.label(self.tail);
        sections(code, genome, room, Place::Tail, turn_at)?;
        code.op(op::POP).op(op::JUMP);
        Ok(())
    }
}

/// Fills the code after its last instruction, which is never passed.
fn fill(code: &mut Vec<u8>, filler: Filler, room: &Room<'_>, code_bytes: usize) -> Result<(), LabError> {
    let room_left = code_bytes.saturating_sub(code.len());
    let mut filling = match filler {
        Filler::Nothing => return Ok(()),
        Filler::Targets => vec![op::JUMPDEST; room_left],
        Filler::Blocks => {
            let mut block = Assembly::new();
            room.emit(&mut block, Gene::Field(Field::one(Operation::Mul, [1, 1, 8])), None)?;
            block.op(op::JUMPDEST);
            let block = crate::opcodes::assembled(&block, room.ground.revision)?;
            block.repeat(room_left.div_ceil(block.len()))
        }
        Filler::Noise => {
            let mut noise = vec![0; room_left];
            ChaCha8Rng::seed_from_u64(1).fill_bytes(&mut noise);
            noise
        }
    };
    filling.truncate(room_left);
    code.extend(filling);
    Ok(())
}

/// Calls so many copies in turn, again and again.
pub(super) fn driver(genome: &Genome, room: &Room<'_>, contracts: u16) -> Result<Vec<u8>, LabError> {
    let mut code = Assembly::new();
    if !genome.is_idle {
        code.push(room.input_bytes()).push(0_u8).push(0_u8).op(op::CALLDATACOPY);
    }
    let (top, next) = (code.new_label(), code.new_label());
    code.label(top).push(contracts).label(next);
    // The count is under what the call has pushed before its address: four words, and a value.
    let words = if genome.call.kind == CallKind::Call { 5 } else { 4 };
    room.call(&mut code, genome.call, |code| {
        _ = code.op(op::DUP1 + words).push(CONTRACTS_AT - 1).op(op::ADD);
    });
    code.push(1_u8).op(op::SWAP1).op(op::SUB).op(op::DUP1).push_label(next).op(op::JUMPI).op(op::POP);
    code.push_label(top).op(op::JUMP);
    crate::opcodes::assembled(&code, room.ground.revision)
}
