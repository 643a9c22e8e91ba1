//! BLAKE2b's compression function as EIP-152 has it, in words: RFC 7693, §3.
//!
//! A row of the state is two words of two numbers each, 128 bits apart, so that sums need no care: the first and the third number, the second
//! and the fourth. The first one is the upper one. All four columns, or diagonals, go together; rows turn by changing the words, and their halves.

use super::reversed;
use crate::Contract;
use crate::words::Words;
use num_bigint::BigUint;
use residue_ir::{Machine, ModOp, Variable};
use residue_isa::precompile::BLAKE2F;
use ruint::aliases::U256;

/// `hashes/blake2f`.
pub const CONTRACT: Contract = Contract {
    name: "hashes/blake2f",
    summary: "BLAKE2b's compression function (EIP-152)",
    interface: "213 bytes: the number of rounds (4), h (64), m (128), t (16), f (1); returns 64: the new h",
    field: || BigUint::from(3u8),
    text: |machine| text(machine),
    precompile: Some(BLAKE2F),
    example,
};

/// Bytes of calldata.
const CALLDATA_BYTES: u64 = 213;
/// Offsets of h, m and t, in bytes; f is the last byte.
const H_AT: u64 = 4;
const M_AT: u64 = 68;
const T_AT: u64 = 196;
/// Shift of a number to the upper half of a word, in bits.
const UPPER: usize = 128;
/// By which a number becomes the same twice.
const TWICE: u128 = (1 << 64) + 1;
/// Rounds that have orders of their own.
const ORDERS: usize = 10;
/// Orders of a message's numbers. RFC 7693, §2.7.
const SIGMA: [[usize; 16]; ORDERS] = [
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15],
    [14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3],
    [11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4],
    [7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8],
    [9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13],
    [2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9],
    [12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11],
    [13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10],
    [6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5],
    [10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0],
];

/// Fractions of the square roots of the first primes, as SHA-512 has them. RFC 7693, §2.6.
fn initial() -> [U256; 8] {
    [2u64, 3, 5, 7, 11, 13, 17, 19].map(|prime| {
        let root = (BigUint::from(prime) << 128u32).sqrt();
        U256::from_be_slice(&root.to_bytes_be()) & U256::from(u64::MAX)
    })
}

/// Two numbers in the halves of a word.
fn halves(upper: U256, lower: U256) -> U256 {
    upper << UPPER | lower
}

/// A row's words.
type Row<W> = [W; 2];

/// The text.
pub fn text<M: Machine>(machine: &M) {
    let w = Words(machine);
    let flag = machine.bind(w.and(machine.calldata_word(w.number(CALLDATA_BYTES - 32)), w.number(0xff)));
    let is_full = w.is_equal(machine.calldata_size(), w.number(CALLDATA_BYTES));
    machine.require(w.and(is_full, w.is_below(flag, w.number(2))));
    let both = machine.word(halves(U256::from(u64::MAX), U256::from(u64::MAX)));
    let mask = machine.variable("mask", both);
    let message: Vec<Variable> = (0..17).map(|_| machine.variable("message", machine.small(0))).collect();
    for (part, numbers) in message.chunks_exact(4).enumerate() {
        let at = M_AT + 32 * part as u64; // usize to u64 widens
        let word = machine.bind(reversed(machine, machine.calldata_word(w.number(at)), 64));
        for (&variable, shift) in numbers.iter().zip([192, 128, 64, 0]) {
            machine.set(variable, w.and(w.number(u64::MAX), w.high(word, shift)));
        }
    }
    let state: [Row<Variable>; 4] =
        std::array::from_fn(|_| std::array::from_fn(|_| machine.variable("state", machine.small(0))));
    for (row, at) in state.iter().zip([H_AT, H_AT + 32]) {
        let word = machine.bind(reversed(machine, machine.calldata_word(w.number(at)), 64));
        machine.set(row[0], w.and(both, w.high(word, 64)));
        machine.set(row[1], w.and(both, word));
    }
    let initial = initial();
    for (row, first) in state[2..].iter().zip([0, 4]) {
        for (at, &variable) in row.iter().enumerate() {
            machine.set(variable, machine.word(halves(initial[first + at], initial[first + at + 2])));
        }
    }
    // t is two numbers, the lower one first; f inverts the third number of the last row.
    let t = machine.bind(w.high(reversed(machine, machine.calldata_word(w.number(T_AT)), 64), UPPER as u64)); // usize to u64 widens
    let upper = |word| w.shl(word, w.number(UPPER as u64)); // the same
    let [first, second] = [w.high(t, 64), w.and(w.number(u64::MAX), t)].map(|number| machine.bind(upper(number)));
    let inverted = w.xor(w.mul(flag, w.number(u64::MAX)), first);
    machine.set(state[3][0], w.xor(machine.get(state[3][0]), inverted));
    machine.set(state[3][1], w.xor(machine.get(state[3][1]), second));

    let rounds = machine.bind(w.high(machine.calldata_word(w.number(0)), 224));
    let orders = w.number(ORDERS as u64); // usize to u64 widens
    machine.repeat(machine.bind(w.div(rounds, orders)), (), |machine, _, ()| {
        several_rounds(machine, state, &SIGMA, mask, &message);
    });
    let rest = machine.bind(w.modulo(rounds, orders));
    rest_of_rounds(machine, state, 0, rest, mask, &message);

    let [a, b, c, d] = state;
    let parts = [(a, c, H_AT), (b, d, H_AT + 32)].map(|(above, below, at)| {
        let [odd, even] = [0, 1].map(|word| {
            let [above, below] = [above, below].map(|row: Row<Variable>| machine.get(row[word]));
            machine.bind(w.and(both, w.xor(above, below)))
        });
        let row = w.or(w.shl(odd, w.number(64)), even);
        machine.bind(w.xor(machine.calldata_word(w.number(at)), reversed(machine, row, 64)))
    });
    machine.return_words(&parts, machine.small(64));
}

/// As many rounds from `order` on as there are left, fewer than [`ORDERS`].
fn rest_of_rounds<M: Machine>(
    machine: &M,
    state: [Row<Variable>; 4],
    order: usize,
    rest: M::Word,
    mask: Variable,
    message: &[Variable],
) {
    if order + 1 == ORDERS {
        return;
    }
    let w = Words(machine);
    let is_left = w.is_below(w.number(order as u64), rest); // usize to u64 widens
    let one = |machine: &M| {
        several_rounds(machine, state, &SIGMA[order..=order], mask, message);
        rest_of_rounds(machine, state, order + 1, rest, mask, message);
    };
    machine.branch(is_left, one, |_| ());
}

/// Rounds with these orders of the message's numbers, on the state in variables.
fn several_rounds<M: Machine>(
    machine: &M,
    state: [Row<Variable>; 4],
    orders: &[[usize; 16]],
    mask: Variable,
    message: &[Variable],
) {
    let mask = machine.get(mask);
    let [mut a, mut b, mut c, mut d] = state.map(|row| row.map(|variable| machine.get(variable)));
    let mut swapped = None;
    for order in orders {
        let columns = std::array::from_fn(|column| [order[2 * column], order[2 * column + 1]]);
        mix(machine, [&mut a, &mut b, &mut c, &mut d], swapped, columns, (mask, message));
        // Diagonals, as columns: the last row stays, the others turn by 1, −2 and −1; the second one has done so.
        (a, c) = ([a[1], a[0]], [c[1], c[0]]);
        let diagonals = std::array::from_fn(|place| {
            let diagonal = (place + 1) % 4;
            [order[8 + 2 * diagonal], order[9 + 2 * diagonal]]
        });
        mix(machine, [&mut a, &mut b, &mut c, &mut d], Some(Swapped { a: 1, c: 0 }), diagonals, (mask, message));
        (a, c) = ([a[1], a[0]], [c[1], c[0]]);
        swapped = Some(Swapped { a: 0, c: 1 });
    }
    if let Some(Swapped { a: of_a, c: of_c }) = swapped {
        a[of_a] = machine.bind(halves_swapped(machine, a[of_a]));
        c[of_c] = machine.bind(halves_swapped(machine, c[of_c]));
    }
    for (row, words) in state.iter().zip([a, b, c, d]).rev() {
        for (&variable, word) in row.iter().zip(words).rev() {
            machine.set(variable, word);
        }
    }
}

/// Indices of the words of rows a and c that have their halves in the other order.
#[derive(Clone, Copy)]
struct Swapped {
    a: usize,
    c: usize,
}

/// A word with its halves in the other order: the product with 2¹²⁸ modulo 2²⁵⁶ − 1, where 2²⁵⁶ is 1. A word of ones would become 0; the numbers of
/// rows a and c have too few sums above them for that.
fn halves_swapped<M: Machine>(machine: &M, word: M::Word) -> M::Word {
    let (half, ones) = (machine.word(U256::ONE << UPPER), machine.word(U256::MAX));
    machine.mod_op(ModOp::Mul, machine.bind(word), half, ones)
}

/// G of four columns with two numbers of the message for each, RFC 7693, §3.1; after it the second row is turned by two.
fn mix<M: Machine>(
    machine: &M,
    [a, b, c, d]: [&mut Row<M::Word>; 4],
    swapped: Option<Swapped>,
    numbers: [[usize; 2]; 4],
    (mask, message): (M::Word, &[Variable]),
) {
    let w = Words(machine);
    let twice = machine.word(U256::from(TWICE));
    let doubled = |x, y| w.mul(twice, w.and(mask, w.xor(x, y)));
    for word in 0..2 {
        let (a, b, c, d) = (&mut a[word], &mut b[word], &mut c[word], &mut d[word]);
        for step in 0..2 {
            let [upper, lower] = [numbers[word][step], numbers[word + 2][step]];
            // Sums of a and c are never cut: 2³² rounds do not fill the 64 bits above them.
            let is_swapped = |of: fn(Swapped) -> usize| step == 0 && swapped.map(of) == Some(word);
            let before = if is_swapped(|of| of.a) { halves_swapped(machine, *a) } else { *a };
            *a = machine.bind(w.add(*b, before));
            *a = machine.bind(w.add(*a, machine.get_across(message[upper], 16)));
            *a = machine.bind(w.add(*a, machine.get(message[lower])));
            *d = machine.bind(w.and(mask, w.high(doubled(*a, *d), [32, 16][step])));
            let before = if is_swapped(|of| of.c) { halves_swapped(machine, *c) } else { *c };
            *c = machine.bind(w.add(*d, before));
            if step == 0 {
                *b = machine.bind(w.and(mask, w.high(doubled(*c, *b), 24)));
            } else {
                let both = machine.bind(doubled(*c, *b));
                let turned = w.or(w.high(both, 63 + 128), w.shl(both, w.number(128 - 63)));
                *b = machine.bind(w.and(mask, turned));
            }
        }
    }
}

/// The call of EIP-152's fifth test vector: the block "abc", twelve rounds.
fn example() -> Vec<u8> {
    let mut h = initial().map(|number| u64::try_from(number).expect("numbers have 64 bits"));
    h[0] ^= 0x0101_0040; // a hash of 64 bytes without a key
    let mut call = 12u32.to_be_bytes().to_vec();
    call.extend(h.iter().flat_map(|number| number.to_le_bytes()));
    call.extend(b"abc");
    call.resize(usize::try_from(T_AT).expect("a call is short"), 0);
    call.push(3); // bytes of the message
    call.resize(usize::try_from(CALLDATA_BYTES).expect("a call is short") - 1, 0);
    call.push(1);
    call
}
