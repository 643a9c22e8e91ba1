//! Poseidon's permutation with few products and few constants. Grassi, Khovratovich, Rechberger, Roy and Schofnegger 2019 (2019/458).
//!
//! A partial round takes (x, y), y having t − 1 elements, to M·((x + c)⁵, y + d). Seen from x alone the partial rounds are a linear system
//! with one input, u = (x + c)⁵, and one output, the next x: x′ = m·u + v·y, y′ = w·u + A·y, where M = (m v; w A). Such a system has an
//! observer form (Luenberger 1966, “Observers for multivariable systems”; Kailath 1980, §2.3): for a basis z of y with z₁ = v·y
//!
//! ```text
//! x′ = m·u + z₁,   zₖ′ = zₖ₊₁ − aₖ·z₁ + bₖ·u,   with A's characteristic polynomial λⁿ + a₁·λⁿ⁻¹ + … + aₙ
//! ```
//!
//! The 2t − 1 constants are those of every round, where sparse matrices (appendix B of the paper) have as many in each. d goes into constants
//! of later rounds. x = λ·x̂ and z = λ·ẑ change m and b to λ⁴·m and λ⁴·b: λ is chosen so that one of them is 1 or −1, if that is possible.
//! The matrices before and after the partial rounds take the change of basis.

use super::constants::Constants;
use super::grain::{Grain, Seed};
use super::matrix::{Matrix, dot};
use num_bigint::BigUint;
use residue_formula::{Fe, Number};
use residue_ir::Machine;

/// Rounds with S-boxes on the whole state: half before the partial ones, half after.
const FULL_ROUNDS: usize = 8;
const HALF: usize = FULL_ROUNDS / 2;

/// The permutation as a hash: the first element of the state is 0 before it, and is the hash after it.
#[derive(Debug)]
pub struct Hash<F> {
    /// Constants added before each round with a full S-box layer.
    full: Vec<Vec<F>>,
    /// Constants added to x̂ before each partial round.
    partial: Vec<F>,
    mds: Matrix<F>,
    /// In place of `mds` before the partial rounds, and in the last of them.
    enter: Matrix<F>,
    leave: Matrix<F>,
    /// λ⁴·m and λ⁴·bₖ: what u is multiplied by.
    direct: F,
    inputs: Vec<F>,
    /// −aₖ.
    feedback: Vec<F>,
}

impl<F: Number> Hash<F> {
    /// The hash with circomlib's constants: the first numbers of [`Grain`] below the modulus are added, the next 2t modulo it are the x and
    /// y of M = (1/(xᵢ + yⱼ)).
    pub fn new(width: usize, partial_rounds: usize) -> Self {
        let modulus = F::modulus();
        let narrow = |value: usize| u32::try_from(value).expect("widths and rounds are few");
        let seed = Seed {
            modulus_bits: u32::try_from(modulus.bits()).expect("fields are narrow"),
            width: narrow(width),
            full_rounds: narrow(FULL_ROUNDS),
            partial_rounds: narrow(partial_rounds),
        };
        let mut grain = Grain::new(seed);
        let element = |number: BigUint| F::from_canonical(&(number % &modulus)).expect("it is below the modulus");
        let constants: Vec<Vec<F>> = (0..FULL_ROUNDS + partial_rounds)
            .map(|_| (0..width).map(|_| element(grain.number_below(&modulus))).collect())
            .collect();
        let points: Vec<F> = (0..2 * width).map(|_| element(grain.number())).collect();
        let (x, y) = points.split_at(width);
        let mds = Matrix::of(width, |row, column| {
            (x[row] + y[column]).inverse().expect("the sums of the generated numbers are not zero")
        });
        Self::with(&constants, mds)
    }

    /// The hash with these constants for every round.
    fn with(constants: &[Vec<F>], mds: Matrix<F>) -> Self {
        let (first, rest) = constants.split_at(HALF);
        let (partial, last) = rest.split_at(rest.len() - HALF);
        let size = mds.0.len() - 1;
        let m = mds.0[0][0];
        let v = &mds.0[0][1..];
        let w: Vec<F> = mds.0[1..].iter().map(|row| row[0]).collect();
        let a = Matrix(mds.0[1..].iter().map(|row| row[1..].to_vec()).collect());
        let coefficients = a.characteristic();
        // z = T·y: t₁ = v, tₖ₊₁ = tₖ·A + aₖ·v.
        let mut rows = vec![v.to_vec()];
        for k in 1..size {
            let moved = a.times_left(&rows[k - 1]);
            rows.push(moved.iter().zip(v).map(|(&moved, &v)| moved + coefficients[k - 1] * v).collect());
        }
        let to_z = Matrix(rows);
        let b = to_z.times(&w);
        let (lambda, fifth) = {
            let inputs: Vec<F> = std::iter::once(m).chain(b.iter().copied()).collect();
            scale(&inputs)
        };
        let fourth = lambda.square().square();

        // What d adds to x and y of the next round, beyond what u and y of this one make of them.
        let (mut to_x, mut to_y) = (F::ZERO, vec![F::ZERO; size]);
        let inverse = lambda.inverse().expect("λ is not zero");
        let mut added = Vec::new();
        for constants in partial {
            added.push((constants[0] + to_x) * inverse);
            let held: Vec<F> = to_y.iter().zip(&constants[1..]).map(|(&held, &d)| held + d).collect();
            (to_x, to_y) = (dot(v, &held), a.times(&held));
        }
        let mut full: Vec<Vec<F>> = first.iter().chain(last).cloned().collect();
        for (constant, held) in full[HALF].iter_mut().zip(std::iter::once(to_x).chain(to_y)) {
            *constant = *constant + held;
        }
        // The first element is 0 before the first round.
        let known = full[0][0].square().square() * full[0][0];
        let from_known = mds.times(&std::iter::once(known).chain(vec![F::ZERO; size]).collect::<Vec<_>>());
        for (constant, held) in full[1].iter_mut().zip(from_known) {
            *constant = *constant + held;
        }

        let widened = |first: F, inner: &Matrix<F>| {
            Matrix::of(size + 1, |row, column| match (row, column) {
                (0, 0) => first,
                (0, _) | (_, 0) => F::ZERO,
                _ => inner.0[row - 1][column - 1],
            })
        };
        let into = widened(F::ONE, &to_z).product(&mds);
        let enter = Matrix::of(size + 1, |row, column| into.0[row][column] * inverse);
        let from_z = to_z.inverse().expect("the system is observable: v·Aᵏ are independent");
        let back = mds.product(&widened(fifth, &from_z));
        let leave =
            Matrix::of(size + 1, |row, column| if column == 0 { back.0[row][0] } else { back.0[row][column] * lambda });
        Self {
            full,
            partial: added,
            mds,
            enter,
            leave,
            direct: m * fourth,
            inputs: b.into_iter().map(|b| b * fourth).collect(),
            feedback: coefficients.into_iter().map(|a| -a).collect(),
        }
    }

    /// t − 1 elements ↦ their hash.
    pub fn hash<M: Machine>(&self, machine: &M, inputs: &[M::Fe], constants: &mut impl Constants<M>) -> M::Fe {
        let mut state = Vec::new();
        for (&input, c) in inputs.iter().zip(&self.full[0][1..]) {
            state.push(fifth(input + constants.next(machine, &c.to_canonical())));
        }
        let without_first: Vec<Vec<F>> = self.mds.0.iter().map(|row| row[1..].to_vec()).collect();
        state = product(machine, &without_first, &state);
        for (round, added) in self.full.iter().enumerate().take(HALF).skip(1) {
            state = boxes(machine, &state, added, constants);
            state = product(machine, if round + 1 < HALF { &self.mds.0 } else { &self.enter.0 }, &state);
        }
        for (round, added) in self.partial.iter().enumerate() {
            let u = fifth(state[0] + constants.next(machine, &added.to_canonical()));
            if round + 1 == self.partial.len() {
                state[0] = u;
                state = product(machine, &self.leave.0, &state);
                continue;
            }
            let z = state[1];
            let mut next = vec![plus(machine, Some(z), self.direct, u)];
            for (k, (&a, &b)) in self.feedback.iter().zip(&self.inputs).enumerate() {
                let fed = plus(machine, state.get(k + 2).copied(), a, z);
                next.push(plus(machine, Some(fed), b, u));
            }
            state = next;
        }
        for added in &self.full[HALF..FULL_ROUNDS - 1] {
            state = boxes(machine, &state, added, constants);
            state = product(machine, &self.mds.0, &state);
        }
        state = boxes(machine, &state, &self.full[FULL_ROUNDS - 1], constants);
        product(machine, &self.mds.0[..1], &state)[0]
    }

    /// The constants in the order in which [`Self::hash`] takes them.
    pub fn sequence(&self) -> Vec<BigUint> {
        let (first, last) = self.full.split_at(HALF);
        let first = first.iter().flatten().skip(1);
        first.chain(&self.partial).chain(last.iter().flatten()).map(|value| value.to_canonical()).collect()
    }
}

/// x ↦ x⁵.
fn fifth<F: Fe>(x: F) -> F {
    x.square().square() * x
}

/// S-boxes on the whole state, after these constants.
fn boxes<M: Machine, F: Number>(
    machine: &M,
    state: &[M::Fe],
    added: &[F],
    constants: &mut impl Constants<M>,
) -> Vec<M::Fe> {
    let sums = state.iter().zip(added).map(|(&x, c)| x + constants.next(machine, &c.to_canonical()));
    let sums: Vec<M::Fe> = sums.collect();
    sums.into_iter().map(fifth).collect()
}

/// The matrix with these rows times a vector.
fn product<M: Machine, F: Number>(machine: &M, rows: &[Vec<F>], vector: &[M::Fe]) -> Vec<M::Fe> {
    let of_row = |row: &Vec<F>| {
        let sum = row.iter().zip(vector).fold(None, |sum, (&factor, &x)| match factor == F::ZERO {
            true => sum,
            false => Some(plus(machine, sum, factor, x)),
        });
        sum.expect("no row of an invertible matrix is zero")
    };
    rows.iter().map(of_row).collect()
}

/// sum + factor·x.
fn plus<M: Machine, F: Number>(machine: &M, sum: Option<M::Fe>, factor: F, x: M::Fe) -> M::Fe {
    match sum {
        Some(sum) if factor == F::ONE => sum + x,
        Some(sum) if factor == -F::ONE => sum - x,
        None if factor == F::ONE => x,
        sum => {
            let product = x * machine.constant(&factor.to_canonical());
            sum.map_or(product, |sum| sum + product)
        }
    }
}

/// λ, so that λ⁴ times one of the factors is 1 or −1, and λ⁵; 1 if there is none.
fn scale<F: Number>(factors: &[F]) -> (F, F) {
    let wanted = factors.iter().flat_map(|factor| [*factor, -*factor]).filter_map(|factor| factor.inverse());
    let lambda = wanted.filter_map(fourth_root).next().unwrap_or(F::ONE);
    (lambda, lambda.square().square() * lambda)
}

/// A fourth root.
fn fourth_root<F: Number>(value: F) -> Option<F> {
    let root = square_root(value)?;
    [root, -root].into_iter().find_map(square_root)
}

/// A square root, by Tonelli 1891 and Shanks 1973: Cohen, A Course in Computational Algebraic Number Theory, algorithm 1.5.1.
fn square_root<F: Number>(value: F) -> Option<F> {
    let order = F::modulus() - 1u32;
    let is_square = |value: F| value.pow(&(&order >> 1u32)) == F::ONE;
    if value == F::ZERO || !is_square(value) {
        return (value == F::ZERO).then_some(value);
    }
    let twos = order.trailing_zeros().expect("the modulus is above 1");
    let odd: BigUint = &order >> twos;
    let mut nonresidue = F::ONE;
    while is_square(nonresidue) {
        nonresidue = nonresidue + F::ONE;
    }
    let mut generator = nonresidue.pow(&odd);
    let mut root = value.pow(&((&odd + 1u32) >> 1u32));
    let mut rest = value.pow(&odd);
    let mut order_bits = twos;
    while rest != F::ONE {
        let mut bits = 0;
        let mut power = rest;
        while power != F::ONE {
            power = power.square();
            bits += 1;
        }
        for _ in bits + 1..order_bits {
            generator = generator.square();
        }
        root = root * generator;
        generator = generator.square();
        rest = rest * generator;
        order_bits = bits;
    }
    Some(root)
}

#[cfg(test)]
mod tests {
    use super::super::constants::{FromCode, InSlots};
    use super::*;
    use residue_ir::Numbers;
    use residue_modular::fields::Bn254Fr;

    #[test]
    fn roots_are_roots() {
        for value in (1..40).map(Bn254Fr::from_u64) {
            let square = value.square();
            assert_eq!(square_root(square).unwrap().square(), square);
            let fourth = square.square();
            assert_eq!(fourth_root(fourth).unwrap().square().square(), fourth);
        }
    }

    /// The hash as the paper writes it, with M and all constants in every round.
    fn plain(width: usize, partial_rounds: usize, inputs: &[Bn254Fr]) -> Bn254Fr {
        let seed = Seed {
            modulus_bits: 254,
            width: width as u32,
            full_rounds: FULL_ROUNDS as u32,
            partial_rounds: partial_rounds as u32,
        };
        let mut grain = Grain::new(seed);
        let modulus = Bn254Fr::modulus();
        let rounds = FULL_ROUNDS + partial_rounds;
        let constants: Vec<Bn254Fr> =
            (0..rounds * width).map(|_| Bn254Fr::from_canonical(&grain.number_below(&modulus)).unwrap()).collect();
        let points: Vec<Bn254Fr> =
            (0..2 * width).map(|_| Bn254Fr::from_canonical(&(grain.number() % &modulus)).unwrap()).collect();
        let mds = Matrix::of(width, |row, column| (points[row] + points[width + column]).inverse().unwrap());
        let mut state: Vec<Bn254Fr> = std::iter::once(Bn254Fr::ZERO).chain(inputs.iter().copied()).collect();
        for (round, added) in constants.chunks(width).enumerate() {
            state = state.iter().zip(added).map(|(&x, &c)| x + c).collect();
            let boxes = if (HALF..HALF + partial_rounds).contains(&round) { 1 } else { width };
            state[..boxes].iter_mut().for_each(|x| *x = fifth(*x));
            state = mds.times(&state);
        }
        state[0]
    }

    #[test]
    fn few_products_give_what_the_paper_has() {
        for (width, partial_rounds) in [(2, 56), (3, 57), (4, 56), (5, 60), (6, 60)] {
            let inputs: Vec<Bn254Fr> =
                (7..).map(Bn254Fr::from_u64).map(|x| x.pow(&99u32.into())).take(width - 1).collect();
            let machine = Numbers::<Bn254Fr>::new(Vec::new());
            let hash = Hash::<Bn254Fr>::new(width, partial_rounds);
            assert_eq!(hash.hash(&machine, &inputs, &mut InSlots), plain(width, partial_rounds, &inputs), "{width}");
            let mut from_code = FromCode::<_, 16>::new(&machine, "constants", &hash.sequence());
            assert_eq!(hash.hash(&machine, &inputs, &mut from_code), plain(width, partial_rounds, &inputs), "{width}");
        }
    }
}
