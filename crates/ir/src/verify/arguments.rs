//! Arguments of effects, beyond their existence: sizes, places, and moduli that are known.

use super::{Checked, Scope, units};
use crate::effect::Effect;
use crate::hash::Piece;
use crate::keccak_f;
use crate::limits::{ELEMENT_BYTES_MAX, SCRATCH_ELEMENT_BYTES_MAX, SCRATCH_END_MAX, WORDS_RETURNED_MAX};
use crate::machine::{Capacity, Cells};
use crate::program::{ArrayId, SubprogramId, TableId, Word, WordDef};
use ruint::aliases::U256;

impl Scope<'_> {
    /// Checks the arguments of an effect.
    pub(super) fn arguments(&mut self, effect: &Effect) -> Checked {
        match effect {
            Effect::Load { array, index, results } => {
                self.element(*array, results.len())?;
                self.within(*array, *index)
            }
            Effect::Store { array, index, values } => {
                self.element(*array, values.len())?;
                self.within(*array, *index)
            }
            Effect::Fill { array, count, values } => {
                self.element(*array, values.len())?;
                self.filled(*array, *count)
            }
            Effect::SetIndices { cells, .. } => well_formed(*cells),
            Effect::Index { first_bit, cells, .. } => cell(*first_bit, *cells),
            Effect::Lookup { table, index, results } => self.looked_up(*table, *index, results.len()),
            Effect::TakeRow { table, results } => {
                self.found += 1;
                self.row(*table, results.len()).map(|_| ())
            }
            Effect::TakeElement { array, results } => self.taken(*array, results.len()),
            Effect::FillFrom { array, table } => self.filled_from(*array, *table),
            Effect::GetAcross { first_byte, .. } => across(*first_byte),
            Effect::Enter { subprogram, modulus } => self.entered(*subprogram, modulus.len()),
            Effect::ElementOf { words, .. } => self.words_of_an_element(words.len()),
            Effect::WordOf { first_bit, .. } => self.word_of(*first_bit),
            Effect::High { first_bit, .. } => units::high(self.program, *first_bit),
            Effect::ReturnLast { values, element_bytes, limit_bytes, .. } => {
                short(*element_bytes)?;
                units::returned(values.len(), *element_bytes, *limit_bytes)
            }
            Effect::ReturnWords { words, .. } => returned_words(words.len()),
            Effect::Reduce { .. } => self.known_modulus(effect),
            Effect::ParseMontLe { .. } | Effect::ReturnMontLe { .. } => {
                self.known_modulus(effect)?;
                self.odd_modulus()
            }
            Effect::Parse { size_bytes, .. } => short(*size_bytes),
            Effect::TakeScratch { offset, size_bytes, results } => {
                in_scratch(*offset, *size_bytes, results.len())?;
                self.known_modulus(effect)
            }
            Effect::PutScratch { offset, size_bytes, values } => {
                in_scratch(*offset, *size_bytes, values.len())?;
                self.output(*size_bytes)
            }
            Effect::ReturnElements { size_bytes, .. } => self.output(*size_bytes),
            Effect::Lanes { lanes } => lanes.check(),
            Effect::KeccakF { offset } => keccak_f::check(*offset),
            Effect::CopyScratch { offset, from, size_bytes } => copied(*offset.max(from), *size_bytes),
            Effect::Sha256 { pieces, .. } | Effect::Keccak256 { pieces, .. } => {
                pieces.iter().try_for_each(|&piece| self.piece(piece))
            }
            Effect::Precompile { address, .. } | Effect::ReturnPrecompile { address } => precompile(*address),
            Effect::ReturnAccount { .. } => Ok(()),
            Effect::Reserve { .. } | Effect::Scratch { .. } | Effect::LineUp { .. } => Ok(()),
            Effect::Invert { .. } | Effect::IsZero { .. } | Effect::IsOdd { .. } => Ok(()),
            Effect::Equal { .. } | Effect::Less { .. } | Effect::Require { .. } => Ok(()),
            Effect::Bind { .. } | Effect::Get { .. } | Effect::Set { .. } => Ok(()),
            Effect::SetScratch { .. } | Effect::SetScratchByte { .. } | Effect::CopyCalldata { .. } => Ok(()),
            Effect::Keccak256Scratch { .. } | Effect::Sha256Scratch { .. } => Ok(()),
            Effect::ReturnScratch { .. } | Effect::ReturnWord { .. } => Ok(()),
        }
    }

    fn looked_up(&self, table: TableId, index: Word, values: usize) -> Checked {
        let rows = self.row(table, values)?;
        match self.constant(index).filter(|&index| index >= U256::from(rows)) {
            Some(index) => Err(format!("row {index} of table t{}, which has {rows}", table.0)),
            None => Ok(()),
        }
    }

    fn taken(&mut self, array: ArrayId, values: usize) -> Checked {
        self.found += 1;
        self.parts(array, values)?;
        match self.array_decl(array)?.capacity {
            Capacity::Fixed(_) => Ok(()),
            Capacity::Unbounded => Err(format!("a row is taken of array a{}, which is not of fixed size", array.0)),
        }
    }

    fn filled_from(&self, array: ArrayId, table: TableId) -> Checked {
        let rows = self.row(table, self.array_decl(array)?.element_values)?;
        match self.array_decl(array)?.capacity {
            Capacity::Fixed(room) if rows <= room as usize => Ok(()), // u32 to usize widens
            _ => Err(format!("array a{} has no room for the {rows} rows of table t{}", array.0, table.0)),
        }
    }

    fn entered(&self, subprogram: SubprogramId, found: usize) -> Checked {
        let entered = self.program.subprograms.get(subprogram.0);
        let entered = entered.ok_or_else(|| format!("subprogram p{} does not exist", subprogram.0))?;
        let expected = entered.modulus.words();
        if expected == found {
            Ok(())
        } else {
            Err(format!("the modulus of `{}` has {expected} words, here {found}", entered.name))
        }
    }

    fn word_of(&self, first_bit: u32) -> Checked {
        if !first_bit.is_multiple_of(256) {
            return Err(format!("no word begins at bit {first_bit}"));
        }
        self.words_of_an_element(first_bit as usize / 256 + 1) // u32 to usize widens
    }

    fn known_modulus(&self, effect: &Effect) -> Checked {
        match self.program.modulus.known() {
            None => Err(format!("`{}` needs a modulus that is known", effect.name())),
            Some(_) => Ok(()),
        }
    }

    /// Checks that elements that are written have room in so many bytes each.
    fn output(&self, size_bytes: u32) -> Checked {
        let least = self.program.modulus.bits().div_ceil(8);
        if u64::from(size_bytes) < least {
            return Err(format!("output elements of {size_bytes} bytes cannot hold {least} bytes"));
        }
        short(size_bytes)
    }

    fn piece(&self, piece: Piece<Word>) -> Checked {
        let known = |word: Word| match self.function.words.get(word.0 as usize) {
            Some(WordDef::Constant(value)) => Some(*value),
            _ => None,
        };
        match piece {
            Piece::Word { size_bytes, .. }
                if known(size_bytes).is_some_and(|size_bytes| size_bytes > U256::from(32)) =>
            {
                Err(format!("w{} asks for more than the 32 bytes of a word", size_bytes.0))
            }
            _ => Ok(()),
        }
    }

    /// Elements are as many words as hold the modulus, or fewer.
    fn words_of_an_element(&self, count: usize) -> Checked {
        let most = self.program.modulus.bits().div_ceil(256);
        if count > 0 && count as u64 <= most {
            Ok(())
        } else {
            Err(format!("{count} words of an element that has {most}"))
        }
    }

    fn odd_modulus(&self) -> Checked {
        let modulus = &self.program.modulus;
        if modulus.is_odd() { Ok(()) } else { Err(format!("Montgomery form needs an odd modulus, {modulus} is even")) }
    }
}

fn well_formed(cells: Cells) -> Checked {
    let Cells { bits, index_bits } = cells;
    if matches!(bits, 8 | 16 | 32 | 64) && (1..bits).contains(&index_bits) {
        Ok(())
    } else {
        Err(format!("indices of {index_bits} bits in cells of {bits}: cells have 8, 16, 32 or 64, indices fewer"))
    }
}

fn cell(first_bit: u32, cells: Cells) -> Checked {
    well_formed(cells)?;
    if first_bit < 256 && first_bit.is_multiple_of(cells.bits) {
        Ok(())
    } else {
        Err(format!("bit {first_bit} is not the first of a cell of {} bits", cells.bits))
    }
}

fn across(first_byte: u32) -> Checked {
    match first_byte {
        1..32 => Ok(()),
        _ => Err(format!("byte {first_byte} is not one after the first of a word")),
    }
}

fn returned_words(count: usize) -> Checked {
    match count {
        1..=WORDS_RETURNED_MAX => Ok(()),
        _ => Err(format!("{count} words are returned: not 1 to {WORDS_RETURNED_MAX}")),
    }
}

/// Checks the place of elements in scratch memory.
fn in_scratch(offset: u32, size_bytes: u32, count: usize) -> Checked {
    if size_bytes == 0 || size_bytes > SCRATCH_ELEMENT_BYTES_MAX {
        return Err(format!("elements of {size_bytes} bytes are not in scratch memory: 1 to 32 are"));
    }
    if end_of_elements(offset, size_bytes, count) > SCRATCH_END_MAX {
        return Err(format!("elements end at byte {SCRATCH_END_MAX} of scratch memory or before"));
    }
    Ok(())
}

/// Checks bytes of scratch memory, from the last offset of both places on.
fn copied(last: u32, size_bytes: u32) -> Checked {
    let end = u64::from(last) + u64::from(size_bytes);
    if end > SCRATCH_END_MAX {
        return Err(format!(
            "bytes are copied that end at byte {end} of scratch memory, not {SCRATCH_END_MAX} or before"
        ));
    }
    Ok(())
}

fn precompile(address: u32) -> Checked {
    match u16::try_from(address) {
        Ok(_) => Ok(()),
        Err(_) => Err(format!("no precompile has the address {address:#x}")),
    }
}

/// End of `count` elements in scratch memory, in bytes.
fn end_of_elements(offset: u32, size_bytes: u32, count: usize) -> u64 {
    (count as u64).saturating_mul(size_bytes.into()).saturating_add(offset.into()) // usize to u64 widens
}

fn short(size_bytes: u32) -> Checked {
    if size_bytes <= ELEMENT_BYTES_MAX {
        Ok(())
    } else {
        Err(format!("elements of {size_bytes} bytes are longer than {ELEMENT_BYTES_MAX}"))
    }
}
