//! Σ sᵢ·Pᵢ over points of G1 or G2, with the check that each Pᵢ is in its group.
//!
//! The check computes z·P (or z²·P), z = |x|, by doublings: from right to left, so that it passes all 2ⁱ·P. A scalar is
//! written to the base z, s = Σ bⱼ·zʲ with four quarters of less than 64 bits, and each quarter in windows of w bits. As z²·P = −φ(P)
//! on G1 and z·Q = −ψ(Q) on G2 (Scott 2021, 2021/1130), every part of s·P is a small multiple d of a point that the check
//! passes, or of an image of it: it is added to bucket d (Yao 1976; Brickell, Gordon, McCurley and Wilson 1992, algorithm 1).
//! The chain follows z = 2¹⁶ + 2⁴⁸ + 7·(2⁶¹ − 2⁵⁷), or 14·(2⁶⁰ − 2⁵⁶) for the last; no two multiples of a point that it adds are equal or opposite.
//! There is one set of buckets B for all points and windows; at the end Σ d·B_d is taken by running sums (Pippenger 1976).
//! Digits are signed without any carry at run time: see [`Window`] and `quarters`.
//!
//! Points may repeat and cancel. Additions are incomplete all the same: buckets, and with them running sums, begin with
//! multiples of a point T of small order, see [`super::torsion`]. Within the chain of a point the argument of
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
use std::sync::LazyLock;

/// Bits of a quarter of a scalar: z and all below it fit.
const QUARTER_BITS: u32 = 64;

/// Bits of a quarter that one call of [`SumOfProducts::half`] takes care of.
const HALF_BITS: u32 = 32;

// What `chain` and `chain_of_calls` have z for.
const _: () = assert!(X_ABS == (1 << 16) + (1 << 48) + 7 * ((1 << 61) - (1 << 57)));
const _: () = assert!(X_ABS == (1 << 16) + (1 << 48) + 14 * ((1 << 60) - (1 << 56)));

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
    /// Doublings up to the next window, and its additions to buckets.
    pub step: [&'static str; 2],
    /// Half of a quarter.
    pub half: [&'static str; 2],
    /// A quarter and its image.
    pub chain: [&'static str; 2],
    /// The additions to buckets.
    pub scatter: &'static str,
    /// One doubling, and three.
    pub double: [&'static str; 2],
    /// A sum.
    pub add: &'static str,
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

    /// Whether additions and short rows of doublings are functions unless asked for: else they are written out, which takes less
    /// gas and more code.
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
        double: ["g1_double", "g1_double_3"],
        add: "g1_add",
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
        double: ["g2_double", "g2_double_3"],
        add: "g2_add",
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

/// Points that buckets begin with.
#[derive(Debug)]
pub struct Offsets<C> {
    /// T: all others.
    pub one: Affine<C>,
    /// 3T: that of the largest digit.
    pub three: Affine<C>,
    /// For each window −s·T: that of the smallest digit.
    pub lowest: [Affine<C>; 2],
}

static G1_OFFSETS: LazyLock<Offsets<Bls12_381Fp>> = LazyLock::new(Offsets::new);
static G2_OFFSETS: LazyLock<Offsets<Fp2<Bls12_381Fp>>> = LazyLock::new(Offsets::new);

/// s. Both sums begin with s·T from the bucket of −2ʷ⁻¹; the running sum R has (s + 2)·T after the first of 2ʷ⁻¹ − 1 turns, and
/// keeps it; and so the total has (2ʷ⁻¹·s + 2·(2ʷ⁻¹ − 1))·T in the end, which s makes the identity. Until then no two points that
/// are added have the same or opposite multiples of T; the last turn's have opposite ones, so that all is well unless they
/// are opposite points, whose sum is the identity.
fn lowest_offset(window: Window, order: u32) -> u32 {
    let (half, order) = (u64::from(window.half()), u64::from(order));
    let divisible = (0..half).map(|turn| turn * order).find(|&multiple| (multiple + 2).is_multiple_of(half));
    let quotient = (divisible.expect("the order is odd") + 2) / half; // 2/2ʷ⁻¹
    u32::try_from((quotient + order - 2) % order).expect("it is below the order")
}

impl<C: ConstantCoordinate> Offsets<C> {
    fn new() -> Self {
        let one = torsion_point::<C>();
        let times = |m: u32| multiple(one, &m.into()).expect("T has a large order");
        let lowest = [Window::Nibble, Window::Byte].map(|window| times(C::TORSION - lowest_offset(window, C::TORSION)));
        Self { one, three: times(3), lowest }
    }
}

/// A sum of products on its way.
pub struct SumOfProducts<M: Machine, G: ProductGroup<M>> {
    window: Window,
    /// Whether additions and short rows of doublings are functions.
    calls: bool,
    /// Element d: the sum of what scalars have d times.
    buckets: Array<Jacobian<G::Coordinate>>,
    /// The digits of a scalar, shifted right as windows are done. With cells of 16 bits: in variable t the windows t, t + n,
    /// t + 2n … of the n that have room in a cell, one in each cell. With cells of 64 bits: in variable 0 the four quarters,
    /// b₀ the lowest, in variable 1 one window of each, and in 2 and 3 what such a window is cut out by and shifted by.
    digits: [Variable; 4],
}

impl<M: Machine, G: ProductGroup<M>> SumOfProducts<M, G> {
    /// The variables and the array of sums; one program may have several sums, one after the other.
    pub fn new(machine: &M, window: Window) -> Self {
        Self {
            window,
            calls: G::CALLS,
            buckets: machine.array("buckets", Capacity::Unbounded),
            digits: ["digits_0", "digits_1", "digits_2", "digits_3"]
                .map(|name| machine.variable(name, machine.small(0))),
        }
    }

    /// The same with least code: on G1 a fourth of it, for 2,500 gas a product more.
    pub fn small(machine: &M, window: Window) -> Self {
        Self { calls: true, ..Self::new(machine, window) }
    }

    /// This sum with another window.
    #[must_use]
    pub fn with_window(&self, window: Window) -> Self {
        Self { window, ..*self }
    }

    /// Begins with nothing.
    pub fn clear(&self, machine: &M) {
        let count = self.window.buckets();
        machine.reserve(self.buckets, machine.small(u64::from(count)));
        let offsets = G::offsets();
        let point = |point| constant_point::<M, G>(machine, point);
        machine.fill(self.buckets, count, point(offsets.one));
        machine.store(self.buckets, machine.small(0), point(offsets.lowest[self.window as usize]));
        machine.store(self.buckets, machine.small(u64::from(count) - 1), point(offsets.three));
        if self.calls {
            machine.set(self.digits[2], machine.word(self.cells().each(self.cells().index_max())));
            machine.set(self.digits[3], machine.small(u64::from(self.window.bits())));
        }
    }

    /// Adds P, which must be in the group and not the identity.
    pub fn add_once(&self, machine: &M, point: Affine<G::Coordinate>) {
        let digit = machine.small(u64::from(self.window.half()) + 1);
        let bucket = machine.load(self.buckets, digit);
        machine.store(self.buckets, digit, bucket.add_mixed(point));
    }

    /// Adds s·P, for P other than the identity; what it returns must hold, or all is wrong.
    pub fn add(&self, machine: &M, scalar: M::Word, point: Affine<G::Coordinate>) -> Conditions<M::Fe> {
        let quarters = machine.bind(quarters(machine, scalar));
        G::membership(machine, point, self.multiply(machine, quarters, point))
    }

    /// The same, unless `is_other`: then to `other`, which is this sum with the other window.
    pub fn add_unless(
        &self,
        machine: &M,
        (is_other, other): (M::Word, &Self),
        scalar: M::Word,
        point: Affine<G::Coordinate>,
    ) -> Conditions<M::Fe> {
        let quarters = machine.bind(quarters(machine, scalar));
        let multiple = machine.branch(
            machine.not(is_other),
            |machine| self.multiply(machine, quarters, point),
            |machine| other.multiply(machine, quarters, point),
        );
        G::membership(machine, point, multiple)
    }

    /// P ↦ z^CHAINS·P, with the additions to buckets for the quarters of a scalar.
    fn multiply(&self, machine: &M, quarters: M::Word, point: Affine<G::Coordinate>) -> Jacobian<G::Coordinate> {
        self.begin(machine, machine.word_op(WordOp::Add, quarters, machine.word(added(self.window))));
        let mut multiple = point.to_jacobian(constant_point::<M, G>(machine, G::offsets().one).z);
        for chain in 0..G::CHAINS {
            if chain > 0 && !self.calls {
                self.advance(machine, if self.is_written_out() { QUARTER_BITS } else { HALF_BITS });
            }
            let chain = |machine: &M, point| {
                if self.calls { self.chain_of_calls(machine, point) } else { self.chain(machine, point) }
            };
            multiple = if G::CHAINS > 1 {
                machine.function(G::NAMES.chain[self.window as usize], multiple, chain)
            } else {
                chain(machine, multiple)
            };
        }
        multiple
    }

    /// The variables that hold a scalar's digits between halves.
    fn held(&self) -> &[Variable] {
        &self.digits[..(G::CELL_BITS / self.window.bits()) as usize] // u32 to usize widens
    }

    fn cells(&self) -> Cells {
        Cells { bits: G::CELL_BITS, index_bits: self.window.bits() }
    }

    /// Makes the variables hold the four quarters.
    fn begin(&self, machine: &M, quarters: M::Word) {
        if self.calls {
            return machine.set(self.digits[0], quarters); // each window takes what is next
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
        for &variable in self.held() {
            let shifted = machine.word_op(WordOp::Shr, machine.get(variable), machine.small(u64::from(bits)));
            machine.set(variable, shifted);
        }
    }

    /// Whether the halves of a quarter are written out, for less gas and more code: where there are many points.
    fn is_written_out(&self) -> bool {
        self.window == Window::Byte
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
        let ([_, _, p29], addend16) = half(0, start);
        let ([_, p57, p61], addend48) = half(HALF_BITS, double(machine, 3, p29));
        let fifteen = p61 + p57.addend().negated();
        double(machine, 3, fifteen) + fifteen.addend().negated() + addend48 + addend16
    }

    /// P ↦ 2¹⁶·P, 2²⁵·P and 2²⁹·P, with the additions to buckets for the half whose digits begin at `first_bit`; and the first
    /// of them once more, as those additions have it.
    fn half(
        &self,
        machine: &M,
        first_bit: u32,
        start: Jacobian<G::Coordinate>,
    ) -> ([Jacobian<G::Coordinate>; 3], Addend<G::Coordinate>) {
        let mut point = start;
        let (mut p16, mut p25) = (start, start);
        let mut addend16 = start.addend();
        for bit in 0..29u32 {
            let addend = point.addend(); // goes again where nobody reads it
            match bit {
                16 => (p16, addend16) = (point, addend),
                25 => p25 = point,
                _ => (),
            }
            if bit.is_multiple_of(self.window.bits()) {
                let bit = first_bit + bit;
                let variable = self.digits[(bit % G::CELL_BITS / self.window.bits()) as usize]; // u32 to usize widens
                self.scatter(machine, variable, bit / G::CELL_BITS * G::CELL_BITS, addend);
            }
            point = double(machine, 1, point);
        }
        ([p16, p25, point], addend16)
    }

    /// As [`Self::chain`], by calls from window to window: z = 2¹⁶ + 2⁴⁸ + 14·(2⁶⁰ − 2⁵⁶).
    fn chain_of_calls(&self, machine: &M, start: Jacobian<G::Coordinate>) -> Jacobian<G::Coordinate> {
        let [double_1, double_3] = G::NAMES.double;
        let once = |machine: &M, point| machine.function(double_1, point, |machine, point| double(machine, 1, point));
        let thrice = |point| machine.function(double_3, point, |machine, p| once(machine, double(machine, 2, p)));
        let mut point = self.scatter_window(machine, start);
        let [mut p16, mut p48, mut p56] = [start; 3];
        for bit in (0..QUARTER_BITS).step_by(self.window.bits() as usize).skip(1) {
            // u32 to usize widens
            point = self.step(machine, point);
            match bit {
                16 => p16 = point,
                48 => p48 = point,
                56 => p56 = point,
                _ => (),
            }
        }
        let p60 = match self.window {
            Window::Nibble => point,
            Window::Byte => thrice(once(machine, point)),
        };
        let fifteen = add::<M, G>(machine, p60, p56.negated());
        let twice = once(machine, fifteen);
        let fourteen_times = add::<M, G>(machine, thrice(twice), twice.negated());
        add::<M, G>(machine, add::<M, G>(machine, fourteen_times, p48), p16)
    }

    /// From a window's point to the next one's, and that window's additions to buckets: the functions of both windows end in
    /// the same code.
    fn step(&self, machine: &M, point: Jacobian<G::Coordinate>) -> Jacobian<G::Coordinate> {
        let [step_4, step_8] = G::NAMES.step;
        let four = |machine: &M, point| {
            machine.function(step_4, point, |machine, point| self.scatter_window(machine, double(machine, 4, point)))
        };
        match self.window {
            Window::Nibble => four(machine, point),
            Window::Byte => machine.function(step_8, point, |machine, point| four(machine, double(machine, 4, point))),
        }
    }

    /// The additions to buckets for the lowest windows of the quarters that are left, and `point` again.
    fn scatter_window(&self, machine: &M, point: Jacobian<G::Coordinate>) -> Jacobian<G::Coordinate> {
        let [quarters, window, mask, bits] = self.digits;
        machine.function(G::NAMES.scatter, point, |machine, point| {
            let digits = machine.bind(machine.get(quarters));
            let indices = machine.word_op(WordOp::And, digits, machine.get(mask));
            machine.set_indices(window, self.buckets, indices, self.cells());
            machine.set(quarters, machine.word_op(WordOp::Shr, digits, machine.get(bits)));
            self.scatter(machine, window, 0, point.addend());
            point
        })
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
        let half = u64::from(self.window.half());
        let lowest = machine.load(self.buckets, machine.small(0)).negated(); // the digit −2ʷ⁻¹ has no opposite
        let start = (lowest, lowest);
        let turn = |machine: &M, turn: M::Word, (running, total)| {
            let bucket = machine.load(self.buckets, machine.word_op(WordOp::Sub, machine.small(2 * half - 1), turn));
            let opposite = machine.word_op(WordOp::Add, turn, machine.small(1));
            let opposite = machine.load(self.buckets, opposite);
            let state = (running, total, bucket, opposite);
            if self.calls || self.window == Window::Nibble {
                machine.function(G::NAMES.turn, state, |_, state| turn_of(state))
            } else {
                turn_of(state)
            }
        };
        let (_, total) = match self.window {
            // Addresses are constants, and a call takes less gas than to compute them in a loop.
            Window::Nibble => (0..half - 1).fold(start, |state, index| turn(machine, machine.small(index), state)),
            Window::Byte => machine.repeat(machine.small(half - 1), start, turn),
        };
        total
    }
}

/// s ↦ Σ (bᵢ + h)·2^(64i), where s = Σ bᵢ·zⁱ mod r with bᵢ from −z/2 to z/2 and h = ⌊z/2⌋. With what [`added`] gives for a
/// window it is Σ vᵢ·2^(64i), where vᵢ, which is below 2⁶⁴, is bᵢ with 2ʷ⁻¹ added to each of its windows: window by window
/// it then has the numbers of buckets.
///
/// With C = h·(1 + z + z² + z³), bᵢ + h are the digits to the base z of (s + C) mod r, which is below z⁴.
fn quarters<M: Machine>(machine: &M, scalar: M::Word) -> M::Word {
    let (r, z, h) = lengths();
    let (r, z, c) = (machine.word(r), machine.word(z), machine.word(h * (U256::ONE + z + z * z + z * z * z)));
    let reduced = machine.word_op(WordOp::Mod, scalar, r);
    let mut rest = machine.bind(machine.word_op(WordOp::Mod, machine.word_op(WordOp::Add, reduced, c), r));
    let mut digits = machine.word_op(WordOp::Mod, rest, z);
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

/// Σ (2ʷ⁻¹ in each window − h)·2^(64i), which makes numbers of buckets of [`quarters`].
fn added(window: Window) -> U256 {
    let windows = (0..QUARTER_BITS).step_by(window.bits() as usize); // u32 to usize widens
    let halves = windows.fold(U256::ZERO, |sum, bit| sum + (U256::from(window.half()) << bit as usize)); // widens too
    (0..4usize).fold(U256::ZERO, |sum, quarter| sum + ((halves - lengths().2) << (64 * quarter)))
}

/// r, z, h = ⌊z/2⌋.
fn lengths() -> (U256, U256, U256) {
    let z = U256::from(X_ABS);
    (z * z * z * z - z * z + U256::ONE, z, z / U256::from(2))
}

/// P ↦ 2ⁿ·P.
fn double<M: Machine, C: Coordinate<Base = M::Fe>>(machine: &M, count: usize, point: Jacobian<C>) -> Jacobian<C> {
    (0..count).fold(point, |point, _| point.double(machine.constant(&constants().three_halves)))
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
    machine.function(G::NAMES.add, (a, b), |_, (a, b)| a + b.addend())
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

    fn check<C: ConstantCoordinate + std::fmt::Debug>(offsets: &Offsets<C>) {
        let Offsets { one: t, three, lowest } = offsets;
        assert_eq!(t.y.squared(), t.x * t.x.squared() + C::b());
        assert!((2..1000u32).all(|divisor| !C::TORSION.is_multiple_of(divisor)), "the order is prime");
        let times = |m: u32| multiple(*t, &m.into());
        let opposite = times(C::TORSION - 1).unwrap(); // has Z = 0 unless only the last step is exceptional
        assert_eq!((opposite.x, opposite.y), (t.x, -t.y), "(n − 1)·T is −T");
        assert_eq!(times(3), Some(*three));
        for (window, lowest) in [Window::Nibble, Window::Byte].into_iter().zip(lowest) {
            let expected = times(lowest_offset(window, C::TORSION)).unwrap();
            assert_eq!((expected.x, -expected.y), (lowest.x, lowest.y));
            what_is_added_differs(window, C::TORSION.into());
        }
    }

    /// Multiples of T, modulo its order, follow [`SumOfProducts::finish`].
    fn what_is_added_differs(window: Window, order: u64) {
        let start = u64::from(lowest_offset(window, u32::try_from(order).unwrap()));
        let (mut running, mut total) = (start, start);
        let add = |a: &mut u64, b: u64, may_be_opposite: bool| {
            assert!(*a != 0 && b != 0 && *a != b, "{a} and {b} modulo {order}");
            assert!(may_be_opposite || *a + b != order, "{a} and {b} modulo {order}");
            *a = (*a + b) % order;
        };
        for turn in 1..window.half() {
            add(&mut running, if turn == 1 { 3 } else { 1 }, false);
            add(&mut running, order - 1, false);
            add(&mut total, running, turn + 1 == window.half());
        }
        assert_eq!(total, 0);
    }

    #[test]
    fn sums_begin_so_far_outside_the_groups_that_no_exception_is_met() {
        check(&G1_OFFSETS);
        check(&G2_OFFSETS);
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
                let word = big(quarters(&machine, scalar).wrapping_add(added(window)));
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
