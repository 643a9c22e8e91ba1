//! From items to bytes. Label pushes start without immediate and grow until every offset fits; sizes never shrink, so this
//! ends, and it ends with the smallest sizes that fit.

use alloc::collections::BTreeMap;
use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;

use num_bigint::BigUint;
use thiserror::Error;

use super::{Item, LabelId};
use crate::fork::Fork;
use crate::jumpdests::jumpdests;
use crate::opcode::evm::{JUMPDEST, PUSH0, PUSH1};
use crate::revision::{EncodeError, Revision};

/// The bytes of a word, which is the most a push can carry.
const WORD_BYTES: usize = 32;
/// The bytes of a distance between labels.
const DISTANCE_BYTES: usize = 2;

/// Assembled code and where its parts are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Code {
    /// The code.
    pub bytes: Vec<u8>,
    /// Offset of each label.
    pub labels: BTreeMap<LabelId, usize>,
    /// Offset of each item.
    pub item_offsets: Vec<usize>,
}

impl Code {
    /// The bytes of an item, as a range of [`Code::bytes`]. None if there is no such item.
    pub fn item_range(&self, item: usize) -> Option<Range<usize>> {
        let start = *self.item_offsets.get(item)?;
        Some(start..self.item_offsets.get(item + 1).copied().unwrap_or(self.bytes.len()))
    }
}

/// Why items are not code.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum AssembleError {
    /// A push of more than a word.
    #[error("item {item} pushes {bytes} bytes; a word has 32")]
    PushTooWide {
        /// Index of the item.
        item: usize,
        /// Bytes of the pushed number.
        bytes: usize,
    },
    /// A push of a label that no item defines.
    #[error("item {item} pushes label {}, which is nowhere defined", label.0)]
    UndefinedLabel {
        /// Index of the item.
        item: usize,
        /// The label.
        label: LabelId,
    },
    /// A distance that is negative or of more than two bytes.
    #[error("item {item} pushes the distance from offset {from} to offset {to}, which is not of two bytes")]
    Distance {
        /// Index of the item.
        item: usize,
        /// Offset of the earlier label.
        from: usize,
        /// Offset of the later label.
        to: usize,
    },
    /// Two definitions of a label.
    #[error("item {item} defines label {} again", label.0)]
    LabelTwice {
        /// Index of the second definition.
        item: usize,
        /// The label.
        label: LabelId,
    },
    /// The JUMPDEST of a label is swallowed as an immediate of the bytes before it.
    #[error("item {item} defines label {} at offset {offset}, inside the immediate of an opcode before it", label.0)]
    LabelInsideImmediate {
        /// Index of the item.
        item: usize,
        /// The label.
        label: LabelId,
        /// Offset of its JUMPDEST.
        offset: usize,
    },
    /// A field instruction that the revision cannot write.
    #[error("item {item}: {error}")]
    Field {
        /// Index of the item.
        item: usize,
        /// Why not.
        error: EncodeError,
    },
}

impl AssembleError {
    /// Index of the item at fault.
    pub fn item(&self) -> usize {
        match *self {
            AssembleError::PushTooWide { item, .. }
            | AssembleError::UndefinedLabel { item, .. }
            | AssembleError::Distance { item, .. }
            | AssembleError::LabelTwice { item, .. }
            | AssembleError::LabelInsideImmediate { item, .. }
            | AssembleError::Field { item, .. } => item,
        }
    }
}

/// Encodes items for a revision, with the opcodes of the latest fork.
pub fn assemble(items: &[Item], revision: Revision) -> Result<Code, AssembleError> {
    assemble_for(items, (revision, Fork::default()))
}

/// The same for a fork: zero is pushed as a byte where PUSH0 is not there yet.
pub(super) fn assemble_for(items: &[Item], (revision, fork): (Revision, Fork)) -> Result<Code, AssembleError> {
    let (fixed, mut ends) = encode_fixed(items, (revision, fork))?;
    let definitions = definitions(items)?;
    let uses = uses(items, &definitions)?;
    let sizes = push_sizes(&ends, &uses);
    let bytes = weave(&fixed, &mut ends, &uses, &sizes);
    let mut item_offsets = Vec::with_capacity(items.len());
    item_offsets.push(0);
    item_offsets.extend(ends);
    item_offsets.truncate(items.len());
    let labels: BTreeMap<LabelId, usize> =
        definitions.iter().map(|(&label, &item)| (label, item_offsets[item])).collect();
    let mut code = Code { bytes, labels, item_offsets };
    write_distances(items, &mut code)?;
    check_targets(items, &code, revision)?;
    Ok(code)
}

/// Number of bytes of all items but label pushes.
pub(super) fn fixed_bytes(items: &[Item], rules: (Revision, Fork)) -> Result<usize, AssembleError> {
    encode_fixed(items, rules).map(|(bytes, _)| bytes.len())
}

/// The bytes of everything but label pushes, and the end of each item in them.
fn encode_fixed(items: &[Item], (revision, fork): (Revision, Fork)) -> Result<(Vec<u8>, Vec<usize>), AssembleError> {
    let has_push0 = fork.has(PUSH0);
    let mut bytes = Vec::new();
    let mut ends = Vec::with_capacity(items.len());
    for (index, item) in items.iter().enumerate() {
        match item {
            Item::Op(opcode) => bytes.extend(revision.opcode_bytes(*opcode)),
            Item::Push(number) if has_push0 && *number == BigUint::ZERO => bytes.push(PUSH0),
            Item::Push(number) => push(&mut bytes, index, &number.to_bytes_be())?,
            Item::PushBytes(immediate) => push(&mut bytes, index, immediate)?,
            Item::PushDistances { from, .. } => push(&mut bytes, index, &vec![0; DISTANCE_BYTES * from.len()])?,
            Item::PushLabel(_) | Item::Mark(_) => {}
            Item::Label(_) => bytes.push(JUMPDEST),
            Item::Field(instruction) => {
                let start = bytes.len();
                let encoded = revision.encode(instruction, &mut bytes);
                encoded.map_err(|error| AssembleError::Field { item: index, error })?;
                if !has_push0 {
                    push_zeros_as_bytes(&mut bytes, start, revision);
                }
            }
            Item::Data(data) => bytes.extend_from_slice(data),
        }
        ends.push(bytes.len());
    }
    Ok((bytes, ends))
}

/// Puts PUSH1 0 in place of every PUSH0 from `start` on.
fn push_zeros_as_bytes(bytes: &mut Vec<u8>, start: usize, revision: Revision) {
    let mut at = start;
    while at < bytes.len() {
        if bytes[at] == PUSH0 {
            bytes.splice(at..=at, [PUSH1, 0]);
        }
        at += revision.bytes_at(&bytes[at..]);
    }
}

/// Appends PUSHn with n immediate bytes.
fn push(bytes: &mut Vec<u8>, item: usize, immediate: &[u8]) -> Result<(), AssembleError> {
    let too_wide = AssembleError::PushTooWide { item, bytes: immediate.len() };
    let length =
        u8::try_from(immediate.len()).ok().filter(|&length| usize::from(length) <= WORD_BYTES).ok_or(too_wide)?;
    bytes.push(PUSH0 + length);
    bytes.extend_from_slice(immediate);
    Ok(())
}

/// The item that defines each label.
fn definitions(items: &[Item]) -> Result<BTreeMap<LabelId, usize>, AssembleError> {
    let mut definitions = BTreeMap::new();
    for (item, definition) in items.iter().enumerate() {
        if let Item::Label(label) | Item::Mark(label) = *definition
            && definitions.insert(label, item).is_some()
        {
            return Err(AssembleError::LabelTwice { item, label });
        }
    }
    Ok(definitions)
}

/// A push of a label: the item it is and the item that defines the label.
struct Use {
    item: usize,
    definition: usize,
}

/// All pushes of labels, by ascending item.
fn uses(items: &[Item], definitions: &BTreeMap<LabelId, usize>) -> Result<Vec<Use>, AssembleError> {
    let pushes = items.iter().enumerate().filter_map(|(item, push)| match push {
        Item::PushLabel(label) => Some((item, *label)),
        _ => None,
    });
    let resolve = |(item, label)| match definitions.get(&label) {
        Some(&definition) => Ok(Use { item, definition }),
        None => Err(AssembleError::UndefinedLabel { item, label }),
    };
    pushes.map(resolve).collect()
}

/// The immediate bytes of each label push: the least fixpoint of “each holds the offset that follows from all of them”.
fn push_sizes(ends: &[usize], uses: &[Use]) -> Vec<usize> {
    let mut sizes = vec![0; uses.len()];
    loop {
        // grown[i] is what the first i label pushes add to the offset of everything after them.
        let mut grown = Vec::with_capacity(uses.len() + 1);
        grown.push(0);
        for (i, size) in sizes.iter().enumerate() {
            grown.push(grown[i] + 1 + size);
        }
        let offset = |item: usize| {
            let fixed = item.checked_sub(1).map_or(0, |before| ends[before]);
            fixed + grown[uses.partition_point(|a_use| a_use.item < item)]
        };
        let wanted: Vec<usize> = uses.iter().map(|a_use| bytes_of(offset(a_use.definition))).collect();
        if wanted == sizes {
            return sizes;
        }
        sizes = wanted;
    }
}

/// The bytes of a number without leading zeros.
fn bytes_of(number: usize) -> usize {
    (usize::BITS - number.leading_zeros()).div_ceil(8) as usize // u32 to usize widens
}

/// Inserts the label pushes into the fixed bytes and moves `ends` to the ends in the result.
fn weave(fixed: &[u8], ends: &mut [usize], uses: &[Use], sizes: &[usize]) -> Vec<u8> {
    let grown: usize = sizes.iter().map(|size| 1 + size).sum();
    let mut bytes = Vec::with_capacity(fixed.len() + grown);
    let mut copied = 0;
    let mut holes = Vec::with_capacity(uses.len());
    let mut next = uses.iter().zip(sizes).peekable();
    for (item, end) in ends.iter_mut().enumerate() {
        bytes.extend_from_slice(&fixed[copied..*end]);
        copied = *end;
        if let Some((a_use, &size)) = next.next_if(|(a_use, _)| a_use.item == item) {
            holes.push((bytes.len(), a_use.definition));
            bytes.resize(bytes.len() + 1 + size, 0);
        }
        *end = bytes.len();
    }
    for ((hole, definition), &size) in holes.into_iter().zip(sizes) {
        let offset = definition.checked_sub(1).map_or(0, |before| ends[before]);
        bytes[hole] = PUSH0 + u8::try_from(size).expect("an offset has at most eight bytes");
        let big_endian = offset.to_be_bytes();
        bytes[hole + 1..hole + 1 + size].copy_from_slice(&big_endian[big_endian.len() - size..]);
    }
    bytes
}

/// Fills in the distances between labels, once all offsets are known.
fn write_distances(items: &[Item], code: &mut Code) -> Result<(), AssembleError> {
    for (item, push) in items.iter().enumerate() {
        let Item::PushDistances { to, from } = push else { continue };
        let offset =
            |label: LabelId| code.labels.get(&label).copied().ok_or(AssembleError::UndefinedLabel { item, label });
        let to = offset(*to)?;
        let mut distances = Vec::with_capacity(DISTANCE_BYTES * from.len());
        for &label in from {
            let from = offset(label)?;
            let distance = to.checked_sub(from).and_then(|distance| u16::try_from(distance).ok());
            distances.extend(distance.ok_or(AssembleError::Distance { item, from, to })?.to_be_bytes());
        }
        let start = code.item_offsets[item] + 1;
        code.bytes[start..start + distances.len()].copy_from_slice(&distances);
    }
    Ok(())
}

/// Data before a label may end in an opcode whose immediate would swallow the label's JUMPDEST.
fn check_targets(items: &[Item], code: &Code, revision: Revision) -> Result<(), AssembleError> {
    let targets = jumpdests(&code.bytes, revision);
    for (item, definition) in items.iter().enumerate() {
        if let Item::Label(label) = *definition
            && !targets.contains(code.item_offsets[item])
        {
            return Err(AssembleError::LabelInsideImmediate { item, label, offset: code.item_offsets[item] });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::field_instruction::{FieldInstruction, FieldOp, Lanes};
    use crate::opcode::evm::{JUMP, PUSH2, PUSH3, STOP};

    const REVISION: Revision = Revision::Eip6690_2024;
    const A: LabelId = LabelId(7);
    const B: LabelId = LabelId(3);

    #[track_caller]
    fn check(items: &[Item], expected: &str) -> Code {
        let code = assemble(items, REVISION).unwrap();
        assert_eq!(hex::encode(&code.bytes), expected);
        code
    }

    #[test]
    fn numbers_get_the_smallest_push_and_exact_bytes_stay() {
        check(&[Item::Push(BigUint::ZERO)], "5f");
        check(&[Item::Push(255_u32.into()), Item::Push(256_u32.into())], "60ff610100");
        check(&[Item::PushBytes(vec![]), Item::PushBytes(vec![0, 0, 5])], "5f62000005");
        let widest = (BigUint::from(1_u8) << 256_u32) - 1_u8;
        check(&[Item::Push(widest.clone())], &format!("7f{}", "ff".repeat(32)));
        let error = assemble(&[Item::Op(STOP), Item::Push(widest + 1_u8)], REVISION);
        assert_eq!(error, Err(AssembleError::PushTooWide { item: 1, bytes: 33 }));
        let error = assemble(&[Item::PushBytes(vec![0; 300])], REVISION);
        assert_eq!(error, Err(AssembleError::PushTooWide { item: 0, bytes: 300 }));
    }

    #[test]
    fn labels_resolve_backwards_and_forwards() {
        let code =
            check(&[Item::PushLabel(A), Item::Op(JUMP), Item::Data(vec![0xfe; 2]), Item::Label(A)], "600556fefe5b");
        assert_eq!(code.labels, BTreeMap::from([(A, 5)]));
        assert_eq!(code.item_offsets, [0, 2, 3, 5]);
        assert_eq!(code.item_range(2), Some(3..5));
        assert_eq!(code.item_range(3), Some(5..6));
        assert_eq!(code.item_range(4), None);
        check(&[Item::Op(STOP), Item::Label(B), Item::PushLabel(B), Item::Op(JUMP)], "005b600156");
        check(&[Item::Label(B), Item::PushLabel(B), Item::Op(JUMP)], "5b5f56");
        assert_eq!(assemble(&[], REVISION).unwrap().item_offsets, [0_usize; 0]);
    }

    /// Pushes of a label after `padding` bytes; the smallest consistent size, including the shift by the push itself.
    #[test]
    fn label_pushes_grow_only_when_they_must() {
        for (padding, opcode, offset) in
            [(0, PUSH1, 2), (253, PUSH1, 255), (254, PUSH2, 257), (65_532, PUSH2, 65_535), (65_533, PUSH3, 65_537)]
        {
            let code = assemble(&[Item::PushLabel(A), Item::Data(vec![0; padding]), Item::Label(A)], REVISION).unwrap();
            assert_eq!((code.bytes[0], code.labels[&A]), (opcode, offset), "{padding}");
            assert_eq!(code.bytes[offset], JUMPDEST);
        }
    }

    /// Growth of one push moves another label over its own limit, again and again.
    #[test]
    fn growth_cascades_through_many_labels() {
        let label = |i: u32| LabelId(i);
        let mut items = Vec::new();
        for i in 0..200 {
            items.push(Item::PushLabel(label(199 - i)));
            items.push(Item::Label(label(i)));
        }
        let code = assemble(&items, REVISION).unwrap();
        for (index, item) in items.iter().enumerate() {
            if let Item::PushLabel(label) = item {
                let range = code.item_range(index).unwrap();
                let immediate = &code.bytes[range.start + 1..range.end];
                assert_eq!(usize::from(code.bytes[range.start] - PUSH0), immediate.len());
                let pushed = immediate.iter().fold(0, |number, &byte| number << 8 | usize::from(byte));
                assert_eq!(pushed, code.labels[label]);
                assert!(immediate.first().is_none_or(|&byte| byte != 0), "not the smallest push");
            }
        }
    }

    #[test]
    fn distances_are_two_bytes_each_and_fit_or_are_refused() {
        let distances = |from: &[LabelId]| Item::PushDistances { to: B, from: from.to_vec() };
        check(&[Item::Label(A), distances(&[B, A]), Item::Op(STOP), Item::Mark(B)], "5b630000000700");
        check(&[distances(&[]), Item::Mark(B)], "5f");
        let apart = |bytes: usize| {
            assemble(&[distances(&[A]), Item::Mark(A), Item::Data(vec![0; bytes]), Item::Mark(B)], REVISION)
        };
        assert_eq!(apart(0xffff).unwrap().bytes[..4], [0x61, 0xff, 0xff, 0]);
        assert_eq!(apart(0x1_0000), Err(AssembleError::Distance { item: 0, from: 3, to: 0x1_0003 }));
        let error = assemble(&[Item::Mark(B), Item::Op(STOP), Item::Mark(A), distances(&[A])], REVISION);
        assert_eq!(error, Err(AssembleError::Distance { item: 3, from: 1, to: 0 }));
        let error = assemble(&[distances(&[A]), Item::Mark(B)], REVISION);
        assert_eq!(error, Err(AssembleError::UndefinedLabel { item: 0, label: A }));
        let error = assemble(&[Item::Mark(B), distances(&[B; 17])], REVISION);
        assert_eq!(error, Err(AssembleError::PushTooWide { item: 1, bytes: 34 }));
    }

    #[test]
    fn items_are_replaced_and_measured_without_pushes_of_labels() {
        let mut code = crate::assembly::Assembly::new();
        let label = code.new_label();
        code.label(label).push_label(label).push(300_u32);
        assert_eq!(code.fixed_bytes(0..3, REVISION), Ok(4));
        code.replace(1, Item::PushDistances { to: label, from: vec![label] });
        assert_eq!(code.fixed_bytes(1..3, REVISION), Ok(6));
        assert_eq!(code.assemble(REVISION).unwrap().bytes, [JUMPDEST, PUSH2, 0, 0, PUSH2, 1, 44]);
    }

    #[test]
    fn marks_address_data_without_a_byte() {
        let code = check(&[Item::PushLabel(B), Item::Op(STOP), Item::Mark(B), Item::Data(vec![0x60])], "60030060");
        assert_eq!(code.labels[&B], 3);
    }

    #[test]
    fn labels_must_be_defined_exactly_once_and_outside_immediates() {
        let error = assemble(&[Item::Op(STOP), Item::PushLabel(A)], REVISION);
        assert_eq!(error, Err(AssembleError::UndefinedLabel { item: 1, label: A }));
        let error = assemble(&[Item::Label(A), Item::Mark(A)], REVISION);
        assert_eq!(error, Err(AssembleError::LabelTwice { item: 1, label: A }));
        let swallowed = [Item::Data(vec![0x61, 0x00]), Item::Label(A), Item::Label(B)];
        let error = assemble(&swallowed, REVISION);
        assert_eq!(error, Err(AssembleError::LabelInsideImmediate { item: 1, label: A, offset: 2 }));
        let swallowed = [Item::Data(vec![0xc3, 0, 0, 0, 0, 0, 0]), Item::Label(A)];
        assert!(matches!(assemble(&swallowed, REVISION), Err(AssembleError::LabelInsideImmediate { .. })));
        assert!(assemble(&swallowed, Revision::Evm384V7).is_ok());
        check(&[Item::Data(vec![0x61, 0x00, 0x00]), Item::Label(A)], "6100005b");
    }

    #[test]
    fn field_instructions_are_found_by_item() {
        let field = FieldInstruction::Slots {
            operation: FieldOp::Sub,
            out: Lanes::one(1),
            x: Lanes::one(2),
            y: Lanes { index: 3, stride: 0 },
            count: 4,
        };
        let items = [Item::PushLabel(A), Item::Field(field), Item::Label(A)];
        let code = check(&items, "600ac4010102010300045b");
        let range = code.item_range(1).unwrap();
        assert_eq!(REVISION.decode(&code.bytes[range.clone()]), Some((field, range.len())));
        let error = assemble(&items, Revision::Evm384V7).unwrap_err();
        assert!(matches!(error, AssembleError::Field { item: 1, .. }), "{error}");
    }
}
