//! Products in Fp6 in blocks: the operations that they stand for.

use alloc::vec::Vec;

use super::{FieldOp, Op, SumOp};

/// A product in Fp6 = Fp2[v] with v³ = a + b·u, over Fp2 = Fp[u] with u² = −1, an element in six slots; it stands in a block as operations that go by temporaries.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Fp6Op {
    /// Its first operation in the block.
    pub(super) first: usize,
    /// The slots that it writes.
    pub out: [u16; 6],
    /// The slots of the first factor.
    pub x: [u16; 6],
    /// The slots of the second factor.
    pub y: [u16; 6],
    /// a and b.
    pub xi: [u8; 2],
}

/// Products of all coefficients.
const PRODUCTS: u16 = 36;

impl Fp6Op {
    /// The most that a and b may be: multiples are sums in a block.
    pub const XI_MAX: u8 = 15;
    /// Its temporaries, after those of sums: one for each product, four for coefficients times v³, two for multiples.
    pub(crate) const TEMPORARIES: u16 = PRODUCTS + 6;

    /// The product, if a and b are small.
    pub fn new(out: [u16; 6], x: [u16; 6], y: [u16; 6], xi: [u8; 2]) -> Option<Self> {
        let is_small = xi.iter().all(|&part| part <= Self::XI_MAX);
        is_small.then_some(Self { first: 0, out, x, y, xi })
    }

    /// The slots that it names.
    pub fn slots(&self) -> impl Iterator<Item = u16> + use<> {
        self.out.into_iter().chain(self.x).chain(self.y)
    }

    /// The operations that compute it: coefficients times v³, all products, and then the sums of each six.
    pub fn operations(&self) -> Vec<Op> {
        let temporary = |place: u16| SumOp::TEMPORARY + SumOp::TEMPORARIES + place;
        let mut ops = Vec::new();
        let y: [[u16; 2]; 3] = [0, 1, 2].map(|place| [self.y[2 * place], self.y[2 * place + 1]]);
        let round = [[0, 1], [2, 3]].map(|to| to.map(|place| temporary(PRODUCTS + place)));
        for (from, to) in y[1..].iter().zip(round) {
            self.times_xi(*from, to, [4, 5].map(|place| temporary(PRODUCTS + place)), &mut ops);
        }
        let mut sums = Vec::new();
        for (k, is_real) in [(0, true), (0, false), (1, true), (1, false), (2, true), (2, false)] {
            let first = ops.len();
            for (place, &x) in self.x.iter().enumerate() {
                let i = place / 2;
                let [re, im] = if i <= k { y[k - i] } else { round[k + 2 - i] };
                let y = if (place % 2 == 0) == is_real { re } else { im };
                let out = temporary(6 * sums.len() as u16 + place as u16); // Below 36.
                ops.push(Op { kind: FieldOp::Mul, out, x, y });
            }
            sums.push((is_real, [0, 1, 2, 3, 4, 5].map(|place| ops[first + place].out)));
        }
        for ((is_real, products), out) in sums.into_iter().zip(self.out) {
            let sum = SumOp::TEMPORARY + SumOp::PRODUCTS_MAX as u16; // Six.
            for place in 1..6 {
                ops.push(Op {
                    kind: if is_real && place % 2 == 1 { FieldOp::Sub } else { FieldOp::Add },
                    out: if place == 5 { out } else { sum },
                    x: if place == 1 { products[0] } else { sum },
                    y: products[place],
                });
            }
        }
        ops
    }

    /// (re + im·u)(a + b·u) = a·re − b·im + (a·im + b·re)·u.
    fn times_xi(&self, [re, im]: [u16; 2], to: [u16; 2], [first, second]: [u16; 2], ops: &mut Vec<Op>) {
        let [a, b] = self.xi;
        let (x, y) = (multiple(ops, (a, re), first), multiple(ops, (b, im), second));
        ops.push(Op { kind: FieldOp::Sub, out: to[0], x, y });
        let (x, y) = (multiple(ops, (a, im), first), multiple(ops, (b, re), second));
        ops.push(Op { kind: FieldOp::Add, out: to[1], x, y });
    }
}

/// factor·of by doubling and adding, in `to` unless it is `of` itself; where it is.
fn multiple(ops: &mut Vec<Op>, (factor, of): (u8, u16), to: u16) -> u16 {
    let mut add = |kind, x, y| ops.push(Op { kind, out: to, x, y });
    match factor {
        0 => add(FieldOp::Sub, of, of),
        1 => return of,
        _ => {
            for bit in (0..factor.ilog2()).rev() {
                let half = if bit + 1 == factor.ilog2() { of } else { to };
                add(FieldOp::Add, half, half);
                if factor >> bit & 1 == 1 {
                    add(FieldOp::Add, to, of);
                }
            }
        }
    }
    to
}
