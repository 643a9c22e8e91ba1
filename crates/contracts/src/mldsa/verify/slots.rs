//! Arithmetic of verification where instructions do it: in slots of one limb and of four.
//!
//! Four numbers stand in a word, as a key has them, and such words are elements of ℤ / (2²⁵⁶ − 1), where x = 2⁶⁴ is a fourth root of 1: a product of two
//! is a product of polynomials modulo x⁴ − 1, as long as sums fit 64 bits. Modulo 2²⁵⁶ − 3 it is one modulo x⁴ − 3. Of both the product modulo x⁴ − ζ
//! follows: with (low, high) the parts below x⁴ and from x⁴ on, low + ζ·high = p + (ζ − 1) / 2·(r − p) for p = low + high and r = low + 3·high. So a word
//! of a key is taken as it is in calldata, two numbers in a lane: N = L + 2³²·H, and L·a + H·b = N·a + H·(b − 2³²·a), exactly. H is N·2³² modulo 2⁶³,
//! lane by lane from four bytes before N on, read four bytes later.
//!
//! Lanes are one by one elements modulo k·q: k is such that a lane k·v, for v below q, has in front what [`Scheme::high_bits`] are of v, and it has an
//! inverse in both rings of words, so that numbers are small there.
//!
//! The first two layers are of whole words, with signed twiddles: |z|·(1 + |t|)² fits lanes. They leave four blocks of 16 words, and the rest is done
//! block by block.

use super::{Cell, POLYNOMIAL, Verifier, WORK, lanes};
use crate::mldsa::{MODULUS, Scheme, narrow};
use crate::ntt::DILITHIUM;
use crate::ntt::residues::WORDS;
use crate::words::Words;
use num_bigint::BigUint;
use residue_ir::{Machine, WordOp};
use ruint::aliases::U256;
use std::collections::BTreeMap;

/// Blocks of a polynomial, words and numbers of one, and the bytes of it.
const BLOCKS: usize = 4;
const BLOCK_WORDS: usize = WORDS / BLOCKS;
const BLOCK_NUMBERS: usize = 4 * BLOCK_WORDS;
const BLOCK: u64 = 32 * BLOCK_WORDS as u64;
/// Numbers of a key that are taken together.
const AT_ONCE: usize = 128;
/// Bytes of an element of one limb, and of one of four.
const NUMBER: u32 = 8;
const WORD: u32 = 32;

/// Places in scratch memory; the key is there before.
#[derive(Debug, Clone, Copy)]
pub(super) struct Areas {
    /// A block of all rows, modulo x⁴ − 1 and then as they are.
    rows: u64,
    /// Four blocks of all polynomials, and then four of all rows.
    blocks: u64,
    /// Polynomials as z is decoded.
    pub fields: u64,
    /// One block of all polynomials; rows modulo x⁴ − 3.
    vector: u64,
    /// A block of all pairs of a key's polynomials, and the higher halves of its lanes: each after 32 bytes that are 0.
    key: u64,
    pub halves: u64,
    pub end: u64,
}

impl Areas {
    pub(super) const fn of(scheme: Scheme) -> Self {
        let columns = scheme.columns as u64 + 1; // few
        let rows = BLOCK * scheme.rows as u64; // few
        let blocks = if rows > POLYNOMIAL { rows } else { POLYNOMIAL };
        let vector = blocks + POLYNOMIAL * columns;
        let key = vector + BLOCK * columns + 32;
        let size = BLOCK * pairs(scheme) as u64; // few
        let halves = key + size + 32;
        assert!(rows <= BLOCK * columns && vector + POLYNOMIAL * columns <= halves + size, "what follows has room");
        Self { rows: WORK, blocks, fields: vector, vector, key, halves, end: halves + size }
    }

    /// A block of a polynomial.
    fn block(self, scheme: Scheme, block: usize, number: usize) -> u32 {
        narrow(self.blocks + BLOCK * (block * (scheme.columns + 1) + number) as u64) // few
    }
}

/// Pairs of polynomials of a key.
const fn pairs(scheme: Scheme) -> usize {
    scheme.rows * (scheme.columns + 1) / 2
}

impl Scheme {
    /// Greatest size of a number in a lane after the first two layers.
    fn spread(self) -> u64 {
        let size = |node: usize| signed(DILITHIUM.twiddle(node)).unsigned_abs();
        (self.mask_range() + 1) * (1 + size(1)) * (1 + size(2).max(size(3)))
    }

    /// (q − 1) / 2γ₂, the number of high parts.
    const fn high_count(self) -> u64 {
        (MODULUS - 1) / (2 * self.low_range)
    }

    /// The first bit of the high part of a lane.
    pub(super) const fn high_shift(self) -> u32 {
        let spare = !self.high_count().is_power_of_two();
        64 - self.high_bits() - spare as u32 // a bit
    }

    /// k: for u = v + γ₂ modulo q the number k·u has the high part of v from bit [`Scheme::high_shift`] on, and the bit below says that the low part is
    /// above 0.
    fn factor(self) -> u64 {
        let (step, count) = (u128::from(2 * self.low_range), u128::from(self.high_count()));
        let power = 1u128 << self.high_shift();
        let half = u128::from(self.low_range);
        let is_right = |k: u128| {
            let lowest = k * ((count - 1) * step + 1) >= (count - 1) * power;
            let above = k * ((count - 1) * step + half + 1) >= (count - 1) * power + power / 2;
            lowest && above && k * step < power && k * u128::from(MODULUS) < 1 << 64
        };
        let is_unit = |k: u64| [1, 3].iter().all(|&less| BigUint::from(k).modinv(&ring(less)).is_some());
        let candidates = (0..power / step).rev().filter(|&k| k % 2 == 1 && k * u128::from(MODULUS) < 1 << 64);
        let found = candidates.take_while(|&k| is_right(k)).map(|k| k as u64).find(|&k| is_unit(k)); // below 2⁶⁴
        let factor = found.expect("some number divides so and has inverses");
        assert!(2 * self.spread() + 2 * MODULUS < factor * MODULUS, "lanes of two layers are below k·q");
        let terms = 4 * (self.columns as u64 + 1); // few
        assert!(3 * terms * (MODULUS - 1) * (MODULUS - 1) < factor * MODULUS, "so are sums of products");
        factor
    }

    /// k·q.
    pub(in crate::mldsa) fn lane_modulus(self) -> BigUint {
        BigUint::from(self.factor()) * MODULUS
    }
}

/// 2²⁵⁶ − `less`.
fn ring(less: u8) -> BigUint {
    (BigUint::from(1u8) << 256u32) - less
}

/// The number nearest to 0 that is congruent to one below q.
const fn signed(number: u64) -> i64 {
    let number = number as i64; // below q
    if number > MODULUS as i64 / 2 { number - MODULUS as i64 } else { number }
}

/// The same in ℤ / (2²⁵⁶ − 1).
fn signed_in_ring(number: u64) -> BigUint {
    match signed(number) {
        number @ 0.. => BigUint::from(number.unsigned_abs()),
        number => ring(1) - number.unsigned_abs(),
    }
}

/// A layer: (a, b) ↦ (a + t·b, a − t·b) for the halves of each node's values.
fn layer<M: Machine>(machine: &M, values: &mut [M::Fe], twiddles: &[M::Fe]) {
    let half = values.len() / twiddles.len() / 2;
    let pairs = pairs_of(values.len(), half);
    let products: Vec<M::Fe> =
        pairs.iter().enumerate().map(|(pair, &(_, high))| values[high] * twiddles[pair / half]).collect();
    machine.line_up(&products);
    for (&(low, high), &product) in pairs.iter().zip(&products) {
        values[high] = values[low] - product;
    }
    for (&(low, _), &product) in pairs.iter().zip(&products) {
        values[low] = values[low] + product;
    }
    machine.line_up(values);
}

/// A layer undone, twice: (a, b) ↦ (a + b, t·(a − b)) with an inverse twiddle t.
fn back<M: Machine>(machine: &M, values: &mut [M::Fe], twiddles: &[M::Fe]) {
    let half = values.len() / twiddles.len() / 2;
    let pairs = pairs_of(values.len(), half);
    let differences: Vec<M::Fe> = pairs.iter().map(|&(low, high)| values[low] - values[high]).collect();
    machine.line_up(&differences);
    for &(low, high) in &pairs {
        values[low] = values[low] + values[high];
    }
    for ((pair, &(_, high)), &difference) in pairs.iter().enumerate().zip(&differences) {
        values[high] = difference * twiddles[pair / half];
    }
    machine.line_up(values);
}

/// Places of pairs, node by node.
fn pairs_of(count: usize, half: usize) -> Vec<(usize, usize)> {
    (0..count / 2).map(|pair| pair / half * 2 * half + pair % half).map(|low| (low, low + half)).collect()
}

/// Numbers of scratch memory in a row of slots.
fn take<M: Machine>(machine: &M, at: u32, count: usize, bytes: u32) -> Vec<M::Fe> {
    let values = machine.take_scratch(at, count, bytes);
    machine.line_up(&values);
    values
}

impl<M: Machine> Verifier<'_, M> {
    /// Rows of the products, block by block, from polynomials as they are decoded.
    pub(super) fn blocks(&self) {
        let Self { machine, ref w, scheme, areas, .. } = *self;
        let modulo_one_less = || {
            machine.over("x⁴ − 1", &ring(1), |machine| {
                let is_block = w.is_below(self.block_number(machine), w.number(BLOCKS as u64)); // few
                let sums = |machine: &M| self.sums(machine, 1, areas.rows);
                machine.branch(is_block, sums, |machine| self.first_layers(machine));
            });
        };
        self.set(Cell::Block, w.number(BLOCKS as u64)); // few
        modulo_one_less();
        for at in [areas.key, areas.halves] {
            machine.set_scratch(w.number(at - 32), w.number(0));
        }
        let vector = narrow(BLOCK * (scheme.columns as u64 + 1)); // few
        for block in 0..BLOCKS {
            self.set(Cell::Block, w.number(block as u64)); // few
            machine.copy_scratch(narrow(areas.vector), areas.block(scheme, block, 0), vector);
            machine.function("block", (), |machine, ()| {
                self.forward(machine);
                self.key_block();
                machine.over("halves", &(BigUint::from(1u8) << 63u32), |machine| self.halves(machine));
                modulo_one_less();
                machine.over("x⁴ − 3", &ring(3), |machine| self.sums(machine, 3, areas.vector));
                self.backward(machine);
            });
            let rows = narrow(BLOCK * scheme.rows as u64); // few
            machine.copy_scratch(areas.block(scheme, block, 0), narrow(areas.rows), rows);
        }
    }

    /// Two layers of all polynomials, γ₁ less what is decoded.
    fn first_layers(&self, machine: &M) {
        let Self { scheme, areas, .. } = *self;
        let each = |number: u64| machine.constant(&BigUint::from_bytes_be(&lanes(number).to_be_bytes::<32>()));
        let (range, above) = (each(scheme.mask_range()), each(scheme.spread().next_multiple_of(MODULUS)));
        let twiddle = |node: usize| machine.constant(&signed_in_ring(DILITHIUM.twiddle(node)));
        for number in 0..=scheme.columns {
            let from = narrow(areas.fields + POLYNOMIAL * number as u64); // few
            let mut values: Vec<M::Fe> =
                take(machine, from, WORDS, WORD).into_iter().map(|value| range - value).collect();
            machine.line_up(&values);
            layer(machine, &mut values, &[twiddle(1)]);
            layer(machine, &mut values, &[twiddle(2), twiddle(3)]);
            let values: Vec<M::Fe> = values.into_iter().map(|value| value + above).collect();
            machine.line_up(&values);
            for (block, values) in values.chunks(BLOCK_WORDS).enumerate() {
                machine.put_scratch(areas.block(scheme, block, number), WORD, values);
            }
        }
    }

    /// The number of the block.
    fn block_number(&self, machine: &M) -> M::Word {
        machine.scratch_word(self.cell(Cell::Block))
    }

    /// The other four layers of a block of all polynomials, times k.
    fn forward(&self, machine: &M) {
        let Self { scheme, areas, .. } = *self;
        let factor = scheme.factor();
        let rows: Vec<Vec<BigUint>> = (0..BLOCKS)
            .map(|block| {
                let nodes = (2..6).flat_map(|layer| nodes(block, layer));
                nodes
                    .map(|node| DILITHIUM.twiddle(node) * if node < WORDS / 2 { 1 } else { factor })
                    .map(BigUint::from)
                    .collect()
            })
            .collect();
        let table = machine.table::<[M::Fe; 15]>("twiddles", &rows);
        let twiddles = machine.lookup(table, self.block_number(machine));
        machine.line_up(&twiddles);
        let factor = machine.constant(&BigUint::from(factor));
        for number in 0..=scheme.columns as u64 {
            let at = narrow(areas.vector + BLOCK * number);
            let mut values = take(machine, at, BLOCK_NUMBERS, NUMBER);
            for count in [1, 2, 4, 8] {
                if count == 8 {
                    for (low, _) in pairs_of(BLOCK_NUMBERS, BLOCK_NUMBERS / 16) {
                        values[low] = values[low] * factor;
                    }
                    machine.line_up(&values);
                }
                layer(machine, &mut values, &twiddles[count - 1..2 * count - 1]);
            }
            machine.put_scratch(at, NUMBER, &values);
        }
    }

    /// The block of the key, from calldata.
    fn key_block(&self) {
        let Self { machine, ref w, scheme, areas, .. } = *self;
        let from = machine.bind(w.add(w.number(32), w.mul(w.number(BLOCK), self.get(Cell::Block))));
        for pair in 0..pairs(scheme) as u64 {
            let from = w.add(w.number(POLYNOMIAL * pair), from);
            machine.copy_calldata(w.number(areas.key + BLOCK * pair), from, w.number(BLOCK));
        }
    }

    /// The higher halves of a key's lanes, in front: those of four bytes before each one, without what is above.
    fn halves(&self, machine: &M) {
        let Self { scheme, areas, .. } = *self;
        let shift = machine.constant(&(BigUint::from(1u8) << 32u32));
        let count = pairs(scheme) * BLOCK_NUMBERS;
        for first in (0..count).step_by(AT_ONCE) {
            let offset = u64::from(NUMBER) * first as u64; // few
            let values = take(machine, narrow(areas.key + offset - 4), AT_ONCE.min(count - first), NUMBER);
            let values: Vec<M::Fe> = values.into_iter().map(|value| value * shift).collect();
            machine.line_up(&values);
            machine.put_scratch(narrow(areas.halves + offset), NUMBER, &values);
        }
    }

    /// Sums of the products of each row modulo x⁴ − `less`.
    fn sums(&self, machine: &M, less: u8, to: u64) {
        let Self { scheme, areas, .. } = *self;
        let columns = scheme.columns + 1;
        let row = |at: u64, number: usize| take(machine, narrow(at + BLOCK * number as u64), BLOCK_WORDS, WORD); // few
        let vector: Vec<Vec<M::Fe>> = (0..columns).map(|number| row(areas.vector, number)).collect();
        let shift = machine.constant(&(BigUint::from(1u8) << 32u32));
        let inverse = BigUint::from(scheme.factor()).modinv(&ring(less)).expect("k has an inverse");
        let inverse = machine.constant(&inverse);
        let lined = |values: Vec<M::Fe>| {
            machine.line_up(&values);
            values
        };
        // b − 2³²·a, or without b.
        let beside = |a: usize, b: Option<usize>| {
            let shifted = lined(vector[a].iter().map(|&a| a * shift).collect());
            let zero = machine.zero();
            let of = |place: usize| b.map_or(zero, |b| vector[b][place]);
            lined(shifted.into_iter().enumerate().map(|(place, a)| of(place) - a).collect())
        };
        // Of even rows, and of odd ones, pairs of a key have the same places.
        for parity in 0..2 {
            let mut made: BTreeMap<usize, Vec<M::Fe>> = BTreeMap::new();
            for number in (parity..scheme.rows).step_by(2) {
                let numbers = number * columns..(number + 1) * columns;
                let mut sum: Option<Vec<M::Fe>> = None;
                let mut add = |key: Vec<M::Fe>, by: &[M::Fe]| {
                    let terms = lined(key.into_iter().zip(by).map(|(a, &b)| a * b).collect());
                    sum = Some(match sum.take() {
                        None => terms,
                        Some(sum) => lined(sum.into_iter().zip(terms).map(|(a, b)| a + b).collect()),
                    });
                };
                let mut of = numbers.start;
                while of < numbers.end {
                    let column = of - numbers.start;
                    if of % 2 == 1 {
                        add(row(areas.halves - 4, of / 2), &vector[column]);
                        of += 1;
                        continue;
                    }
                    add(row(areas.key, of / 2), &vector[column]);
                    let next = Some(column + 1).filter(|&next| next < columns);
                    let by = made.entry(column).or_insert_with(|| beside(column, next));
                    add(row(areas.halves - 4, of / 2), by);
                    of += 2;
                }
                let sum: Vec<M::Fe> = sum.expect("columns are many").into_iter().map(|sum| sum * inverse).collect();
                machine.line_up(&sum);
                machine.put_scratch(narrow(to + BLOCK * number as u64), WORD, &sum); // few
            }
        }
    }

    /// Residues of a block of all rows, from products modulo x⁴ − 1 and x⁴ − 3, and four layers back.
    fn backward(&self, machine: &M) {
        let Self { scheme, areas, .. } = *self;
        let half = MODULUS.div_ceil(2);
        let rows: Vec<Vec<BigUint>> = (0..BLOCKS)
            .map(|block| {
                let words = block * BLOCK_WORDS..(block + 1) * BLOCK_WORDS;
                let roots = words.map(|word| (DILITHIUM.residue_root(word) + MODULUS - 1) * half % MODULUS);
                let nodes = (2..6).flat_map(|layer| nodes(block, layer)).map(|node| DILITHIUM.inverse_twiddle(node));
                roots.chain(nodes).map(BigUint::from).collect()
            })
            .collect();
        let table = machine.table::<[M::Fe; 31]>("inverse twiddles", &rows);
        let given = machine.lookup(table, self.block_number(machine));
        machine.line_up(&given);
        let (roots, twiddles) = given.split_at(BLOCK_WORDS);
        for number in 0..scheme.rows as u64 {
            let offset = BLOCK * number;
            let [mut values, thrice] =
                [areas.rows, areas.vector].map(|from| take(machine, narrow(from + offset), BLOCK_NUMBERS, NUMBER));
            // The first number of a word is that of x³, which has no high part.
            for lane in 1..4 {
                let places = || (lane..BLOCK_NUMBERS).step_by(4);
                let differences: Vec<M::Fe> = places().map(|place| thrice[place] - values[place]).collect();
                machine.line_up(&differences);
                let high: Vec<M::Fe> = differences.into_iter().zip(roots).map(|(high, &root)| high * root).collect();
                machine.line_up(&high);
                for (place, high) in places().zip(high) {
                    values[place] = values[place] + high;
                }
            }
            machine.line_up(&values);
            for count in [8, 4, 2, 1] {
                back(machine, &mut values, &twiddles[count - 1..2 * count - 1]);
            }
            machine.put_scratch(narrow(areas.rows + offset), NUMBER, &values);
        }
    }

    /// The last two layers of a row back, into the place where polynomials are decoded: k·(v + γ₂) for each coefficient v.
    pub(super) fn last_layers(&self, row: usize) {
        let Self { machine, scheme, areas, .. } = *self;
        let factor = scheme.factor();
        let constant = |number: u64| machine.constant(&BigUint::from(number));
        let (up, by) = (constant(factor * scheme.low_range), constant(factor));
        let twiddle = |node: usize| DILITHIUM.inverse_twiddle(node);
        let inner = [2, 3].map(|node| constant(twiddle(node)));
        let outer = constant(twiddle(1) * factor);
        let count = BLOCK_NUMBERS / 2;
        for first in [0, count] {
            let offset = NUMBER * narrow(first as u64); // few
            let mut values: Vec<M::Fe> = (0..BLOCKS)
                .flat_map(|block| machine.take_scratch(areas.block(scheme, block, row) + offset, count, NUMBER))
                .collect();
            machine.line_up(&values);
            back(machine, &mut values, &inner);
            let (low, high) = values.split_at(2 * count);
            let sums: Vec<M::Fe> = low.iter().zip(high).map(|(&low, &high)| low + high).collect();
            let differences: Vec<M::Fe> = low.iter().zip(high).map(|(&low, &high)| low - high).collect();
            let mut values: Vec<M::Fe> = [sums, differences].concat();
            machine.line_up(&values);
            for (place, value) in values.iter_mut().enumerate() {
                *value = *value * if place < 2 * count { by } else { outer };
            }
            machine.line_up(&values);
            let values: Vec<M::Fe> = values.into_iter().map(|value| value + up).collect();
            machine.line_up(&values);
            for (block, values) in values.chunks(count).enumerate() {
                machine.put_scratch(narrow(BLOCK * block as u64) + offset, NUMBER, values); // few
            }
        }
    }

    /// Moves the high part of the coefficient at a place by 1, up if its low part is above 0, else down, around its end too.
    pub(super) fn hint_of_slots(&self, place: M::Word) {
        let Self { machine, ref w, scheme, .. } = *self;
        let at = machine.bind(w.xor(w.number(24), w.shl(place, w.number(3))));
        // The high part and the bit below it are the first bits of this byte, and no others are looked at.
        let spare = u64::from(scheme.high_shift() - 57);
        let byte = machine.word_op(WordOp::Byte, machine.scratch_word(at), w.number(0));
        let part = machine.bind(if spare == 0 { byte } else { w.high(byte, spare) });
        let count = 2 * scheme.high_count();
        let up = w.shl(w.and(w.number(1), part), w.number(1));
        let moved = w.modulo(w.add(w.add(w.number(count - 1), part), up), w.number(count));
        machine.set_scratch_byte(at, if spare == 0 { moved } else { w.shl(moved, w.number(spare)) });
    }

    /// High parts of two words of coefficients, each in front of its lane: those of the second so many bits lower.
    pub(super) fn high_of_slots(&self, [first, second]: [M::Word; 2], group: u32) -> M::Word {
        let Self { machine, ref w, scheme, .. } = *self;
        let mask = || machine.word(lanes(((1 << scheme.high_bits()) - 1) << scheme.high_shift()));
        let [first, second] = [first, second].map(|place| w.and(mask(), machine.scratch_word(place)));
        w.or(w.high(second, group.into()), first)
    }
}

/// Nodes of a layer of a block; the layers that make blocks are the first two.
fn nodes(block: usize, layer: usize) -> impl Iterator<Item = usize> {
    let count = 1 << (layer - 2);
    (0..count).map(move |node| (1 << layer) + block * count + node)
}

/// γ₁ in all lanes of a polynomial in scratch memory: 0, as z is decoded.
pub(super) fn fill<M: Machine>(machine: &M, at: u64, number: u64) {
    let w = Words(machine);
    machine.set_scratch(w.number(at), machine.word(lanes(number)));
    let mut bytes = 32;
    while bytes < POLYNOMIAL {
        machine.copy_scratch(narrow(at + bytes), narrow(at), narrow(bytes));
        bytes *= 2;
    }
}

/// `value` in front of a word.
pub(super) fn in_front(value: u64) -> U256 {
    U256::from(value) << 192
}
