//! Instructions beside arithmetic that have no measurement of their own: each as its row has it, and the answer by the
//! specification.

use num_bigint::BigUint;
use residue_isa::form::{Draw, Operand};
use residue_isa::opcode::evm as op;
use residue_isa::revision::rules::SlotRules;
use residue_isa::{Assembly, Fork, Form, GasSchedule, Lanes, Revision};
use residue_workbench::{EngineKind, Job, Setup};

use super::chain::{begin, end};
use super::pair::{Expected, Pair, bytes, data, looped};
use super::values::{modulus, random, to_be};
use crate::error::LabError;

/// Executions in a turn of the loop.
const BODY: usize = 48;
/// Values stored, and slots loaded at the end.
const VALUES: u8 = 8;
/// Slots of the field context: three operands of the most lanes.
const SLOTS: u8 = 96;
/// Lanes and strides that are measured, where there are lanes.
const LANES: [(u8, u8); 8] = [(1, 1), (2, 1), (3, 1), (4, 1), (6, 1), (12, 1), (16, 1), (16, 2)];

/// The pairs of a form: one for each number of lanes.
pub(super) fn pairs(revision: Revision, rules: &'static SlotRules, form: Form, width_limbs: usize) -> Vec<Pair> {
    let lanes = if form.row().operands.contains(&Operand::Count) { &LANES[..] } else { &LANES[..1] };
    lanes.iter().map(|&lanes| pair(revision, rules, (form, lanes), width_limbs)).collect()
}

fn pair(
    revision: Revision,
    rules: &'static SlotRules,
    (form, (count, stride)): (Form, (u8, u8)),
    width_limbs: usize,
) -> Pair {
    let row = form.row();
    let element_bytes = 8 * width_limbs;
    let m = modulus(width_limbs);
    let values = (0..VALUES).map(|seed| random(&m, seed.into()));
    let input: Vec<u8> =
        [m.clone()].into_iter().chain(values).flat_map(|value: BigUint| to_be(&value, element_bytes)).collect();
    let immediate = form.draw(&mut Neighbours { count, stride, next: 0 });
    let program = move |with: bool, turns: usize| {
        let element = element_bytes as u64; // Widens.
        let opcode = rules.opcode(form).unwrap_or(row.byte);
        let one: Vec<u8> = revision.opcode_bytes(opcode).chain(immediate.iter().copied()).collect();
        let before = |code: &mut Assembly| {
            begin(code, rules, element, [SLOTS.into(), VALUES.into()]);
        };
        let body = |code: &mut Assembly| {
            for _ in 0..BODY {
                row.words.iter().for_each(|_| _ = code.push(1_u8));
                match with {
                    true => {
                        data(code, one.clone());
                        (0..row.pushes).for_each(|_| _ = code.op(op::POP));
                    }
                    false => row.words.iter().for_each(|_| _ = code.op(op::POP)),
                }
            }
        };
        let after = |code: &mut Assembly| {
            end(code, rules, element, (0, VALUES));
        };
        bytes(&looped(turns, before, body, after), revision)
    };
    let class = match (row.operands.contains(&Operand::Count), stride) {
        (false, _) => "plain".to_owned(),
        (true, 1) => count.to_string(),
        (true, _) => format!("{count}-of-{stride}"),
    };
    Pair {
        name: format!("{revision}/{}/{}/{class}", row.mnemonic, 64 * width_limbs),
        mnemonic: row.mnemonic,
        count: BODY,
        pops: i32::try_from(row.words.len()).unwrap_or(0) - i32::from(row.pushes),
        expected: Some(specified(revision, program.clone(), input.clone())),
        program: Box::new(program),
        input,
        turns: None,
        is_cold_measured: false,
    }
}

/// The output of a program by the specification; empty if there is none, which no program here returns.
fn specified(
    revision: Revision,
    program: impl Fn(bool, usize) -> Result<Vec<u8>, LabError> + 'static,
    input: Vec<u8>,
) -> Expected {
    Box::new(move |turns| {
        let output = || {
            let schedule = GasSchedule::default_for(revision).ok()?;
            let setup = Setup::new(revision, schedule, Fork::default(), EngineKind::Spec).ok()?;
            let code = program(true, turns).ok()?;
            let job = Job { code: &code, input: &input, gas: 1 << 42, timed: false, explained: false, native: None };
            Some(setup.execute(job).ok()?.ended.output)
        };
        output().unwrap_or_default()
    })
}

/// Operands one after the other: results from the first slot on, so that values change.
struct Neighbours {
    count: u8,
    stride: u8,
    next: u8,
}

impl Draw for Neighbours {
    fn count(&mut self) -> u8 {
        self.count
    }

    fn lanes(&mut self, _: bool, count: u8) -> Lanes {
        let index = self.next;
        self.next += count * self.stride;
        Lanes { index, stride: self.stride }
    }

    fn slot(&mut self) -> u8 {
        self.next += 1;
        self.next - 1
    }

    fn second(&mut self, first: Lanes, _: u8) -> u8 {
        first.index + 1
    }

    fn byte(&mut self) -> u8 {
        1
    }
}
