//! Random code that gets somewhere: mostly small pushes, opcodes that find their operands, and now and then anything.

use rand::Rng;
use residue_isa::Revision;

use super::Code;

/// Opcodes of random code besides pushes and field instructions: all of the EVM's that need no luck.
const PLAIN: &[u8] = &[
    0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 0x09, 0x0a, 0x0b, 0x10, 0x11, 0x14, 0x15, 0x16, 0x19, 0x1a, 0x1b,
    0x1c, 0x1e, 0x20, 0x30, 0x31, 0x33, 0x34, 0x35, 0x36, 0x37, 0x38, 0x39, 0x3b, 0x3c, 0x3d, 0x3e, 0x3f, 0x47, 0x50,
    0x51, 0x52, 0x53, 0x54, 0x55, 0x58, 0x59, 0x5a, 0x5b, 0x5c, 0x5d, 0x5e, 0x80, 0x81, 0x82, 0x83, 0x8f, 0x90, 0x91,
    0x9f, 0xa0, 0xa1, 0xa4,
];

/// Random code for a revision, which may call `callees`, create, jump and end early.
pub fn random_code(random: &mut impl Rng, revision: Option<Revision>, callees: &[[u8; 20]]) -> Code {
    let mut code = Code::new();
    let mut targets = vec![];
    match revision {
        Some(Revision::Eip6690_2024) if random.random_bool(0.9) => code = super::modulus_101(0, 16),
        Some(Revision::Evm384V7) => code = code.mstore(90, random.random()),
        _ => {}
    }
    for _ in 0..random.random_range(1..120) {
        code = match random.random_range(0..100) {
            0..30 => {
                let bits = random.random_range(0..12_u32);
                code.push(random.random_range(0..=1_u64 << bits))
            }
            30..34 => code.push_bytes(&random.random::<[u8; 32]>()),
            34..70 => {
                let opcode = PLAIN[random.random_range(0..PLAIN.len())];
                let operands = random.random_range(0..4);
                let code = (0..operands).fold(code, |code, _| code.push(random.random_range(0..200)));
                code.op(opcode)
            }
            70..90 => match revision {
                Some(Revision::Eip6690_2024) => slot_instruction(random, code),
                Some(Revision::Evm384V7) => memory_instruction(random, code),
                Some(revision) => field_instruction(random, revision, code),
                None => code.op(PLAIN[random.random_range(0..PLAIN.len())]),
            },
            90..94 if !callees.is_empty() => {
                let opcode = [0xf1, 0xf2, 0xf4, 0xfa][random.random_range(0..4)];
                code.call(opcode, random.random_range(0..60_000), callees[random.random_range(0..callees.len())], 40)
            }
            94..95 => {
                let opcode = if random.random() { 0xf0 } else { 0xf5 };
                code.stack(&[0, random.random_range(0..64), random.random_range(0..64), 1]).op(opcode)
            }
            95..96 => {
                targets.push(code.0.len() as u64);
                code.op(0x5b)
            }
            96..97 if !targets.is_empty() => {
                code.op(0x5a).push(targets[random.random_range(0..targets.len())]).op(0x57)
            }
            97..98 => code.op(random.random()),
            98..99 => code.stack(&[0, 64]).op([0xf3, 0xfd, 0x00][random.random_range(0..3)]),
            _ => code.push(random.random_range(0..1 << 14)).op(0x51),
        };
    }
    code.ret(0, 128)
}

fn slot_instruction(random: &mut impl Rng, code: Code) -> Code {
    let mut small = |max: u8| random.random_range(0..max);
    match small(8) {
        0 => code.setmodx(small(4).into(), (24 + small(2)).into(), (8 + small(2)).into(), (1 + small(20)).into()),
        1 => code.loadx(small(40).into(), small(12).into(), small(6).into()),
        2 => code.mstore(0, 101).storex(small(12).into(), 24, 1),
        3 => code.storex(small(12).into(), small(40).into(), small(3).into()),
        _ => {
            let opcode = 0xc3 + small(3);
            let mut lanes = || (small(8), small(3));
            let operands = (lanes(), lanes(), lanes());
            code.slots(opcode, (operands.0.0, operands.0.1.max(1)), operands.1, operands.2, 1 + small(4))
        }
    }
}

fn memory_instruction(random: &mut impl Rng, code: Code) -> Code {
    let mut offset = || random.random_range(0..500);
    code.v7(0xc0 + (offset() % 4) as u8, offset(), offset(), offset(), offset())
}

/// An opcode of the revision, with its immediate, on small words.
fn field_instruction(random: &mut impl Rng, revision: Revision, code: Code) -> Code {
    let rows = revision.opcodes();
    let row = rows[random.random_range(0..rows.len())];
    let words: Vec<u64> = (0..random.random_range(0..=7)).map(|_| random.random_range(0..500)).collect();
    let mut code = code.stack(&words).opcode(revision, row.byte);
    // The first byte is a marker in some revisions.
    let marker = revision.slot_rules().and_then(|rules| rules.marker).unwrap_or(0x65);
    code.0.extend((0..row.immediate_bytes).map(|at| match at {
        0 if random.random() => marker,
        _ => random.random::<u8>() & 0x83,
    }));
    code
}
