//! Hashes: the input is written to memory and hashed by the precompile of SHA-256, or by KECCAK256.
//!
//! Input of known length is in the area of the output, other input after all memory that the program uses: it is not
//! read later.

use super::{Entry, Lowering};
use crate::error::CompileError;
use crate::target::push;
use residue_ir::Piece;
use residue_ir::program::{Function, Word, WordDef};
use residue_isa::opcode::evm;
use residue_isa::precompile::SHA256;

/// Bytes of a hash.
const HASH_BYTES: u32 = 32;
/// Maximum length of hash input in the output area; longer input goes elsewhere.
const IN_OUTPUT_BYTES_MAX: u32 = 4096;

/// The words that writing pieces reads a second time: the lengths of those of calldata.
pub(super) fn words_read_again(pieces: &[Piece<Word>]) -> Vec<Word> {
    let sizes = pieces.iter().filter_map(|piece| match *piece {
        Piece::Word { .. } => None,
        Piece::Calldata { size_bytes, .. } => Some(size_bytes),
    });
    sizes.collect()
}

/// The length of a piece, if it is known.
fn known_bytes(function: &Function, piece: &Piece<Word>) -> Option<u32> {
    match &function.words[piece.size_bytes().0 as usize] {
        WordDef::Constant(size_bytes) => u32::try_from(*size_bytes).ok(),
        _ => None,
    }
}

/// The length of all pieces, if it is known and not too long to stand where output goes.
fn all_bytes(function: &Function, pieces: &[Piece<Word>]) -> Option<u32> {
    let sum = pieces.iter().try_fold(0, |sum: u32, piece| sum.checked_add(known_bytes(function, piece)?));
    sum.filter(|&bytes| bytes <= IN_OUTPUT_BYTES_MAX)
}

/// Room of a hash in the area of the output: its input, with all bytes of the last word written, and the hash.
pub(super) fn output_bytes(function: &Function, pieces: &[Piece<Word>]) -> u64 {
    let hashed = all_bytes(function, pieces).map_or(0, |bytes| bytes.next_multiple_of(32) + 32);
    hashed.max(HASH_BYTES).into()
}

impl Lowering<'_> {
    /// [] → [the hash]; the result is not in the model of the stack.
    pub(super) fn sha256(&mut self, pieces: &[Piece<Word>]) -> Result<(), CompileError> {
        let output = self.layout.output;
        match all_bytes(self.function, pieces) {
            Some(size_bytes) => {
                self.write_to_output(pieces)?;
                for word in [HASH_BYTES, output, size_bytes, output] {
                    push(self.code, word);
                }
                self.call_sha256();
            }
            None => {
                self.write_after_all(pieces)?;
                push(self.code, HASH_BYTES); //                                [start, end, hash bytes]
                push(self.code, output); //                                    [start, end, hash bytes, output]
                self.code.op(evm::DUP4);
                self.code.op(evm::DUP4);
                self.code.op(evm::SUB); //                                     […, end − start]
                self.code.op(evm::DUP5); //                                    […, end − start, start]
                self.call_sha256();
                self.code.op(evm::POP);
                self.code.op(evm::POP);
                self.stack.truncate(self.stack.len() - 2);
            }
        }
        push(self.code, output);
        self.code.op(evm::MLOAD);
        Ok(())
    }

    /// [] → [the hash]; the result is not in the model of the stack.
    pub(super) fn keccak256(&mut self, pieces: &[Piece<Word>]) -> Result<(), CompileError> {
        match all_bytes(self.function, pieces) {
            Some(size_bytes) => {
                self.write_to_output(pieces)?;
                push(self.code, size_bytes);
                push(self.code, self.layout.output);
            }
            None => {
                self.write_after_all(pieces)?;
                self.code.op(evm::DUP2);
                self.code.op(evm::SWAP1);
                self.code.op(evm::SUB); //                                     [start, end − start]
                self.code.op(evm::SWAP1);
                self.stack.truncate(self.stack.len() - 2);
            }
        }
        self.code.op(evm::KECCAK256);
        Ok(())
    }

    /// Pieces of known lengths. [] → []
    fn write_to_output(&mut self, pieces: &[Piece<Word>]) -> Result<(), CompileError> {
        let mut at = self.layout.output;
        for piece in pieces {
            self.write(piece, |lowering, _| push(lowering.code, at))?;
            at += known_bytes(self.function, piece).expect("the sum of all is known");
        }
        Ok(())
    }

    /// [] → [start, end]
    fn write_after_all(&mut self, pieces: &[Piece<Word>]) -> Result<(), CompileError> {
        self.end_of_memory();
        self.code.op(evm::DUP1);
        self.stack.extend([Entry::Other; 2]);
        for piece in pieces {
            self.write(piece, |lowering, words| {
                lowering.code.op(evm::DUP1 + words);
            })?;
            self.word(*piece.size_bytes())?;
            self.code.op(evm::ADD);
            self.stack.pop();
        }
        Ok(())
    }

    /// Writes a piece to the address that `address` pushes, given the number of words above the top of the stack. [] → []
    fn write(&mut self, piece: &Piece<Word>, address: impl FnOnce(&mut Self, u8)) -> Result<(), CompileError> {
        match *piece {
            Piece::Word { word, .. } => {
                self.word(word)?;
                address(self, 1);
                self.code.op(evm::MSTORE);
                self.stack.pop();
            }
            Piece::Calldata { offset, size_bytes } => {
                self.word(size_bytes)?;
                self.word(offset)?;
                address(self, 2);
                self.code.op(evm::CALLDATACOPY);
                self.stack.truncate(self.stack.len() - 2);
            }
        }
        Ok(())
    }

    /// The call fails if gas runs out, and then so does the program. [output bytes, output, input bytes, input] → []
    fn call_sha256(&mut self) {
        self.static_call(SHA256.into());
        self.code.op(evm::ISZERO);
        self.code.push_label(self.fail);
        self.code.op(evm::JUMPI);
    }
}
