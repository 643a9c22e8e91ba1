//! Σ sᵢ·Pᵢ over points of G1 or G2, with the check that each Pᵢ is in its group.
//!
//! The check computes z·P (or z²·P), z = |x|, by doublings: from right to left, so that it passes all 2ⁱ·P. A scalar is
//! written to the base z, s = Σ bⱼ·zʲ with four quarters of less than 64 bits, and each quarter in windows of w bits. As z²·P = −φ(P)
//! on G1 and z·Q = −ψ(Q) on G2 (Scott 2021, 2021/1130), every part of s·P is a small multiple d of a point that the check
//! passes, or of an image of it: it is added to bucket d (Yao 1976; Brickell, Gordon, McCurley and Wilson 1992, algorithm 1).
//! The chain follows z = 2¹⁶ + 2⁴⁸ + 7·(2⁶¹ − 2⁵⁷); no two multiples of a point that it adds are equal or opposite.
//! There is one set of buckets B for all points and windows; at the end Σ d·B_d is taken by running sums (Pippenger 1976).
//! Digits are signed without any carry at run time: see [`Window`] and `quarters`.
//!
//! Points may repeat and cancel. Additions are incomplete all the same: buckets and running sums begin with multiples of a
//! point T outside the group, see [`super::torsion`]. Within the chain of a point the argument of
//! [`super::g1::membership`] holds: Z ≠ 0 for a member, and if Z ≠ 0 then all was computed without an exceptional case.

use super::constants::{X_ABS, constants, lift2};
use super::groups::{G1, G2, Group};
use super::torsion::{ConstantCoordinate, multiple, torsion_point};
use super::{g1, g2};
use crate::conditions::Conditions;
use crate::fp2::Fp2;
use crate::group::{Addend, Affine, Coordinate, Jacobian};
use residue_ir::{Array, Capacity, Cells, Machine, Variable, WordOp};
use residue_modular::{Number, fields::Bls12_381Fp};
use ruint::aliases::U256;
use std::ops::Range;
use std::sync::LazyLock;

/// Bits of a quarter of a scalar: z and all below it fit.
const QUARTER_BITS: u32 = 64;

/// Bits of a quarter that one call of [`SumOfProducts::half`] takes care of.
const HALF_BITS: u32 = 32;

// What `chain` and `half` have z for.
const _: () = assert!(X_ABS == (1 << 16) + (1 << 48) + 7 * ((1 << 61) - (1 << 57)));

/// How many bits w of a scalar one addition takes care of. Digits are signed, from −2ʷ⁻¹ to 2ʷ⁻¹ − 1; digit d has the bucket
/// d + 2ʷ⁻¹.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Window {
    /// 4: 16 buckets, for few points.
    Nibble,
    /// 8: 256 buckets, for many points.
    Byte,
}

impl Window {
    /// w.
    pub const fn bits(self) -> u32 {
        match self {
            Window::Nibble => 4,
            Window::Byte => 8,
        }
    }

    /// 2ʷ⁻¹: the bucket of digit 0.
    pub const fn half(self) -> u32 {
        1 << (self.bits() - 1)
    }

    /// 2ʷ.
    pub const fn buckets(self) -> u32 {
        1 << self.bits()
    }
}

/// Names of the functions of a group; those of two, by window.
#[derive(Debug, Clone, Copy)]
pub struct Names {
    /// The first bits of a half.
    pub step: [&'static str; 2],
    /// Half of a quarter.
    pub half: [&'static str; 2],
    /// A quarter and its image.
    pub chain: [&'static str; 2],
    /// The additions to buckets.
    pub scatter: &'static str,
    /// Three doublings.
    pub double_3: &'static str,
    /// A sum.
    pub add: &'static str,
    /// A sum with an affine point.
    pub add_affine: &'static str,
    /// A turn of the running sums.
    pub turn: &'static str,
}

/// What sums of products need to know of a group.
pub trait ProductGroup<M: Machine>: Group<M> {
    /// Coordinates of constant points.
    type Constant: ConstantCoordinate + 'static;

    /// The check ends with z^CHAINS·P, after CHAINS chains of 64 doublings.
    const CHAINS: u32;

    /// Bits of the cells that indices of buckets are taken from: addresses of buckets have room in them.
    const CELL_BITS: u32;

    /// Whether additions and short rows of doublings are functions: else they are written out, which takes less gas and more
    /// code.
    const CALLS: bool;

    /// From so many products on, windows of eight bits take less gas than those of four on `eip6690-2024`.
    const MANY: u64;

    /// Names of functions.
    const NAMES: Names;

    /// Where sums begin.
    fn offsets() -> &'static Offsets<Self::Constant>;

    /// A constant coordinate as one of the program.
    fn lift(machine: &M, value: Self::Constant) -> Self::Coordinate;

    /// P, z^CHAINS·P, z^(2·CHAINS)·P … below z⁴, for P in the group.
    fn images(machine: &M, point: Addend<Self::Coordinate>) -> Vec<Addend<Self::Coordinate>>;

    /// What holds exactly if `point` lies on the curve and in the group, given `multiple` = z^CHAINS·P from the chain.
    fn membership(
        machine: &M,
        point: Affine<Self::Coordinate>,
        multiple: Jacobian<Self::Coordinate>,
    ) -> Conditions<M::Fe>;
}

impl<M: Machine> ProductGroup<M> for G1 {
    type Constant = Bls12_381Fp;

    const CHAINS: u32 = 2;
    const CELL_BITS: u32 = 16;
    const CALLS: bool = false;
    const MANY: u64 = 12;
    const NAMES: Names = Names {
        step: ["g1_step_4", "g1_step_8"],
        half: ["g1_half_4", "g1_half_8"],
        chain: ["g1_chain_4", "g1_chain_8"],
        scatter: "g1_scatter",
        double_3: "g1_double_3",
        add: "g1_add",
        add_affine: "g1_add_affine",
        turn: "g1_turn",
    };

    fn offsets() -> &'static Offsets<Bls12_381Fp> {
        &G1_OFFSETS
    }

    fn lift(machine: &M, value: Bls12_381Fp) -> M::Fe {
        machine.constant(&value.to_canonical())
    }

    /// z²·(x, y) = −φ(x, y) = (β·x, −y).
    fn images(machine: &M, point: Addend<M::Fe>) -> Vec<Addend<M::Fe>> {
        let beta = machine.constant(&constants().beta);
        vec![point, Addend { x: point.x * beta, ..point }.negated()]
    }

    fn membership(machine: &M, point: Affine<M::Fe>, multiple: Jacobian<M::Fe>) -> Conditions<M::Fe> {
        g1::membership_from_multiple(machine, point, multiple)
    }
}

impl<M: Machine> ProductGroup<M> for G2 {
    type Constant = Fp2<Bls12_381Fp>;

    const CHAINS: u32 = 1;
    const CELL_BITS: u32 = 64;
    const CALLS: bool = true;
    const MANY: u64 = 14;
    const NAMES: Names = Names {
        step: ["g2_step_4", "g2_step_8"],
        half: ["g2_half_4", "g2_half_8"],
        chain: ["g2_chain_4", "g2_chain_8"],
        scatter: "g2_scatter",
        double_3: "g2_double_3",
        add: "g2_add",
        add_affine: "g2_add_affine",
        turn: "g2_turn",
    };

    fn offsets() -> &'static Offsets<Fp2<Bls12_381Fp>> {
        &G2_OFFSETS
    }

    fn lift(machine: &M, value: Fp2<Bls12_381Fp>) -> Fp2<M::Fe> {
        lift2(machine, &Fp2 { c0: value.c0.to_canonical(), c1: value.c1.to_canonical() })
    }

    /// z·(x, y) = −ψ(x, y) = (xᵖ·cx, −yᵖ·cy), and z²·(x, y) = ψ²(x, y) = (cx^(p + 1)·x, −y), since cy^(p + 1) = −1.
    fn images(machine: &M, point: Addend<Fp2<M::Fe>>) -> Vec<Addend<Fp2<M::Fe>>> {
        let cx = lift2(machine, &constants().psi_x);
        let cy = lift2(machine, &constants().psi_y);
        let norm = cx.norm();
        let once = Addend {
            x: point.x.conjugate_mul(cx),
            y: point.y.conjugate_times(cy.multiplicand()),
            is_negated: !point.is_negated,
            z: point.z.conjugate(),
            zz: point.zz.conjugate(),
            zzz: point.zzz.conjugate(),
        };
        let twice = Addend { x: point.x.scale(norm), ..point }.negated();
        vec![point, once, twice, Addend { x: once.x.scale(norm), ..once }.negated()]
    }

    fn membership(machine: &M, point: Affine<Fp2<M::Fe>>, multiple: Jacobian<Fp2<M::Fe>>) -> Conditions<M::Fe> {
        g2::membership_from_chain(machine, point, multiple)
    }
}

/// Points that buckets and running sums begin with, and what takes them away.
#[derive(Debug)]
pub struct Offsets<C> {
    /// T.
    pub one: Affine<C>,
    /// 3T.
    pub three: Affine<C>,
    /// For each window, minus the multiple of T that the total has.
    pub correction: [Affine<C>; 2],
}

static G1_OFFSETS: LazyLock<Offsets<Bls12_381Fp>> = LazyLock::new(Offsets::new);
static G2_OFFSETS: LazyLock<Offsets<Fp2<Bls12_381Fp>>> = LazyLock::new(Offsets::new);

/// The multiple of T in the total. A bucket begins with T. The running sum R begins with 3T, and has 2T or 3T where a bucket
/// is added or subtracted; the total A begins with T, and R with 2T is added to it 2ʷ⁻¹ times. So no two points that are
/// added have the same or opposite multiples, and none has 0.
fn total_offset(window: Window) -> i64 {
    1 + 2 * i64::from(window.half())
}

impl<C: ConstantCoordinate> Offsets<C> {
    fn new() -> Self {
        let one = torsion_point::<C>();
        let times = |m| multiple(one, m).expect("T has a large order");
        let correction = [Window::Nibble, Window::Byte].map(|window| times(-total_offset(window)));
        Self { one, three: times(3), correction }
    }
}

/// A sum of products on its way.
pub struct SumOfProducts<M: Machine, G: ProductGroup<M>> {
    window: Window,
    /// Element d: the sum of what scalars have d times.
    buckets: Array<Jacobian<G::Coordinate>>,
    /// The digits of a scalar, shifted right as windows are done. With cells of 16 bits: in variable t the windows t, t + n,
    /// t + 2n … of the n that have room in a cell, one in each cell. With cells of 64 bits: in variable 0 the four quarters,
    /// b₀ the lowest, and in variable 1 one window of each.
    digits: [Variable; 4],
}

impl<M: Machine, G: ProductGroup<M>> SumOfProducts<M, G> {
    /// The variables and the array of sums; one program may have several sums, one after the other.
    pub fn new(machine: &M, window: Window) -> Self {
        Self {
            window,
            buckets: machine.array("buckets", Capacity::Unbounded),
            digits: ["digits_0", "digits_1", "digits_2", "digits_3"]
                .map(|name| machine.variable(name, machine.small(0))),
        }
    }

    /// This sum with another window.
    #[must_use]
    pub fn with_window(&self, window: Window) -> Self {
        Self { window, buckets: self.buckets, digits: self.digits }
    }

    /// Begins with nothing.
    pub fn clear(&self, machine: &M) {
        let count = self.window.buckets();
        machine.reserve(self.buckets, machine.small(u64::from(count)));
        machine.fill(self.buckets, count, constant_point::<M, G>(machine, G::offsets().one));
    }

    /// Adds P, which must be in the group and not the identity.
    pub fn add_once(&self, machine: &M, point: Affine<G::Coordinate>) {
        let digit = machine.small(u64::from(self.window.half()) + 1);
        let bucket = machine.load(self.buckets, digit);
        machine.store(self.buckets, digit, bucket.add_mixed(point));
    }

    /// Adds s·P, for P other than the identity; what it returns must hold, or all is wrong.
    pub fn add(&self, machine: &M, scalar: M::Word, point: Affine<G::Coordinate>) -> Conditions<M::Fe> {
        self.begin(machine, quarters(machine, self.window, scalar));
        let mut multiple = point.to_jacobian(constant_point::<M, G>(machine, G::offsets().one).z);
        for chain in 0..G::CHAINS {
            if chain > 0 {
                self.advance(machine, if self.is_written_out() { QUARTER_BITS } else { HALF_BITS });
            }
            multiple = if G::CHAINS > 1 {
                machine.function(G::NAMES.chain[self.window as usize], multiple, |machine, p| self.chain(machine, p))
            } else {
                self.chain(machine, multiple)
            };
        }
        G::membership(machine, point, multiple)
    }

    /// The variables that hold a scalar's digits between halves.
    fn held(&self) -> &[Variable] {
        let count = if G::CALLS { 1 } else { G::CELL_BITS / self.window.bits() };
        &self.digits[..count as usize] // u32 to usize widens
    }

    fn cells(&self) -> Cells {
        Cells { bits: G::CELL_BITS, index_bits: self.window.bits() }
    }

    /// Makes the variables hold the four quarters.
    fn begin(&self, machine: &M, quarters: M::Word) {
        if G::CALLS {
            return machine.set(self.digits[0], quarters);
        }
        let quarters = machine.bind(quarters);
        for (&variable, bit) in self.held().iter().zip((0..).step_by(self.window.bits() as usize)) {
            machine.set_indices(variable, self.buckets, self.indices(machine, quarters, bit), self.cells());
        }
    }

    /// The windows of `quarters` that begin at `bit` of each cell.
    fn indices(&self, machine: &M, quarters: M::Word, bit: u32) -> M::Word {
        let shifted = match bit {
            0 => quarters,
            _ => machine.word_op(WordOp::Shr, quarters, machine.small(u64::from(bit))),
        };
        machine.word_op(WordOp::And, machine.word(self.cells().each(self.cells().index_max())), shifted)
    }

    /// Makes the digits that stand `bits` higher stand where those behind us were.
    fn advance(&self, machine: &M, bits: u32) {
        if G::CALLS {
            return; // each window has done so
        }
        for &variable in self.held() {
            let shifted = machine.word_op(WordOp::Shr, machine.get(variable), machine.small(u64::from(bits)));
            machine.set(variable, shifted);
        }
    }

    /// Whether the halves of a quarter are written out, for less gas and more code: where there are many points.
    fn is_written_out(&self) -> bool {
        !G::CALLS && self.window == Window::Byte
    }

    /// P ↦ z·P, with the additions to buckets on the way: z = 2¹⁶ + 2⁴⁸ + 7·(2⁶¹ − 2⁵⁷).
    fn chain(&self, machine: &M, start: Jacobian<G::Coordinate>) -> Jacobian<G::Coordinate> {
        let half = |first_bit, point| {
            if self.is_written_out() {
                return self.half(machine, first_bit, point);
            }
            if first_bit > 0 {
                self.advance(machine, HALF_BITS);
            }
            let half = |machine: &M, point| self.half(machine, 0, point).0;
            let points @ [p16, ..] = machine.function(G::NAMES.half[self.window as usize], point, half);
            (points, p16.addend())
        };
        let ([p16, _, p29], addend16) = half(0, start);
        let ([p48, p57, p61], addend48) = half(HALF_BITS, double_3::<M, G>(machine, p29));
        let fifteen = add::<M, G>(machine, p61, p57.negated());
        let seven_times = add::<M, G>(machine, double_3::<M, G>(machine, fifteen), fifteen.negated());
        if G::CALLS {
            add::<M, G>(machine, add::<M, G>(machine, seven_times, p48), p16)
        } else {
            seven_times + addend48 + addend16
        }
    }

    /// P ↦ 2¹⁶·P, 2²⁵·P and 2²⁹·P, with the additions to buckets for the half whose digits begin at `first_bit`; and the first
    /// of them once more, as those additions have it.
    fn half(
        &self,
        machine: &M,
        first_bit: u32,
        start: Jacobian<G::Coordinate>,
    ) -> ([Jacobian<G::Coordinate>; 3], Addend<G::Coordinate>) {
        let (mut point, mut from) = (start, first_bit);
        let (mut p16, mut p25) = (start, start);
        let mut addend16 = start.addend();
        if G::CALLS {
            let step = |machine: &M, point| self.stretch(machine, 0..8, point, |_, _, _| ());
            for bits in [8, 16, 24] {
                point = machine.function(G::NAMES.step[self.window as usize], point, step);
                if bits == 16 {
                    p16 = point;
                }
            }
            from += 24;
        }
        let end = self.stretch(machine, from..first_bit + 29, point, |bit, point, addend| match bit - first_bit {
            16 => (p16, addend16) = (point, addend),
            25 => p25 = point,
            _ => (),
        });
        ([p16, p25, end], addend16)
    }

    /// A doubling for each of `bits`, with the additions to buckets; `pass` sees each bit's point.
    fn stretch(
        &self,
        machine: &M,
        bits: Range<u32>,
        mut point: Jacobian<G::Coordinate>,
        mut pass: impl FnMut(u32, Jacobian<G::Coordinate>, Addend<G::Coordinate>),
    ) -> Jacobian<G::Coordinate> {
        for bit in bits {
            let addend = point.addend(); // goes again where nobody reads it
            pass(bit, point, addend);
            if bit.is_multiple_of(self.window.bits()) {
                self.scatter_at(machine, bit, point, addend);
            }
            point = double(machine, point);
        }
        point
    }

    /// The additions to buckets for the window that begins at `bit` of the digits.
    fn scatter_at(&self, machine: &M, bit: u32, point: Jacobian<G::Coordinate>, addend: Addend<G::Coordinate>) {
        if G::CALLS {
            let [quarters, window, ..] = self.digits;
            let digits = machine.bind(machine.get(quarters));
            machine.set_indices(window, self.buckets, self.indices(machine, digits, 0), self.cells());
            let bits = machine.small(u64::from(self.window.bits()));
            machine.set(quarters, machine.word_op(WordOp::Shr, digits, bits));
            machine
                .function(G::NAMES.scatter, point, |machine, point| self.scatter(machine, window, 0, point.addend()));
        } else {
            let cell = bit / G::CELL_BITS;
            let variable = self.digits[(bit % G::CELL_BITS / self.window.bits()) as usize]; // u32 to usize widens
            self.scatter(machine, variable, cell * G::CELL_BITS, addend);
        }
    }

    /// Adds `point` and its images to the buckets that `digits` name, the first of them in the cell at `first_bit`.
    fn scatter(&self, machine: &M, digits: Variable, first_bit: u32, point: Addend<G::Coordinate>) {
        let cells = Cells { bits: G::CELL_BITS, index_bits: Window::Byte.bits() }; // one text for both windows
        for (image, bit) in G::images(machine, point).into_iter().zip((first_bit..).step_by(
            (QUARTER_BITS * G::CHAINS) as usize, // u32 to usize widens
        )) {
            let digit = machine.index(digits, self.buckets, bit, cells);
            let bucket = machine.load(self.buckets, digit);
            machine.store(self.buckets, digit, bucket + image);
        }
    }

    /// The sum; Z = 0 if it is the identity.
    pub fn finish(&self, machine: &M) -> Jacobian<G::Coordinate> {
        let offsets = G::offsets();
        let half = u64::from(self.window.half());
        let lowest = machine.load(self.buckets, machine.small(0)); // the digit −2ʷ⁻¹ has no opposite
        let running = add_constant::<M, G>(machine, lowest.negated(), offsets.three);
        let start = (running, add_constant::<M, G>(machine, running, offsets.one));
        let turn = |machine: &M, turn: M::Word, (running, total)| {
            let bucket = machine.load(self.buckets, machine.word_op(WordOp::Sub, machine.small(2 * half - 1), turn));
            let opposite = machine.word_op(WordOp::Add, turn, machine.small(1));
            let opposite = machine.load(self.buckets, opposite);
            let state = (running, total, bucket, opposite);
            if G::CALLS { machine.function(G::NAMES.turn, state, |_, state| turn_of(state)) } else { turn_of(state) }
        };
        let (_, total) = match self.window {
            // Written out, addresses are constants.
            Window::Nibble => (0..half - 1).fold(start, |state, index| turn(machine, machine.small(index), state)),
            Window::Byte => machine.repeat(machine.small(half - 1), start, turn),
        };
        add_constant::<M, G>(machine, total, offsets.correction[self.window as usize])
    }
}

/// s ↦ Σ vᵢ·2^(64i), where s = Σ bᵢ·zⁱ mod r with bᵢ from −z/2 to z/2, and vᵢ, which is below 2⁶⁴, is bᵢ with 2ʷ⁻¹ added to
/// each of its windows: window by window it then has the numbers of buckets.
///
/// With h = ⌊z/2⌋ and C = h·(1 + z + z² + z³), bᵢ + h are the digits to the base z of (s + C) mod r, which is below z⁴.
fn quarters<M: Machine>(machine: &M, window: Window, scalar: M::Word) -> M::Word {
    let z = U256::from(X_ABS);
    let r = z * z * z * z - z * z + U256::ONE;
    let h = z / U256::from(2);
    let windows = (0..QUARTER_BITS).step_by(window.bits() as usize); // u32 to usize widens
    let halves = windows.fold(U256::ZERO, |sum, bit| sum + (U256::from(window.half()) << bit as usize)); // widens too
    let added = (0..4usize).fold(U256::ZERO, |sum, quarter| sum + ((halves - h) << (64 * quarter)));
    let (r, z, c) = (machine.word(r), machine.word(z), machine.word(h * (U256::ONE + z + z * z + z * z * z)));
    let reduced = machine.word_op(WordOp::Mod, scalar, r);
    let mut rest = machine.bind(machine.word_op(WordOp::Mod, machine.word_op(WordOp::Add, reduced, c), r));
    let mut digits = machine.word_op(WordOp::Add, machine.word_op(WordOp::Mod, rest, z), machine.word(added));
    for quarter in 1..4 {
        rest = machine.word_op(WordOp::Div, rest, z);
        let digit = if quarter < 3 {
            rest = machine.bind(rest);
            machine.word_op(WordOp::Mod, rest, z)
        } else {
            rest
        };
        let shifted = machine.word_op(WordOp::Shl, digit, machine.small(u64::from(quarter * QUARTER_BITS)));
        digits = machine.word_op(WordOp::Add, shifted, digits);
    }
    digits
}

fn double<M: Machine, C: Coordinate<Base = M::Fe>>(machine: &M, point: Jacobian<C>) -> Jacobian<C> {
    point.double(machine.constant(&constants().three_halves))
}

/// (P, Q) ↦ P + Q for a constant Q.
fn add_constant<M: Machine, G: ProductGroup<M>>(
    machine: &M,
    point: Jacobian<G::Coordinate>,
    constant: Affine<G::Constant>,
) -> Jacobian<G::Coordinate> {
    let Jacobian { x, y, .. } = constant_point::<M, G>(machine, constant);
    let constant = Affine::new(x, y);
    if G::CALLS {
        machine.function(G::NAMES.add_affine, (point, constant), |_, (point, constant)| point.add_mixed(constant))
    } else {
        point.add_mixed(constant)
    }
}

/// P ↦ 8·P.
fn double_3<M: Machine, G: ProductGroup<M>>(machine: &M, point: Jacobian<G::Coordinate>) -> Jacobian<G::Coordinate> {
    let thrice = |machine: &M, point| (0..3).fold(point, |point, _| double(machine, point));
    if G::CALLS { machine.function(G::NAMES.double_3, point, thrice) } else { thrice(machine, point) }
}

/// (R, A, B, C) ↦ (R + B − C, A + R + B − C).
fn turn_of<C: Coordinate>(
    (running, total, bucket, opposite): (Jacobian<C>, Jacobian<C>, Jacobian<C>, Jacobian<C>),
) -> (Jacobian<C>, Jacobian<C>) {
    let running = running + bucket.addend() + opposite.addend().negated();
    (running, total + running.addend())
}

fn add<M: Machine, G: ProductGroup<M>>(
    machine: &M,
    a: Jacobian<G::Coordinate>,
    b: Jacobian<G::Coordinate>,
) -> Jacobian<G::Coordinate> {
    if G::CALLS { machine.function(G::NAMES.add, (a, b), |_, (a, b)| a + b.addend()) } else { a + b.addend() }
}

fn constant_point<M: Machine, G: ProductGroup<M>>(machine: &M, point: Affine<G::Constant>) -> Jacobian<G::Coordinate> {
    let Affine { x, y } = point;
    let [x, y, z] = [x, y, G::Constant::ONE].map(|value| G::lift(machine, value));
    Jacobian { x, y, z }
}

#[cfg(test)]
mod tests {
    use super::*;
    use num_bigint::{BigInt, Sign};
    use residue_modular::Number;

    /// r·T, for r as in the scalars: the part of T outside the group.
    fn outside<C: ConstantCoordinate>(t: Affine<C>) -> Affine<C> {
        let z = U256::from(X_ABS);
        let r = z * z * z * z - z * z + U256::ONE;
        let three_halves = Bls12_381Fp::from_u64(3) * Bls12_381Fp::from_u64(2).inverse().unwrap();
        let mut sum = t.to_jacobian(C::ONE);
        for bit in (0..r.bit_len() - 1).rev() {
            sum = sum.double(three_halves);
            if r.bit(bit) {
                sum = sum.add_mixed(t);
            }
        }
        let inverse = sum.z.inverted().unwrap();
        Affine::new(sum.x * inverse.squared(), sum.y * inverse.squared() * inverse)
    }

    /// No multiple of T that the sums could meet, as a difference or a sum of two others, is in the group.
    fn check<C: ConstantCoordinate + std::fmt::Debug>(offsets: &Offsets<C>) {
        let t = offsets.one;
        assert_eq!(t.y.squared(), t.x * t.x.squared() + C::b());
        let part = outside(t);
        let three_halves = Bls12_381Fp::from_u64(3) * Bls12_381Fp::from_u64(2).inverse().unwrap();
        let mut sum = part.to_jacobian(C::ONE).double(three_halves);
        for m in 3..=2 * total_offset(Window::Byte) {
            // Z = 0 where (m − 1)·part is ±part, so above all where m·part is the identity.
            sum = sum.add_mixed(part);
            assert!(sum.z.inverted().is_some(), "{m}·T is in the group");
        }
        for (window, correction) in [Window::Nibble, Window::Byte].into_iter().zip(offsets.correction) {
            let sum = multiple(t, total_offset(window)).unwrap();
            assert_eq!((sum.x, -sum.y), (correction.x, correction.y));
        }
    }

    #[test]
    fn sums_begin_so_far_outside_the_groups_that_no_exception_is_met() {
        check(&G1_OFFSETS);
        check(&G2_OFFSETS);
    }

    #[test]
    fn what_is_added_has_different_multiples_of_t() {
        for window in [Window::Nibble, Window::Byte] {
            let (mut running, mut total) = (3i64, 1i64);
            // Beside b, a sum with a is exceptional only for a = ±b.
            let add = |a: &mut i64, b: i64| {
                assert!(*a != b && *a != -b && *a != 0 && b != 0, "{a} and {b}");
                *a += b;
            };
            add(&mut running, -1);
            add(&mut total, running);
            for _ in 1..window.half() {
                add(&mut running, 1);
                add(&mut running, -1);
                add(&mut total, running);
            }
            assert_eq!(total, total_offset(window));
        }
    }

    #[test]
    fn quarters_are_signed_digits_of_the_scalar() {
        let machine = residue_ir::Numbers::<Bls12_381Fp>::new(Vec::new());
        let z = BigInt::from(X_ABS);
        let r: BigInt = z.pow(4) - z.pow(2) + 1;
        let big = |word: U256| BigInt::from_bytes_be(Sign::Plus, &word.to_be_bytes::<32>());
        let mut scalars = vec![U256::ZERO, U256::ONE, U256::MAX, U256::MAX - U256::ONE];
        for power in 1..4 {
            let near = U256::from(X_ABS).pow(U256::from(power));
            scalars.extend([near - U256::ONE, near, near + U256::ONE, near / U256::from(2), near * U256::from(3)]);
        }
        let r_word = U256::from(X_ABS).pow(U256::from(4)) - U256::from(X_ABS).pow(U256::from(2)) + U256::ONE;
        for k in 0..8u64 {
            scalars.push(r_word + U256::from(k) - U256::from(4));
            scalars.push(r_word * U256::from(2) + U256::from(k) - U256::from(4));
            scalars.push(r_word / U256::from(2) + U256::from(k));
            scalars.push(U256::MAX / U256::from(3 + k));
        }
        for scalar in scalars {
            for window in [Window::Nibble, Window::Byte] {
                let word = big(quarters(&machine, window, scalar));
                let mut sum = BigInt::ZERO;
                for quarter in 0..4u32 {
                    for bit in (0..QUARTER_BITS).step_by(window.bits() as usize) {
                        let bucket = (&word >> (64 * quarter + bit)) & BigInt::from(window.buckets() - 1);
                        sum += ((bucket - window.half()) * z.pow(quarter)) << bit;
                    }
                }
                assert_eq!((sum - big(scalar)) % &r, BigInt::ZERO, "{scalar:#x}, {window:?}");
            }
        }
    }
}
