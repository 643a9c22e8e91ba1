//! Poseidon2's permutation. Grassi, Khovratovich and Schofnegger 2023 (2023/323).

use crate::poseidon::LOADED;
use crate::poseidon::constants::{Constants, FromCode};
use crate::poseidon::grain::{Grain, Seed};
use num_bigint::BigUint;
use residue_formula::{Fe, Number};
use residue_ir::Machine;

/// Rounds with S-boxes on the whole state: half before the partial ones, half after.
const FULL_ROUNDS: usize = 8;

/// Parameters of a permutation.
#[derive(Debug, Clone, Copy)]
pub struct Parameters {
    /// t.
    pub width: usize,
    /// The S-box is x to this power.
    pub power: u32,
    /// Rounds with one S-box.
    pub partial_rounds: usize,
    /// Its matrices.
    pub matrices: Matrices,
}

/// Source of the matrices.
#[derive(Debug, Clone, Copy)]
pub enum Matrices {
    /// The paper and its authors' generator.
    Authors {
        /// Diagonals of the internal matrix that were generated and not taken, as one of the matrix's first 2t powers has no irreducible
        /// characteristic polynomial (2023/323, §5.3). There are none for t = 2 and 3.
        diagonals_left_out: usize,
    },
    /// Plonky3: M₄ is circulant, and the diagonal of the internal matrix less 1 has these numbers.
    Plonky3(&'static [Entry]),
}

/// A number of a diagonal: ±n/2ᵏ.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    /// ±n.
    pub number: i8,
    /// k.
    pub halvings: u32,
}

/// The permutation with the constants of its authors' generator (`poseidon2_rust_params.sage`).
#[derive(Debug)]
pub struct Permutation<F> {
    pub(super) power: u32,
    /// True if M₄ is circulant.
    is_circulant: bool,
    /// Constants added before each round, to the whole state or to its first element.
    added: Vec<Vec<F>>,
    /// The diagonal of the internal matrix less 1; its other elements are 1.
    pub(super) diagonal: Vec<F>,
}

impl<F: Number> Permutation<F> {
    /// The permutation with these parameters.
    pub fn new(parameters: Parameters) -> Self {
        let Parameters { width, power, partial_rounds, matrices } = parameters;
        let modulus = F::modulus();
        let narrow = |value: usize| u32::try_from(value).expect("widths and rounds are few");
        let mut grain = Grain::new(Seed {
            modulus_bits: u32::try_from(modulus.bits()).expect("fields are narrow"),
            width: narrow(width),
            full_rounds: narrow(FULL_ROUNDS),
            partial_rounds: narrow(partial_rounds),
        });
        let element = |number: BigUint| F::from_canonical(&(number % &modulus)).expect("it is below the modulus");
        let is_partial = |round: usize| (FULL_ROUNDS / 2..FULL_ROUNDS / 2 + partial_rounds).contains(&round);
        let added = (0..FULL_ROUNDS + partial_rounds)
            .map(|round| if is_partial(round) { 1 } else { width })
            .map(|count| (0..count).map(|_| element(grain.number_below(&modulus))).collect())
            .collect();
        let small = |value: u32| element(value.into());
        let diagonal = match (matrices, width) {
            (Matrices::Plonky3(entries), _) => entries.iter().map(|entry| entry.value()).collect(),
            (_, 2) => vec![small(1), small(2)],
            (_, 3) => vec![small(1), small(1), small(2)],
            (Matrices::Authors { diagonals_left_out }, _) => {
                for _ in 0..diagonals_left_out * width {
                    grain.number();
                }
                (0..width).map(|_| element(grain.number()) - F::ONE).collect()
            }
        };
        Self { power, is_circulant: matches!(matrices, Matrices::Plonky3(_)), added, diagonal }
    }

    /// The constants of partial rounds.
    pub(super) fn partial(&self) -> impl Iterator<Item = &F> {
        self.added.iter().filter(|added| added.len() < self.diagonal.len()).map(|added| &added[0])
    }

    /// The state after it, with its partial rounds in lanes, and the constants of the others from a table, which other interfaces do not keep.
    pub fn permute_in_lanes<M: Machine>(&self, machine: &M, state: Vec<M::Fe>) -> Vec<M::Fe> {
        let (first, others) = self.added.split_at(FULL_ROUNDS / 2);
        let last = &others[others.len() - FULL_ROUNDS / 2..];
        let sequence: Vec<BigUint> = first.iter().chain(last).flatten().map(|value| value.to_canonical()).collect();
        let mut constants = FromCode::<M, LOADED>::new(machine, "added in full rounds", &sequence);
        let state = self.rounds(machine, external(&state, self.is_circulant), first, &mut constants);
        let state = self.partial_in_lanes(machine, &state);
        self.rounds(machine, state, last, &mut constants)
    }

    /// The state after it.
    pub fn permute<M: Machine>(&self, machine: &M, state: Vec<M::Fe>, constants: &mut impl Constants<M>) -> Vec<M::Fe> {
        let state = external(&state, self.is_circulant);
        self.rounds(machine, state, &self.added, constants)
    }

    /// The state after rounds with these constants.
    fn rounds<M: Machine>(
        &self,
        machine: &M,
        mut state: Vec<M::Fe>,
        added: &[Vec<F>],
        constants: &mut impl Constants<M>,
    ) -> Vec<M::Fe> {
        for added in added {
            let sums = state.iter().zip(added).map(|(&x, c)| x + constants.next(machine, &c.to_canonical()));
            let sums: Vec<M::Fe> = sums.collect();
            for (x, sum) in state.iter_mut().zip(&sums) {
                *x = power(*sum, self.power);
            }
            state = if added.len() == state.len() {
                external(&state, self.is_circulant)
            } else {
                self.internal(machine, &state)
            };
        }
        state
    }

    /// The internal matrix: Σ xⱼ + dᵢ·xᵢ.
    fn internal<M: Machine>(&self, machine: &M, state: &[M::Fe]) -> Vec<M::Fe> {
        // What comes out of the S-box last, so that the other sums need not wait for it.
        let sum = state[1..].iter().copied().reduce(|sum, x| sum + x).expect("a state has two elements");
        let sum = sum + state[0];
        let part = |(&x, &d): (&M::Fe, &F)| match d {
            d if d == F::ONE => sum + x,
            d if d == F::ONE + F::ONE => sum + x.double(),
            d => sum + x * machine.constant(&d.to_canonical()),
        };
        state.iter().zip(&self.diagonal).map(part).collect()
    }

    /// The constants in the order in which [`Self::permute`] takes them.
    pub fn sequence(&self) -> Vec<BigUint> {
        self.added.iter().flatten().map(|value| value.to_canonical()).collect()
    }
}

impl Entry {
    fn value<F: Number>(self) -> F {
        let small = |value: u8| F::from_canonical(&value.into()).expect("moduli are longer than a byte");
        let size = small(self.number.unsigned_abs());
        let half = F::from_canonical(&((F::modulus() + 1u32) / 2u32)).expect("it is below the modulus");
        let value = (0..self.halvings).fold(size, |value, _| value * half);
        if self.number < 0 { -value } else { value }
    }
}

/// x ↦ xᵈ.
fn power<F: Fe>(x: F, d: u32) -> F {
    match d {
        3 => x.square() * x,
        5 => x.square().square() * x,
        7 => (x.square() * x).square() * x,
        _ => unreachable!("no field here has the S-box x^{d}"),
    }
}

/// The external matrix: 2 on the diagonal and 1 elsewhere for t = 2 and 3, a matrix M₄ for t = 4, and 2·M₄ on the diagonal and M₄
/// elsewhere for multiples of 4. 2023/323, §5.1.
fn external<F: Fe>(state: &[F], is_circulant: bool) -> Vec<F> {
    let m4 = if is_circulant { circulant } else { m4 };
    if state.len() < 4 {
        let sum = state.iter().copied().reduce(|sum, x| sum + x).expect("a state has two elements");
        return state.iter().map(|&x| sum + x).collect();
    }
    let blocks: Vec<[F; 4]> = state.chunks_exact(4).map(|block| m4([block[0], block[1], block[2], block[3]])).collect();
    if blocks.len() == 1 {
        return blocks[0].to_vec();
    }
    let sums: [F; 4] = std::array::from_fn(|place| {
        blocks.iter().map(|block| block[place]).reduce(|sum, x| sum + x).expect("there are blocks")
    });
    blocks.iter().flat_map(|block| std::array::from_fn::<F, 4, _>(|place| block[place] + sums[place])).collect()
}

/// (5 7 1 3; 4 6 1 1; 1 3 5 7; 1 1 4 6)·x. 2023/323, appendix B.
fn m4<F: Fe>([a, b, c, d]: [F; 4]) -> [F; 4] {
    let t0 = a + b; //                                  x₁ + x₂
    let t1 = c + d; //                                  x₃ + x₄
    let t2 = b.double() + t1; //                        2x₂ + x₃ + x₄
    let t3 = d.double() + t0; //                        x₁ + x₂ + 2x₄
    let t4 = t1.double().double() + t3; //              x₁ + x₂ + 4x₃ + 6x₄
    let t5 = t0.double().double() + t2; //              4x₁ + 6x₂ + x₃ + x₄
    [t3 + t5, t5, t2 + t4, t4]
}

/// (2 3 1 1; 1 2 3 1; 1 1 2 3; 3 1 1 2)·x. Plonky3, p3-poseidon2, `MDSMat4`.
fn circulant<F: Fe>([a, b, c, d]: [F; 4]) -> [F; 4] {
    let (t0, t1) = (a + b, c + d);
    let all = t0 + t1;
    let (with_b, with_d) = (all + b, all + d);
    [with_b + t0, with_b + c.double(), with_d + t1, with_d + a.double()]
}
