//! Number-theoretic transforms of signatures on lattices: a polynomial modulo q and xⁿ + 1 becomes its values at the n roots of xⁿ + 1.
//!
//! Cooley and Tukey's butterflies, the product with a root first (FIPS 204, algorithm 41; Falcon's specification of 2020, §3.7). With ψ of order
//! 2n and rev that reverses log₂ n bits, the twiddle of node k of the tree is ψ^rev(k), and output i is the value at ψ^(2·rev(i) + 1).
//!
//! A coefficient takes 8 bytes, as values of one limb do in memory where there are slots, so that calldata is copied once and code never looks at
//! single coefficients; or 2, as they do where elements are as short as the modulus. There are 256 slots at most, of which [`BLOCK`] hold values: the first layers take columns of coefficients, the others a block of
//! the ring each, and all goes through memory in between.

pub(crate) mod residues;
mod words;

use crate::Contract;
use num_bigint::BigUint;
use residue_formula::Fe;
use residue_ir::{Feature, Machine, WordOp};
use std::ops::Range;

/// `ntt/falcon512`.
pub const FALCON512: Contract = Contract {
    name: "ntt/falcon512",
    summary: "the transform of Falcon-512, modulo 12289 and x^512 + 1",
    interface: "8 bytes for each of 512 coefficients below 12289, that of 1 first; returns as many: value i is that at 49^(2 rev(i) + 1), rev of 9 bits",
    field: || BigUint::from(FALCON.modulus),
    text: |machine| transform::<_, 6>(machine, FALCON, LIMB_BYTES),
    precompile: None,
    example: || example(FALCON, LIMB_BYTES),
};

/// `ntt/falcon512_short`.
pub const FALCON512_SHORT: Contract = Contract {
    name: "ntt/falcon512_short",
    summary: "the transform of Falcon-512, with coefficients of two bytes",
    interface: "2 bytes for each of 512 coefficients below 12289, that of 1 first; returns as many: value i is that at 49^(2 rev(i) + 1), rev of 9 bits",
    field: || BigUint::from(FALCON.modulus),
    text: |machine| transform::<_, 6>(machine, FALCON, SHORT_BYTES),
    precompile: None,
    example: || example(FALCON, SHORT_BYTES),
};

/// `ntt/dilithium256`.
pub const DILITHIUM256: Contract = Contract {
    name: "ntt/dilithium256",
    summary: "the transform of ML-DSA, modulo 8380417 and x^256 + 1",
    interface: "8 bytes for each of 256 coefficients below 8380417, that of 1 first; returns as many: value i is that at 1753^(2 rev(i) + 1), rev of 8 bits",
    field: || BigUint::from(DILITHIUM.modulus),
    text: |machine| transform::<_, 4>(machine, DILITHIUM, LIMB_BYTES),
    precompile: None,
    example: || example(DILITHIUM, LIMB_BYTES),
};

/// Bytes of a coefficient, in calldata and in what is returned: those of a limb.
const LIMB_BYTES: u32 = 8;
/// The fewest that hold one of Falcon's.
const SHORT_BYTES: u32 = 2;

/// Coefficients that are in slots at once.
const BLOCK: usize = 128;
/// Twiddles that all blocks share.
const POWERS: usize = 32;
/// Slots for values, for what they are multiplied by, and for the rest of what [`BESIDE`] asks for.
pub(crate) const ROOMY: u32 = 250;
/// Twiddles of a layer and products that are in slots beside them: where there would be more, it is done in parts. The first for [`ROOMY`] interfaces;
/// code that keeps to slots which no EVM takes for opcodes has room for the second.
pub(crate) const BESIDE: [usize; 2] = [80, 40];

/// Integers modulo q, and a transform of polynomials over them modulo xⁿ + 1.
#[derive(Debug, Clone, Copy)]
pub struct Ring {
    /// q.
    pub modulus: u64,
    /// n.
    pub degree: usize,
    /// ψ: ψⁿ = −1.
    pub root: u64,
}

/// Falcon's specification of 2020, §3.1, for n = 512; ψ = 7² is that of its program, `vrfy.c`.
pub const FALCON: Ring = Ring { modulus: 12_289, degree: 512, root: 49 };

/// FIPS 204, §4 and appendix B.
pub const DILITHIUM: Ring = Ring { modulus: 8_380_417, degree: 256, root: 1753 };

impl Ring {
    /// ψ^rev(node).
    pub fn twiddle(self, node: usize) -> u64 {
        self.power(reversed(node, self.degree))
    }

    /// The root of xⁿ + 1 at which output `place` is the value.
    pub fn root_of(self, place: usize) -> u64 {
        self.power(2 * reversed(place, self.degree) + 1)
    }

    fn power(self, exponent: usize) -> u64 {
        (0..exponent).fold(1, |power, _| power * self.root % self.modulus)
    }

    /// The inverse of ψ^rev(node): ψ^(2n − rev(node)).
    pub(crate) fn inverse_twiddle(self, node: usize) -> u64 {
        self.power(2 * self.degree - reversed(node, self.degree))
    }
}

/// `number` with its log₂ `count` bits in reverse order.
fn reversed(number: usize, count: usize) -> usize {
    number.reverse_bits() >> (usize::BITS - count.trailing_zeros())
}

/// Powers read by all blocks: ψ^rev(0) and so on, and the next one.
pub(crate) struct Powers<F> {
    pub first: Vec<F>,
    next: F,
}

impl<F: Fe> Powers<F> {
    /// `count` of them, a power of two: of ψ^rev(count) and its inverse. rev(a + b) is rev(a) + rev(b) where a and b have no bit in common, and
    /// ψ^rev(k) is the square of ψ^rev(2k).
    pub fn new<M: Machine<Fe = F>>(machine: &M, count: usize, [next, inverse]: [F; 2]) -> Self {
        let mut singles = vec![next * next];
        while singles.len() < count.trailing_zeros() as usize {
            // u32 to usize widens
            let last = singles[singles.len() - 1];
            singles.push(last * last);
        }
        let mut first = vec![next * inverse]; // 1, in a slot beside the others.
        while let Some(single) = singles.pop() {
            let others: Vec<F> = first[1..].iter().map(|&power| single * power).collect();
            first.push(single);
            first.extend(others);
        }
        machine.line_up(&first);
        Self { first, next }
    }
}

/// The transform of calldata, as coefficients of a polynomial over the ring.
fn transform<M: Machine, const GIVEN: usize>(machine: &M, ring: Ring, coefficient_bytes: u32) {
    let [more, fewer] =
        BESIDE.map(|beside| move |machine: &M| within::<_, GIVEN>(machine, ring, coefficient_bytes, beside));
    let in_slots = |machine: &M| machine.branch(machine.has(Feature::Slots(ROOMY)), more, fewer);
    let in_words = |machine: &M| words::transform(machine, ring);
    match coefficient_bytes {
        LIMB_BYTES => machine.branch(machine.has(Feature::WordLanes), in_words, in_slots),
        _ => in_slots(machine),
    }
}

/// The same with so many slots for twiddles of a layer and products.
///
/// Of twiddles `GIVEN` come out of code, as values: products of constants would be constants, which are more than there are slots.
fn within<M: Machine, const GIVEN: usize>(machine: &M, ring: Ring, coefficient_bytes: u32, beside: usize) {
    let rows = ring.degree / BLOCK;
    let columns = BLOCK / rows;
    let at = |place: usize| u32::try_from(place).expect("polynomials are short") * coefficient_bytes;
    let size = machine.small(at(ring.degree).into());
    machine.require(machine.word_op(WordOp::Eq, machine.calldata_size(), size));
    machine.scratch(at(ring.degree));
    machine.copy_calldata(machine.small(0), machine.small(0), size);
    let layers = BLOCK.trailing_zeros() as usize; // u32 to usize widens
    let lasts = (rows..2 * rows).map(|node| ring.twiddle(node << (layers - 1)));
    let given: Vec<BigUint> =
        [ring.twiddle(POWERS), ring.inverse_twiddle(POWERS)].into_iter().chain(lasts).map(BigUint::from).collect();
    let table = machine.table::<[M::Fe; GIVEN]>("twiddles", &[given]);
    let given = machine.lookup(table, machine.small(0));
    let powers = Powers::new(machine, POWERS, [given[0], given[1]]);

    for column in (0..BLOCK).step_by(columns) {
        let place = |row: usize| at(row * BLOCK + column);
        let take = |row: usize| machine.take_scratch(place(row), columns, coefficient_bytes);
        let mut values: Vec<M::Fe> = (0..rows).flat_map(take).collect();
        machine.line_up(&values);
        let mut nodes = 1;
        while nodes < rows {
            layer(machine, &mut values, Order::Ascending, (nodes, beside), |of| powers.first[nodes..][of].to_vec());
            nodes *= 2;
        }
        for (row, values) in values.chunks(columns).enumerate() {
            machine.put_scratch(place(row), coefficient_bytes, values);
        }
    }
    for (block, &last) in given[2..].iter().enumerate() {
        let place = at(block * BLOCK);
        let mut values = machine.take_scratch(place, BLOCK, coefficient_bytes);
        machine.line_up(&values);
        let mut firsts = firsts(last, layers);
        let mut nodes = 1;
        while let Some(first) = firsts.pop() {
            layer(machine, &mut values, Order::Ascending, (nodes, beside), |of| twiddles(machine, &powers, first, of));
            nodes *= 2;
        }
        machine.put_scratch(place, coefficient_bytes, &values);
    }
    machine.return_scratch(machine.small(0), size);
}

/// First twiddles of so many layers of a block, the last layer's first: each is the square of that of the layer after it.
pub(crate) fn firsts<F: Fe>(last: F, layers: usize) -> Vec<F> {
    let mut firsts = vec![last];
    while firsts.len() < layers {
        let last = firsts[firsts.len() - 1];
        firsts.push(last * last);
    }
    firsts
}

/// Order of the coefficients of a node: that of 1 comes first, or last. Nodes ascend in both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    Ascending,
    Descending,
}

/// Those of the nodes `of` of a layer of a block, whose first one has the twiddle `first`.
pub(crate) fn twiddles<M: Machine>(machine: &M, powers: &Powers<M::Fe>, first: M::Fe, of: Range<usize>) -> Vec<M::Fe> {
    if of == (0..1) {
        return vec![first];
    }
    let mut twiddles = Vec::new();
    for start in of.clone().step_by(POWERS) {
        let first = if start < POWERS { first } else { first * powers.next };
        let within = start % POWERS..(start % POWERS + (of.end - start).min(POWERS));
        twiddles.extend(powers.first[within].iter().map(|&power| power * first));
    }
    machine.line_up(&twiddles);
    twiddles
}

/// Pairs of a layer with so many nodes, as places of the first and the second, and the node of each; in parts of so many pairs that no more than
/// `beside` twiddles and products are there together.
fn parts(count: usize, (nodes, beside): (usize, usize)) -> Vec<Vec<(usize, usize, usize)>> {
    let half = count / nodes / 2;
    // A product takes the place of its twiddle where that serves once.
    let needed = |pairs: usize| if half > 1 { pairs + pairs.div_ceil(half) } else { pairs };
    let mut at_once = count / 2;
    while needed(at_once) > beside {
        at_once /= 2;
    }
    let pairs = (0..count / 2).map(|pair| (pair / half, pair / half * 2 * half + pair % half));
    let pairs: Vec<_> = pairs.map(|(node, first)| (first, first + half, node)).collect();
    pairs.chunks(at_once).map(<[_]>::to_vec).collect()
}

/// The nodes of a part.
fn nodes_of(part: &[(usize, usize, usize)]) -> Range<usize> {
    part[0].2..part[part.len() - 1].2 + 1
}

/// A layer with so many nodes: (a, b) ↦ (a + t·b, a − t·b) for the halves a and b of each node's values and its twiddle t; in parts, so that no more
/// than `beside` twiddles and products are there together.
pub(crate) fn layer<M: Machine>(
    machine: &M,
    values: &mut [M::Fe],
    order: Order,
    (nodes, beside): (usize, usize),
    twiddles: impl Fn(Range<usize>) -> Vec<M::Fe>,
) {
    for part in parts(values.len(), (nodes, beside)) {
        let of = nodes_of(&part);
        let twiddles = twiddles(of.clone());
        let halves = |&(first, second, _): &(usize, usize, usize)| match order {
            Order::Ascending => (first, second),
            Order::Descending => (second, first),
        };
        let multiply = |pair: &(usize, usize, usize)| values[halves(pair).1] * twiddles[pair.2 - of.start];
        let products: Vec<M::Fe> = part.iter().map(multiply).collect();
        machine.line_up(&products);
        let kept: Vec<M::Fe> = part.iter().map(|pair| values[halves(pair).0]).collect();
        let sums = |values: &mut [M::Fe]| {
            for ((&(first, ..), &kept), &product) in part.iter().zip(&kept).zip(&products) {
                values[first] = kept + product;
            }
        };
        // Of two rows that is made first in whose place the factors were.
        if order == Order::Descending {
            sums(values);
        }
        for ((&(_, second, _), &kept), &product) in part.iter().zip(&kept).zip(&products) {
            values[second] = kept - product;
        }
        if order == Order::Ascending {
            sums(values);
        }
    }
    machine.line_up(values);
}

/// A layer undone, with coefficients descending: twice what [`layer`] was given. Twiddles are −1/t.
pub(crate) fn back<M: Machine>(
    machine: &M,
    values: &mut [M::Fe],
    (nodes, beside): (usize, usize),
    twiddles: impl Fn(Range<usize>) -> Vec<M::Fe>,
) {
    for part in parts(values.len(), (nodes, beside)) {
        let of = nodes_of(&part);
        let twiddles = twiddles(of.clone());
        let differences: Vec<M::Fe> = part.iter().map(|&(first, second, _)| values[second] - values[first]).collect();
        machine.line_up(&differences);
        for &(first, second, _) in &part {
            values[second] = values[first] + values[second];
        }
        for (&(first, _, node), &difference) in part.iter().zip(&differences) {
            values[first] = difference * twiddles[node - of.start];
        }
    }
    machine.line_up(values);
}

/// 1, 2, … as coefficients.
fn example(ring: Ring, coefficient_bytes: u32) -> Vec<u8> {
    let first = 8 - coefficient_bytes as usize; // u32 to usize widens
    (1..=ring.degree as u64).flat_map(|number| number.to_be_bytes().into_iter().skip(first)).collect() // usize to u64 too
}
