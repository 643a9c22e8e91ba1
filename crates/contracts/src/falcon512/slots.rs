//! Verification where an interface has field instructions with room: transforms, the product with the key and norms are rows of slots.
//!
//! The ring is that of integers modulo k·q: it takes twice a number of the hash unreduced, and a product by a multiple of k leaves k times a residue
//! modulo q. k is 11, or so large that a value has 8 bytes where values are as short as the modulus. A polynomial is held as in words, backwards, but its odd powers of x apart from the even ones, each as a polynomial in y = x². Of nine layers
//! seven are made: residues modulo y² − ζ are multiplied whole. Two layers take columns of 32 values from four blocks each, and the others a block, as
//! 256 slots hold no more; in between values are in memory, in 8 bytes each.

use super::verify::{BAD, BIT, BUFFER, CENTRE, GOOD, NEXT, NORM, POINT, SCRATCH, Verifier};
use super::{DEGREE, Encoding, MODULUS, NORM_MAX, narrow};
use crate::encoding::unless_return_zero;
use crate::ntt::{BESIDE, FALCON, Order, Powers, back, firsts, layer, twiddles};
use crate::words::each;
use num_bigint::BigUint;
use residue_ir::{Bundle, Capacity, Feature, Machine};
use ruint::aliases::U256;
use std::ops::Range;

/// The ring of integers modulo k·q.
#[derive(Debug, Clone, Copy)]
struct Ring {
    /// Name of the subprogram over it.
    name: &'static str,
    /// k.
    factor: u64,
    /// k² modulo [`NORM_MODULUS`], which sums of squares times it are below.
    square: u64,
}

/// The ring with the least k that takes twice a number of the hash.
const NARROW: Ring = Ring::new("product", 11);
/// A ring whose elements have 8 bytes, of the k whose squares are small.
const WIDE: Ring = Ring::new("wide product", 11_032_216_476_939);
const _: () = assert!(NARROW.factor * MODULUS > 2 * u16::MAX as u64);
const _: () = assert!(WIDE.factor * MODULUS >= 1 << 56 && WIDE.factor * MODULUS < NORM_MODULUS);

/// A prime above all sums of squares: 2⁶¹ − 1.
const NORM_MODULUS: u64 = (1 << 61) - 1;
/// Above all sums of squares of residues that are centred, and of s₂.
const SQUARES_MAX: u64 = 2 * DEGREE as u64 * CENTRE * CENTRE;

impl Ring {
    const fn new(name: &'static str, factor: u64) -> Self {
        let square = (factor as u128 * factor as u128 % NORM_MODULUS as u128) as u64; // below 2⁶¹
        assert!(square < NORM_MODULUS / SQUARES_MAX, "products with the square would wrap");
        Self { name, factor, square }
    }

    /// 0 modulo k, and k/2 modulo q.
    const fn half_factor(self) -> u64 {
        self.factor * MODULUS.div_ceil(2)
    }

    /// True if it takes any number of 32 bits.
    const fn takes_words(self) -> bool {
        self.factor * MODULUS > u32::MAX as u64
    }
}

/// Bytes of a value, and of a block of values.
const VALUE_BYTES: u32 = 8;
const BLOCK_BYTES: u64 = 1_024;
/// Values in a block, half of which are of odd powers, the first half.
const BLOCK: usize = 128;
/// Values of a column of blocks that stand in slots together.
const COLUMNS: usize = 32;
/// Such values of a block: two groups of odd powers, and two of even ones.
const GROUPS: usize = BLOCK / COLUMNS;
type Column<M> = [<M as Machine>::Fe; COLUMNS];
/// Blocks of a polynomial.
const BLOCKS: usize = 4;
/// Layers of a block.
const LAYERS: usize = 5;
/// Nodes of its last layer.
const NODES: usize = 1 << (LAYERS - 1);
/// Words of the key that stand in slots together, of two residues each.
const KEYS: usize = 4;

/// Places in scratch memory: four blocks of s₂, of what becomes of it, and of s₁ at last.
const VALUES: u64 = SCRATCH;
const END: u64 = SCRATCH + BLOCKS as u64 * BLOCK_BYTES;
/// A block of the key, or 128 numbers of the hash.
const OTHERS: u64 = 0;
/// Eight coefficients of s₂.
const CELLS: u64 = BUFFER;
/// A constant that is held.
const HELD: u64 = NEXT;
/// Distance of a norm's values from integers, and the first norm.
const OFFSET: u64 = BIT;
const FIRST_NORM: u64 = GOOD;

/// The low 32 bits of each 64.
fn even_lanes() -> U256 {
    each(64, U256::from(u32::MAX))
}

impl<M: Machine> Verifier<'_, M> {
    /// From the hash to the answer.
    pub(super) fn in_slots(&self) {
        let machine = self.machine;
        machine.scratch(narrow(END as usize)); // few
        match self.encoding {
            Encoding::Compressed => self.decompress_to_values(),
            Encoding::Numbers => self.numbers_to_values(),
        }
        self.norm(MODULUS);
        machine.branch(machine.has(Feature::Packed), |_| self.answer(WIDE), |_| self.answer(NARROW));
    }

    /// From q + s₂ and its norm to the answer.
    fn answer(&self, ring: Ring) {
        let Self { machine, ref w, .. } = *self;
        self.set(FIRST_NORM, w.mul(w.number(ring.square), self.get(NORM)));
        machine.over(ring.name, &BigUint::from(ring.factor * MODULUS), |_| self.product(ring));
        self.norm(ring.factor * CENTRE);
        let norm = w.add(self.get(FIRST_NORM), self.get(NORM));
        machine.return_word(w.is_below(norm, w.number(ring.square * NORM_MAX + 1)));
    }

    /// A constant that lies on the stack: read from scratch memory, as it would be pushed wherever it is read, in up to 33 bytes.
    fn held(&self, value: U256) -> M::Word {
        self.set(HELD, self.machine.word(value));
        self.machine.bind(self.get(HELD))
    }

    /// q + s₂, with all that is asked of its bits.
    ///
    /// A window has a bit that may be anything, then the next ones of s₂, of which eight coefficients take 192 at most. Of each a lane has the sign in bit
    /// 30, seven bits from 23 on, and from 0 on nine and the length of the unary part. Without a bit after the seven the length is 256, which leaves 0 there:
    /// too short, as others are too long.
    fn decompress_to_values(&self) {
        let Self { machine, ref w, .. } = *self;
        self.set(BIT, w.shl(self.s2_from(), w.number(3)));
        self.set(BAD, w.number(0));
        let unary = self.held(U256::MAX >> 9);
        let four = |turn: M::Word, leading_zeros: &dyn Fn(M::Word) -> M::Word| {
            let to = self.values_of(turn);
            let mut bit = machine.bind(self.get(BIT));
            for word in 0..4 {
                let bits = w.shl(machine.calldata_word(w.high(bit, 3)), w.and(w.number(7), bit));
                let mut window = machine.bind(w.high(bits, 1));
                for coefficient in 0..8 {
                    let length = machine.bind(leading_zeros(w.and(unary, window)));
                    machine.set_scratch(w.number(CELLS + 4 * coefficient), window);
                    machine.set_scratch_byte(w.number(CELLS + 4 * coefficient + 3), length);
                    window = machine.bind(w.shl(window, length));
                }
                let cells = machine.bind(machine.scratch_word(w.number(CELLS)));
                let lengths = machine.bind(w.and(self.lanes(0xff), cells));
                bit = machine.bind(w.add(w.high(w.mul(self.lanes(1), lengths), 224), bit));
                let number = self.number_of(cells, lengths);
                self.set_values(to, word, number);
            }
            self.set(BIT, bit);
        };
        machine.repeat(w.number(16), (), |_, turn, ()| self.with_zeros(|zeros| four(turn, zeros)));
        self.end_decompression();
        let has_wrong = w.and(self.lanes(0xffff_f800), self.get(BAD));
        unless_return_zero(machine, machine.not(has_wrong));
    }

    /// q + s₂ of numbers.
    fn numbers_to_values(&self) {
        let Self { machine, ref w, .. } = *self;
        let from = machine.bind(self.s2_from());
        machine.repeat(w.number(16), (), |_, turn, ()| {
            let to = self.values_of(turn);
            let from = machine.bind(w.add(from, w.shl(turn, w.number(6))));
            for word in 0..2 {
                let from = if word == 0 { from } else { w.add(w.number(32 * word), from) };
                let [_, moved] = self.coefficients(from);
                self.set_values(to, 2 * word, machine.bind(self.spread(moved, true)));
                self.set_values(to, 2 * word + 1, machine.bind(self.spread(moved, false)));
            }
        });
        self.refuse_numbers();
    }

    /// Place of the first of 32 values in a turn that are of odd powers.
    fn values_of(&self, turn: M::Word) -> M::Word {
        let Self { machine, ref w, .. } = *self;
        let block = w.shl(w.high(turn, 2), w.number(9));
        machine.bind(w.add(w.number(VALUES), w.add(block, w.shl(turn, w.number(7)))))
    }

    /// Eight values: the words of a turn are four.
    fn set_values(&self, to: M::Word, word: u64, number: M::Word) {
        let Self { machine, ref w, .. } = *self;
        let odd = w.and(machine.word(even_lanes()), w.high(number, 32));
        machine.set_scratch(w.add(w.number(32 * word), to), odd);
        let even = w.and(machine.word(even_lanes()), number);
        machine.set_scratch(w.add(w.number(BLOCK_BYTES / 2 + 32 * word), to), even);
    }

    /// q + s₂ of lanes. In BAD bits from 11 on are of unary parts that are too long, and of −0.
    fn number_of(&self, cells: M::Word, lengths: M::Word) -> M::Word {
        let Self { machine, ref w, .. } = *self;
        let low = w.and(self.lanes(0x7f), w.high(cells, 23));
        let size = w.sub(w.add(w.shl(lengths, w.number(7)), low), self.lanes(9 << 7));
        let sign = machine.bind(w.and(self.lanes(1), w.high(cells, 30)));
        let whole = machine.bind(w.shl(sign, w.number(11)));
        // |s₂|, or 2048 − |s₂|.
        let turned = machine.bind(w.add(sign, w.xor(w.sub(whole, sign), size)));
        self.set(BAD, w.or(self.get(BAD), turned));
        machine.bind(w.sub(w.add(self.lanes(MODULUS), turned), whole))
    }

    /// Σ (x − less)² of the values.
    fn norm(&self, less: u64) {
        let Self { machine, ref w, .. } = *self;
        self.set(OFFSET, w.number(less));
        machine.over("norm", &BigUint::from(NORM_MODULUS), |machine| {
            let less = machine.element_of(&[machine.bind(self.get(OFFSET))]);
            let mut sums: Vec<M::Fe> = Vec::new();
            for block in 0..BLOCKS {
                let values = machine.take_scratch(place_of(block, 0), BLOCK, VALUE_BYTES);
                machine.line_up(&values);
                let moved: Vec<M::Fe> = values.iter().map(|&value| value - less).collect();
                machine.line_up(&moved);
                let squares: Vec<M::Fe> = moved.iter().map(|&value| value * value).collect();
                machine.line_up(&squares);
                let halves = self.halves(&squares);
                sums = match sums.is_empty() {
                    true => halves,
                    false => sums.iter().zip(&halves).map(|(&a, &b)| a + b).collect(),
                };
                machine.line_up(&sums);
            }
            while sums.len() > 1 {
                sums = self.halves(&sums);
            }
            self.set(NORM, machine.word_of(sums[0], 0));
        });
    }

    /// The first half of a row and the second.
    fn halves(&self, row: &[M::Fe]) -> Vec<M::Fe> {
        let (first, second) = row.split_at(row.len() / 2);
        let sums: Vec<M::Fe> = first.iter().zip(second).map(|(&a, &b)| a + b).collect();
        self.machine.line_up(&sums);
        sums
    }

    /// From q + s₂ to k·(s₁ + 6144 mod q).
    fn product(&self, ring: Ring) {
        let Self { machine, ref w, .. } = *self;
        let numbers = |numbers: [u64; 2]| numbers.map(BigUint::from).to_vec();
        let given = numbers([FALCON.twiddle(NODES), FALCON.inverse_twiddle(NODES)]);
        let given = machine.table::<[M::Fe; 2]>("twiddles", &[given]);
        let powers = Powers::new(machine, NODES, machine.lookup(given, w.number(0)));
        // The last twiddle of a block is that of its first node in its last layer; for a layer undone it is that of the block from the end.
        let last = |block: usize| FALCON.twiddle((BLOCKS + block) << (LAYERS - 1));
        let lasts: Vec<_> = (0..BLOCKS).map(|block| numbers([last(block), last(BLOCKS - 1 - block)])).collect();
        let lasts = machine.table::<[M::Fe; 2]>("lasts", &lasts);
        let columns = machine.array::<Column<M>>("columns", Capacity::Fixed(narrow(BLOCKS * GROUPS)));
        let index = |block: usize, group: usize| w.number((GROUPS * block + group) as u64); // few
        for group in 0..GROUPS {
            let take = |block: usize| machine.take_scratch(place_of(block, group), COLUMNS, VALUE_BYTES);
            let mut values: Vec<M::Fe> = (0..BLOCKS).flat_map(take).collect();
            machine.line_up(&values);
            for nodes in [1, 2] {
                let of = |of: Range<usize>| powers.first[nodes..][of].to_vec();
                layer(machine, &mut values, Order::Descending, (nodes, BESIDE[1]), of);
            }
            for (block, values) in values.chunks(COLUMNS).enumerate() {
                machine.store(columns, index(block, group), Column::<M>::from_list(values.to_vec()));
            }
        }
        self.set(BAD, w.number(0));
        machine.repeat(w.number(BLOCKS as u64), (), |machine, block, ()| {
            let first = machine.bind(w.shl(block, w.number(GROUPS.trailing_zeros().into())));
            let index = |group: usize| w.add(first, w.number(group as u64)); // few
            let mut values: Vec<M::Fe> = (0..GROUPS).flat_map(|group| machine.load(columns, index(group))).collect();
            machine.line_up(&values);
            self.key_to_others(block, ring);
            self.transformed_block(&powers, machine.lookup(lasts, block), &mut values);
            for (group, values) in values.chunks(COLUMNS).enumerate() {
                machine.store(columns, index(group), Column::<M>::from_list(values.to_vec()));
            }
        });
        machine.require(machine.not(w.and(self.lanes(1 << 31), self.get(BAD))));
        for group in 0..GROUPS {
            let mut values: Vec<M::Fe> =
                (0..BLOCKS).flat_map(|block| machine.load(columns, index(block, group))).collect();
            machine.line_up(&values);
            // −1/t is the twiddle of the node that is as far from the end of its layer.
            let of = |of: Range<usize>| [powers.first[3], powers.first[2]][of].to_vec();
            back(machine, &mut values, (2, BESIDE[1]), of);
            back(machine, &mut values, (1, BESIDE[1]), |_| vec![powers.first[1]]);
            self.rest(&mut values, group, ring);
            for (block, values) in values.chunks(COLUMNS).enumerate() {
                machine.put_scratch(place_of(block, group), VALUE_BYTES, values);
            }
        }
    }

    /// A block of s₂ transformed, multiplied by the key and transformed back.
    fn transformed_block(&self, powers: &Powers<M::Fe>, [last, last_back]: [M::Fe; 2], values: &mut [M::Fe]) {
        let machine = self.machine;
        // Both halves have the same twiddles.
        let (mut nodes, mut row) = (1, Vec::new());
        for &first in firsts(last, LAYERS).iter().rev() {
            row = twiddles(machine, powers, first, 0..nodes);
            let of = |of: Range<usize>| of.map(|node| row[node % nodes]).collect();
            layer(machine, values, Order::Descending, (2 * nodes, BESIDE[1]), of);
            nodes *= 2;
        }
        for (number, zetas) in row.chunks(KEYS).enumerate() {
            let at = OTHERS as usize + 64 * KEYS * number; // few
            let mut key = machine.take_scratch(narrow(at), 8 * KEYS, VALUE_BYTES);
            machine.line_up(&key);
            let of = |of: Range<usize>| of.map(|node| zetas[node % KEYS]).collect();
            layer(machine, &mut key, Order::Descending, (2 * KEYS, BESIDE[1]), of);
            for (part, zetas) in zetas.chunks(KEYS / 2).enumerate() {
                self.multiply(values, &key, (number, part), zetas);
            }
        }
        for first in firsts(last_back, LAYERS) {
            nodes /= 2;
            let row: Vec<M::Fe> = powers.first[..nodes].iter().rev().map(|&power| power * first).collect();
            machine.line_up(&row);
            let of = |of: Range<usize>| of.map(|node| row[node % nodes]).collect();
            back(machine, values, (2 * nodes, BESIDE[1]), of);
        }
    }

    /// Residues times those of the key, modulo x⁴ − ζ and x⁴ + ζ in turn: the first half of those of `key`, or the second.
    fn multiply(&self, values: &mut [M::Fe], key: &[M::Fe], (number, part): (usize, usize), zetas: &[M::Fe]) {
        let machine = self.machine;
        let count = 2 * zetas.len();
        // Coefficients of x³, x, x² and 1 of residue i.
        let places =
            |half: usize, first: usize| [0, 1, half, half + 1].map(|place| move |i: usize| 2 * (first + i) + place);
        let of_values = places(BLOCK / 2, 2 * KEYS * number + count * part);
        let of_key = places(4 * KEYS, count * part);
        let lined = |value: &dyn Fn(usize) -> M::Fe| {
            let row: Vec<M::Fe> = (0..count).map(value).collect();
            machine.line_up(&row);
            row
        };
        let [e1, e0, o1, o0] = [0, 1, 2, 3];
        let sum = |values: &[M::Fe], terms: &[(usize, usize)]| {
            let product = |&(a, b): &(usize, usize)| lined(&|i| values[of_values[a](i)] * key[of_key[b](i)]);
            terms[1..].iter().fold(product(&terms[0]), |sum, term| {
                let product = product(term);
                lined(&|i| sum[i] + product[i])
            })
        };
        // A sum, and ζ times another.
        let with_root = |values: &[M::Fe], low: &[(usize, usize)], high: &[(usize, usize)]| {
            let high = sum(values, high);
            let high = lined(&|i| high[i] * zetas[i / 2]);
            let low = sum(values, low);
            lined(&|i| if i % 2 == 0 { low[i] + high[i] } else { low[i] - high[i] })
        };
        let products = [
            sum(values, &[(o0, e1), (e1, o0), (o1, e0), (e0, o1)]),
            with_root(values, &[(o0, e0), (e0, o0)], &[(o1, e1), (e1, o1)]),
            with_root(values, &[(o0, o1), (o1, o0), (e0, e0)], &[(e1, e1)]),
            with_root(values, &[(o0, o0)], &[(e0, e1), (e1, e0), (o1, o1)]),
        ];
        for (products, place) in products.iter().zip(&of_values) {
            products.iter().enumerate().for_each(|(i, &product)| values[place(i)] = product);
        }
    }

    /// k·(s₁ + 6144 mod q) of a column of 2·s₂·h.
    fn rest(&self, values: &mut [M::Fe], group: usize, ring: Ring) {
        let machine = self.machine;
        self.point_to_others(group);
        let [centre, scale] = [2 * CENTRE, ring.half_factor()].map(|number| machine.constant(&BigUint::from(number)));
        for parity in [0, 1] {
            let place = OTHERS as usize + BLOCK / 2 * VALUE_BYTES as usize * parity; // few
            let mut row = machine.take_scratch(narrow(place), BLOCK / 2, VALUE_BYTES);
            machine.line_up(&row);
            row.iter_mut()
                .zip(values[parity..].iter().step_by(2))
                .for_each(|(point, &product)| *point = *point - product);
            machine.line_up(&row);
            row.iter_mut().for_each(|value| *value = *value + centre);
            machine.line_up(&row);
            values[parity..].iter_mut().step_by(2).zip(&row).for_each(|(to, &value)| *to = value * scale);
        }
        machine.line_up(values);
    }

    /// A block of the key: of four words the odd powers of x, then the even ones. Marks numbers that are not below q in bits 31 of BAD. Of 2³¹ + q and more
    /// that bit is lost by a carry: they halt where a ring takes no such number, and are marked by themselves where it does.
    fn key_to_others(&self, block: M::Word, ring: Ring) {
        let Self { machine, ref w, .. } = *self;
        let [mask, too_large] = [even_lanes(), each(32, U256::from((1 << 31) - MODULUS))].map(|value| self.held(value));
        let from = machine.bind(w.shl(block, w.number(9)));
        for four in 0..4 {
            let place = |place: u64| w.add(w.number(32 + 128 * four + 32 * place), from);
            let words = [0, 1, 2, 3].map(|number| machine.bind(machine.calldata_word(place(number))));
            let marks = words.iter().fold(self.get(BAD), |marks, &word| {
                let marks = w.or(marks, w.add(too_large, word));
                if ring.takes_words() { w.or(marks, word) } else { marks }
            });
            self.set(BAD, marks);
            for (place, word) in (0..).zip(words) {
                let to = OTHERS + 256 * four + 32 * place;
                machine.set_scratch(w.number(to), w.and(mask, w.high(word, 32)));
                machine.set_scratch(w.number(to + 128), w.and(mask, word));
            }
        }
    }

    /// Numbers of the hash for a column, doubled: those of even columns, then those of odd ones. Their places modulo 4 are the half, and two more.
    fn point_to_others(&self, group: usize) {
        let Self { machine, ref w, .. } = *self;
        let mask = self.held(each(64, U256::from(2 * u64::from(u16::MAX))));
        for place in 0..16u64 {
            let from = POINT + 256 * (place / 4) + 128 * (group % 2) as u64 + 32 * (place % 4); // few
            let word = machine.bind(machine.scratch_word(w.number(from)));
            for parity in [0, 1] {
                let moved = match group / 2 + 2 * parity {
                    3 => w.shl(word, w.number(1)),
                    number => w.high(word, 16 * (3 - number as u64) - 1), // few
                };
                let to = OTHERS + 512 * parity as u64 + 32 * place; // few
                machine.set_scratch(w.number(to), w.and(mask, moved));
            }
        }
    }
}

/// Byte of scratch memory where a group of values of a block begins.
fn place_of(block: usize, group: usize) -> u32 {
    narrow(VALUES as usize) + VALUE_BYTES * narrow(BLOCK * block + COLUMNS * group) // few
}
