//! Poseidon2 with its authors' parameters, as a permutation: once, of many states, and along a Merkle path.
//!
//! Grassi, Khovratovich and Schofnegger 2023 (2023/323); <https://github.com/HorizenLabs/poseidon2>. The parameters are those of its instances, and
//! of its generator where it has none (t = 2 and 4 over BN254).

mod lanes;
pub mod merkle;
pub mod permutation;

use crate::Contract;
use crate::poseidon::constants::{FromCode, InSlots};
use crate::poseidon::{ELEMENT_BYTES, LOADED, elements, numbers, require_elements};
use permutation::{Entry, Matrices, Parameters, Permutation};
use residue_formula::Number;
use residue_ir::{Feature, Machine};
use residue_modular::fields::{BabyBear, Bls12_381Fr, Bn254Fr, Goldilocks, KoalaBear, Pallas, Vesta};

/// The permutation of the Merkle path.
pub(crate) const BN254_3: Parameters =
    Parameters { width: 3, power: 5, partial_rounds: 56, matrices: Matrices::Authors { diagonals_left_out: 0 } };

macro_rules! contracts {
    ($($once:ident, $name:literal, $field:ident, $width:literal, $power:literal, $rounds:literal, $left_out:literal;)*) => {
        $(
            #[doc = concat!("`poseidon2/", $name, "_t", $width, "`.")]
            pub const $once: Contract = Contract {
                name: concat!("poseidon2/", $name, "_t", $width),
                summary: concat!("Poseidon2's permutation over ", stringify!($field), ", t = ", $width),
                interface: concat!("32 bytes for each of ", $width, " elements; returns as many: the permuted state"),
                field: $field::modulus,
                text: |machine| once::<_, $field, $width>(machine, parameters($width, $power, $rounds, $left_out)),
                precompile: None,
                example: || numbers($width),
            };
        )*
    };
}

contracts! {
    BN254_T2, "bn254", Bn254Fr, 2, 5, 56, 0;
    BN254_T3, "bn254", Bn254Fr, 3, 5, 56, 0;
    BN254_T4, "bn254", Bn254Fr, 4, 5, 56, 4;
    BLS12_381_T2, "bls12_381", Bls12_381Fr, 2, 5, 56, 0;
    BLS12_381_T3, "bls12_381", Bls12_381Fr, 3, 5, 56, 0;
    BLS12_381_T4, "bls12_381", Bls12_381Fr, 4, 5, 56, 0;
    PALLAS_T3, "pallas", Pallas, 3, 5, 56, 0;
    VESTA_T3, "vesta", Vesta, 3, 5, 56, 0;
    GOLDILOCKS_T12, "goldilocks", Goldilocks, 12, 7, 22, 8;
    BABYBEAR_T16, "babybear", BabyBear, 16, 7, 13, 18;
}

macro_rules! contracts_for_many {
    ($($many:ident, $count:literal, $name:literal, $field:ident, $width:literal, $power:literal, $rounds:literal, $left_out:literal;)*) => {
        $(
            #[doc = concat!("`poseidon2/", $name, "_t", $width, "_many`.")]
            pub const $many: Contract = Contract {
                name: concat!("poseidon2/", $name, "_t", $width, "_many"),
                summary: concat!($count, " of Poseidon2's permutations over ", stringify!($field), ", t = ", $width),
                interface: concat!($count, " states of ", $width, " elements of 32 bytes; returns as many: the permuted states"),
                field: $field::modulus,
                text: |machine| many::<_, $field, $width, $count>(machine, parameters($width, $power, $rounds, $left_out)),
                precompile: None,
                example: || numbers($count * $width),
            };
        )*
    };
}

contracts_for_many! {
    BN254_T3_MANY, 40, "bn254", Bn254Fr, 3, 5, 56, 0;
    BN254_T4_MANY, 28, "bn254", Bn254Fr, 4, 5, 56, 4;
}

const fn parameters(width: usize, power: u32, partial_rounds: usize, diagonals_left_out: usize) -> Parameters {
    Parameters { width, power, partial_rounds, matrices: Matrices::Authors { diagonals_left_out } }
}

const fn plonky3(width: usize, partial_rounds: usize, diagonal: &'static [Entry]) -> Parameters {
    Parameters { width, power: 3, partial_rounds, matrices: Matrices::Plonky3(diagonal) }
}

/// ±n/2ᵏ.
const fn entry(number: i8, halvings: u32) -> Entry {
    Entry { number, halvings }
}

/// The diagonal less 1 of KoalaBear's internal matrix for t = 16. Plonky3, p3-koala-bear, `poseidon2.rs`.
const KOALABEAR_16: &[Entry] = &[
    entry(-2, 0),
    entry(1, 0),
    entry(2, 0),
    entry(1, 1),
    entry(3, 0),
    entry(4, 0),
    entry(-1, 1),
    entry(-3, 0),
    entry(-4, 0),
    entry(1, 8),
    entry(1, 3),
    entry(1, 24),
    entry(-1, 8),
    entry(-1, 3),
    entry(-1, 4),
    entry(-1, 24),
];

/// The same for t = 24.
const KOALABEAR_24: &[Entry] = &[
    entry(-2, 0),
    entry(1, 0),
    entry(2, 0),
    entry(1, 1),
    entry(3, 0),
    entry(4, 0),
    entry(-1, 1),
    entry(-3, 0),
    entry(-4, 0),
    entry(1, 8),
    entry(1, 2),
    entry(1, 3),
    entry(1, 4),
    entry(1, 5),
    entry(1, 6),
    entry(1, 24),
    entry(-1, 8),
    entry(-1, 3),
    entry(-1, 4),
    entry(-1, 5),
    entry(-1, 6),
    entry(-1, 7),
    entry(-1, 9),
    entry(-1, 24),
];

macro_rules! contracts_over_koalabear {
    ($($once:ident, $width:literal, $rounds:literal, $diagonal:ident;)*) => {
        $(
            #[doc = concat!("`poseidon2/koalabear_t", $width, "`.")]
            pub const $once: Contract = Contract {
                name: concat!("poseidon2/koalabear_t", $width),
                summary: concat!("Poseidon2's permutation over KoalaBear with Plonky3's parameters, t = ", $width),
                interface: concat!("32 bytes for each of ", $width, " elements; returns as many: the permuted state"),
                field: KoalaBear::modulus,
                text: |machine| once::<_, KoalaBear, $width>(machine, plonky3($width, $rounds, $diagonal)),
                precompile: None,
                example: || numbers($width),
            };
        )*
    };
}

contracts_over_koalabear! {
    KOALABEAR_T16, 16, 20, KOALABEAR_16;
    KOALABEAR_T24, 24, 23, KOALABEAR_24;
}

macro_rules! contracts_in_lanes {
    ($($once:ident, $name:literal, $of:ident, $field:ident, $width:literal, $parameters:expr;)*) => {
        $(
            #[doc = concat!("`poseidon2/", $name, "_lanes`.")]
            pub const $once: Contract = Contract {
                name: concat!("poseidon2/", $name, "_lanes"),
                summary: concat!("poseidon2/", $name, " with partial rounds in lanes of words where there are no field instructions"),
                text: |machine| in_lanes::<_, $field, $width>(machine, $parameters),
                ..$of
            };
        )*
    };
}

contracts_in_lanes! {
    BABYBEAR_T16_LANES, "babybear_t16", BABYBEAR_T16, BabyBear, 16, parameters(16, 7, 13, 18);
    KOALABEAR_T16_LANES, "koalabear_t16", KOALABEAR_T16, KoalaBear, 16, plonky3(16, 20, KOALABEAR_16);
    KOALABEAR_T24_LANES, "koalabear_t24", KOALABEAR_T24, KoalaBear, 24, plonky3(24, 23, KOALABEAR_24);
}

fn in_lanes<M: Machine, F: Number, const WIDTH: usize>(machine: &M, parameters: Parameters) {
    let permuted = |machine: &M| {
        require_elements(machine, WIDTH);
        let permutation = Permutation::<F>::new(parameters);
        let state = permutation.permute_in_lanes(machine, elements(machine, 0, WIDTH));
        machine.return_elements(std::array::from_fn::<_, WIDTH, _>(|place| state[place]), ELEMENT_BYTES);
    };
    machine.branch(machine.has(Feature::WordLanes), permuted, |machine| once::<_, F, WIDTH>(machine, parameters));
}

fn once<M: Machine, F: Number, const WIDTH: usize>(machine: &M, parameters: Parameters) {
    require_elements(machine, WIDTH);
    let permutation = Permutation::<F>::new(parameters);
    let state = elements(machine, 0, WIDTH);
    let mut constants = FromCode::<M, LOADED>::new(machine, "added", &permutation.sequence());
    let state = permutation.permute(machine, state, &mut constants);
    machine.return_elements(std::array::from_fn::<_, WIDTH, _>(|place| state[place]), ELEMENT_BYTES);
}

fn many<M: Machine, F: Number, const WIDTH: usize, const COUNT: usize>(machine: &M, parameters: Parameters) {
    require_elements(machine, COUNT * WIDTH);
    let permutation = Permutation::<F>::new(parameters);
    let states = std::array::from_fn::<[M::Fe; WIDTH], COUNT, _>(|number| {
        let state = elements(machine, number * WIDTH, WIDTH);
        called(machine, &permutation, std::array::from_fn(|place| state[place]))
    });
    machine.return_elements(states, ELEMENT_BYTES);
}

/// The permutation as a function, with all constants in slots.
pub(crate) fn called<M: Machine, F: Number, const WIDTH: usize>(
    machine: &M,
    permutation: &Permutation<F>,
    state: [M::Fe; WIDTH],
) -> [M::Fe; WIDTH] {
    machine.function("permute", state, |machine, state| {
        let state = permutation.permute(machine, state.to_vec(), &mut InSlots);
        std::array::from_fn::<_, WIDTH, _>(|place| state[place])
    })
}
