//! The contract in linked form. Moduli of more than a word are done by stages: residues for RSA of 1024 and 2048 bits, limbs of as many as an account has
//! unrolled products for, and loops over more.

use super::limbs::{Width, cell};
use super::loops;
use super::residues::{self, Exponents};
use super::wide::{self, SCRATCH_BYTES, WIDTHS, least, where_it_fits};
use crate::linked::{LinkedContract, Stage};
use crate::modexp::calldata::{Calldata, where_words_stand};
use crate::modexp::expressions::Expressions;
use crate::modexp::power::F4;
use crate::modexp::{one_word, short};
use crate::words::Words;
use residue_ir::Machine;

/// `modexp/words` in linked form.
pub(super) const LINKED: LinkedContract = LinkedContract {
    name: "modexp/words",
    text: |machine| text(machine),
    stages: &[
        Stage { name: "limbs-5", summary: "moduli of 33 to 144 bytes", example: || example(64, 3) },
        Stage { name: "limbs-9", summary: "moduli of 145 to 260 bytes", example: || example(160, 3) },
        Stage { name: "limbs-14", summary: "moduli of 261 to 405 bytes", example: || example(384, 3) },
        Stage { name: "limbs-18", summary: "moduli of 406 to 521 bytes", example: || example(512, 3) },
        Stage { name: "limbs-36", summary: "moduli of more bytes", example: || example(1024, 3) },
        Stage { name: "residues-1024", summary: "odd moduli of 116 to 144 bytes", example: || example(128, 3) },
        Stage {
            name: "residues-2048-f4",
            summary: "odd moduli of 232 to 260 bytes, exponent 65537",
            example: || example(256, 3),
        },
        Stage {
            name: "residues-2048",
            summary: "odd moduli of 232 to 260 bytes, other exponents from 16 on",
            example: || example(256, 256),
        },
    ],
};

/// The text.
fn text<M: Machine>(machine: &M) {
    machine.scratch(SCRATCH_BYTES);
    where_words_stand(machine, |machine| one_word::in_place(machine), short::in_place);
    let calldata = Calldata::any(machine);
    let w = Words(machine);
    machine.branch(
        w.is_below(w.number(32), calldata.modulus.bytes),
        |machine| {
            begin(machine);
            machine.branch(
                machine.at(cell::BYTES),
                |machine| by_stages(machine),
                |machine| machine.return_scratch(machine.small(cell::END), Calldata::read(machine).modulus.bytes),
            );
        },
        |machine| one_word::text(machine, calldata),
    );
}

/// Writes the bytes of the modulus, which every stage has to know.
fn begin<M: Machine>(machine: &M) {
    machine.scratch(SCRATCH_BYTES);
    wide::modulus_bytes(machine, Calldata::read(machine).modulus);
}

/// Ends as the stage for the length of the modulus.
fn by_stages<M: Machine>(machine: &M) {
    where_it_fits(
        machine,
        WIDTHS[2].limbs,
        |machine| {
            machine.branch(
                residues::is_for_stage(machine, WIDTHS[2].limbs),
                |machine| machine.stage("residues-1024", residues_1024),
                |machine| machine.stage("limbs-5", limbs_5),
            );
        },
        |machine| where_it_fits(machine, WIDTHS[3].limbs, nine_limbs, more_limbs),
    );
}

/// The same where the modulus fits nine limbs, and not five.
fn nine_limbs<M: Machine>(machine: &M) {
    machine.branch(
        residues::is_for_stage(machine, WIDTHS[3].limbs),
        |machine| {
            let e = least(machine, Calldata::read(machine).exponent);
            machine.branch(
                Words(machine).is_equal(e, machine.small(F4)),
                |machine| machine.stage("residues-2048-f4", residues_2048_f4),
                |machine| machine.stage("residues-2048", residues_2048),
            );
        },
        |machine| machine.stage("limbs-9", limbs_9),
    );
}

/// The same where it does not.
fn more_limbs<M: Machine>(machine: &M) {
    where_it_fits(
        machine,
        WIDTHS[4].limbs,
        |machine| machine.stage("limbs-14", limbs_14),
        |machine| {
            where_it_fits(
                machine,
                WIDTHS[5].limbs,
                |machine| machine.stage("limbs-18", limbs_18),
                |machine| machine.stage("limbs-36", limbs_36),
            );
        },
    );
}

fn limbs_5<M: Machine>(machine: &M) {
    begin(machine);
    where_it_fits(
        machine,
        WIDTHS[0].limbs,
        |machine| wide::power(machine, WIDTHS[0]),
        |machine| {
            where_it_fits(
                machine,
                WIDTHS[1].limbs,
                |machine| wide::power(machine, WIDTHS[1]),
                |machine| wide::power(machine, WIDTHS[2]),
            );
        },
    );
}

fn limbs_9<M: Machine>(machine: &M) {
    begin(machine);
    wide::power(machine, WIDTHS[3]);
}

fn limbs_14<M: Machine>(machine: &M) {
    begin(machine);
    wide::power(machine, WIDTHS[4]);
}

/// Without squares it is short enough for an account.
fn limbs_18<M: Machine>(machine: &M) {
    begin(machine);
    wide::power(machine, Width { has_square: false, ..WIDTHS[5] });
}

fn limbs_36<M: Machine>(machine: &M) {
    begin(machine);
    loops::text(machine);
}

fn residues_1024<M: Machine>(machine: &M) {
    begin(machine);
    residues::in_stage(machine, WIDTHS[2].limbs, Exponents::All);
    machine.stage("limbs-5", limbs_5);
}

fn residues_2048_f4<M: Machine>(machine: &M) {
    begin(machine);
    residues::in_stage(machine, WIDTHS[3].limbs, Exponents::F4);
    machine.stage("limbs-9", limbs_9);
}

fn residues_2048<M: Machine>(machine: &M) {
    begin(machine);
    residues::in_stage(machine, WIDTHS[3].limbs, Exponents::Others);
    machine.stage("limbs-9", limbs_9);
}

/// Calldata for an odd modulus of so many bytes, all of them 1 more than two thirds of the most, and an exponent that is 65537 if it has three bytes.
fn example(modulus_bytes: usize, exponent_bytes: usize) -> Vec<u8> {
    let exponent = match exponent_bytes {
        3 => vec![1, 0, 1],
        _ => vec![0x5b; exponent_bytes],
    };
    let lengths = [modulus_bytes, exponent_bytes, modulus_bytes];
    let lengths = lengths.iter().flat_map(|&bytes| [vec![0; 24], (bytes as u64).to_be_bytes().to_vec()]); // usize to u64 widens
    let numbers = [vec![0x35; modulus_bytes], exponent, vec![0xab; modulus_bytes]];
    lengths.flatten().chain(numbers.into_iter().flatten()).collect()
}
