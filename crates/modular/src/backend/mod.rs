//! Kernels: the arithmetic on limbs, and the choice among its implementations by modulus and CPU.
//!
//! [`portable`] runs everywhere and judges the rest; `chains` is for aarch64; [`sliced`] has the widths without compiled arrays and
//! [`power_of_two`] the moduli that need no Montgomery form. A context selects its [`Kernels`] once, at construction:
//! an instruction then costs one call through a function pointer.

use core::marker::PhantomData;

use residue_formula::PerOp;

use crate::accelerators::Accelerated;
use crate::context::{FieldContext, Fp2Strided, Fp6Slots, PackedStep, SlotStep, Strided, ValueOutOfRange};
use crate::limbs::Limb;
use crate::modulus::Kind;

#[cfg(any(test, target_arch = "aarch64"))]
mod chains;
mod fp2;
mod fp6;
pub(crate) mod one_limb;
mod packed;
pub(crate) mod portable;
mod power_of_two;
mod sliced;
mod sums;
#[cfg(test)]
mod tests;
pub(crate) mod transfer;
#[cfg(target_arch = "x86_64")]
mod x86_64;

/// The fastest arithmetic in plain Rust for this target.
#[cfg(target_arch = "aarch64")]
use chains as plain;
#[cfg(not(target_arch = "aarch64"))]
use portable as plain;

/// One operation of one kind of modulus, on residues at limb offsets of one slice; `m.len()` is the width.
/// All is read before anything is written. Offsets beyond the slice panic.
pub(crate) trait Kernel {
    /// (x, y) ↦ out.
    fn run(limbs: &mut [Limb], out: usize, x: usize, y: usize, m: &[Limb], n0: Limb);

    /// (xᵢ, yᵢ) ↦ outᵢ for `count` lanes of slots, in turn. No lane may read a result of an earlier one.
    #[inline(always)]
    fn run_lanes(limbs: &mut [Limb], [out, x, y]: [Strided; 3], count: usize, m: &[Limb], n0: Limb) {
        let width = m.len();
        for lane in 0..count {
            let [out, x, y] = [out, x, y].map(|operand| operand.slot(lane) * width);
            Self::run(limbs, out, x, y, m, n0);
        }
    }
}

/// Squarings of one kind of modulus, one after the other.
pub(crate) trait Squarings {
    /// x ↦ out = x^(2^count) as residues; at least one squaring. As [`Kernel::run`].
    fn run(limbs: &mut [Limb], out: usize, x: usize, count: u16, m: &[Limb], n0: Limb);
}

/// Squarings by a product.
pub(crate) struct Repeated<Mul>(PhantomData<Mul>);

impl<Mul: Kernel> Squarings for Repeated<Mul> {
    #[inline(always)]
    fn run(limbs: &mut [Limb], out: usize, x: usize, count: u16, m: &[Limb], n0: Limb) {
        Mul::run(limbs, out, x, x, m, n0);
        for _ in 1..count {
            Mul::run(limbs, out, out, out, m, n0);
        }
    }
}

/// One operation in the forms a context calls.
#[derive(Clone, Copy)]
pub(crate) struct Operation {
    /// One lane, by slots. Slots beyond the context panic.
    pub one: fn(&mut FieldContext, usize, usize, usize),
    /// Any number of lanes, by slots. The slots must exist.
    pub lanes: fn(&mut FieldContext, Strided, Strided, Strided, usize),
    /// One lane, by limb offsets.
    pub limbs: fn(&mut [Limb], usize, usize, usize, &[Limb], Limb),
}

/// The three operations of one kind of modulus, and sequences of them.
#[derive(Clone, Copy)]
pub(crate) struct Kernels {
    /// (x, y) ↦ x + y mod m.
    pub add: Operation,
    /// (x, y) ↦ x − y mod m.
    pub sub: Operation,
    /// (x, y) ↦ x·y·R⁻¹ mod m; where residues are canonical x·y mod m.
    pub mul: Operation,
    /// As [`FieldContext::sum_products`].
    pub sum: fn(&mut FieldContext, usize, u8, &[[u16; 2]]),
    /// As [`FieldContext::mul_fp2`].
    pub mul_fp2: fn(&mut FieldContext, [Fp2Strided; 3], usize),
    /// As [`FieldContext::mul_fp6`].
    pub mul_fp6: fn(&mut FieldContext, &Fp6Slots),
    /// Steps in their order, by slots. Slots beyond the context panic.
    pub steps: fn(&mut FieldContext, &[SlotStep]),
    /// As [`FieldContext::run_packed`].
    pub packed: fn(&mut FieldContext, PerOp<u8>, &[PackedStep]),
    /// As [`FieldContext::store`], for values of whole limbs. The slots must exist.
    pub store: fn(&mut FieldContext, usize, &[u8]) -> Result<(), ValueOutOfRange>,
    /// As [`FieldContext::load`], for values of whole limbs. The slots must exist.
    pub load: fn(&FieldContext, usize, &mut [u8]),
    /// As [`FieldContext::less`].
    pub less: fn(&FieldContext, usize, usize) -> bool,
}

impl Operation {
    fn of<K: Kernel>() -> Self {
        Self { one: one::<K>, lanes: lanes::<K>, limbs: K::run }
    }

    /// The operation on operands of their own, for rare uses: constants and conversions.
    pub fn apply(&self, x: &[Limb], y: &[Limb], m: &[Limb], n0: Limb, out: &mut [Limb]) {
        let width = m.len();
        let mut limbs = [x, y].concat();
        (self.limbs)(&mut limbs, 0, 0, width, m, n0);
        out.copy_from_slice(&limbs[..width]);
    }
}

impl Kernels {
    /// For moduli of WIDTH limbs, or of any number if that is 0.
    fn of<const WIDTH: usize, Add: Kernel, Sub: Kernel, Mul: Kernel, Square: Squarings>() -> Self {
        Self {
            add: Operation::of::<Add>(),
            sub: Operation::of::<Sub>(),
            mul: Operation::of::<Mul>(),
            sum: sums::one_by_one,
            mul_fp2: fp2::by_sums,
            mul_fp6: fp6::by_sums,
            steps: steps::<WIDTH, Add, Sub, Mul, Square>,
            packed: packed::run::<WIDTH, Add, Sub, Mul, Square>,
            store: transfer::store_any_width,
            load: transfer::load_any_width,
            less: transfer::less_any_width,
        }
    }

    /// Without squarings of their own.
    fn of_three<Add: Kernel, Sub: Kernel, Mul: Kernel>() -> Self {
        Self::of::<0, Add, Sub, Mul, Repeated<Mul>>()
    }

    /// For odd moduli of N limbs.
    fn of_width<const N: usize, Mul: Kernel, Square: Squarings>() -> Self {
        let of_any_width = Self::of::<N, Add<N>, Sub<N>, Mul, Square>();
        Self {
            sum: sums::of_width::<N>,
            mul_fp2: fp2::of_width::<N>,
            mul_fp6: fp6::of_width::<N>,
            store: transfer::store::<N, Mul>,
            load: transfer::load::<N, Mul>,
            less: transfer::less::<N, Mul>,
            ..of_any_width
        }
    }

    fn of_product<const N: usize, Mul: Kernel>() -> Self {
        Self::of_width::<N, Mul, Repeated<Mul>>()
    }

    /// For odd moduli of N limbs with canonical residues.
    fn of_calls<const N: usize, Add: Kernel, Sub: Kernel, Mul: Kernel>() -> Self {
        Self {
            store: transfer::store_canonical::<N>,
            load: transfer::load_canonical::<N>,
            ..Self::of::<N, Add, Sub, Mul, Repeated<Mul>>()
        }
    }

    /// For odd moduli of one limb.
    fn of_one_limb<Add: Kernel, Sub: Kernel, Mul: Kernel>() -> Self {
        let of_any_width = Self::of_three::<Add, Sub, Mul>();
        Self {
            sum: sums::of_width::<1>,
            mul_fp2: fp2::of_width::<1>,
            mul_fp6: fp6::of_width::<1>,
            store: transfer::store_one_limb,
            load: transfer::load_one_limb,
            less: transfer::less::<1, Mul>,
            ..of_any_width
        }
    }

    /// In plain Rust, except for the carries of sums.
    fn of_plain_product<const N: usize>() -> Self {
        Self::of_product::<N, plain::MontMul<N>>()
    }
}

/// The fastest kernels for a modulus of this width on this CPU.
pub(crate) fn kernels(width_limbs: usize, kind: Kind) -> Kernels {
    match (kind, width_limbs) {
        (Kind::Montgomery, _) => montgomery_kernels(width_limbs),
        (Kind::Accelerated, 4) => Kernels::of_calls::<4, Accelerated<4, 0>, Accelerated<4, 1>, Accelerated<4, 2>>(),
        (Kind::Accelerated, _) => Kernels::of_calls::<6, Accelerated<6, 0>, Accelerated<6, 1>, Accelerated<6, 2>>(),
        (Kind::PowerOfTwo, _) => Kernels::of_three::<power_of_two::Add, power_of_two::Sub, power_of_two::Mul>(),
    }
}

/// The same for odd moduli with residues in Montgomery form.
fn montgomery_kernels(width_limbs: usize) -> Kernels {
    #[cfg(target_arch = "x86_64")]
    if width_limbs == 1 && x86_64::has_lanes() {
        return Kernels::of_one_limb::<x86_64::AddLanes, x86_64::SubLanes, x86_64::MulLanes>();
    }
    #[cfg(target_arch = "x86_64")]
    if x86_64::has_products() {
        match width_limbs {
            3 => return Kernels::of_product::<3, x86_64::MontMul3>(),
            4 => return Kernels::of_product::<4, x86_64::MontMul4>(),
            5 => return Kernels::of_product::<5, x86_64::MontMul5>(),
            6 => return Kernels::of_width::<6, x86_64::MontMul6, x86_64::MontSquare6>(),
            7 => return Kernels::of_product::<7, x86_64::MontMul7>(),
            8 => return Kernels::of_product::<8, x86_64::MontMul8>(),
            12 => return Kernels::of_product::<12, x86_64::MontMul12>(),
            _ => {}
        }
    }
    match width_limbs {
        1 => Kernels::of_one_limb::<one_limb::Add, one_limb::Sub, one_limb::MontMul>(),
        2 => Kernels::of_plain_product::<2>(),
        3 => Kernels::of_plain_product::<3>(),
        4 => Kernels::of_plain_product::<4>(),
        5 => Kernels::of_plain_product::<5>(),
        6 => Kernels::of_plain_product::<6>(),
        7 => Kernels::of_plain_product::<7>(),
        8 => Kernels::of_plain_product::<8>(),
        9 => Kernels::of_plain_product::<9>(),
        10 => Kernels::of_plain_product::<10>(),
        11 => Kernels::of_plain_product::<11>(),
        12 => Kernels::of_plain_product::<12>(),
        _ => Kernels::of_three::<sliced::Add, sliced::Sub, sliced::MontMul>(),
    }
}

/// Kernels in plain Rust for an odd modulus: the reference of [`kernels`], and the baseline of measurements.
pub(crate) fn portable_kernels(width_limbs: usize) -> Kernels {
    match width_limbs {
        4 => Kernels::of_three::<portable::Add<4>, portable::Sub<4>, portable::MontMul<4>>(),
        6 => Kernels::of_three::<portable::Add<6>, portable::Sub<6>, portable::MontMul<6>>(),
        12 => Kernels::of_three::<portable::Add<12>, portable::Sub<12>, portable::MontMul<12>>(),
        _ => Kernels::of_three::<sliced::Add, sliced::Sub, sliced::MontMul>(),
    }
}

/// [`portable::add`] as fast as this CPU can.
#[inline]
pub(crate) fn add<const N: usize>(x: &[Limb; N], y: &[Limb; N], m: &[Limb; N]) -> [Limb; N] {
    #[cfg(target_arch = "x86_64")]
    return x86_64::add(x, y, m);
    #[cfg(not(target_arch = "x86_64"))]
    return plain::add(x, y, m);
}

/// As [`add`], for operands that are copies.
#[inline]
pub(crate) fn add_by_masks<const N: usize>(x: &[Limb; N], y: &[Limb; N], m: &[Limb; N]) -> [Limb; N] {
    #[cfg(target_arch = "x86_64")]
    return x86_64::add_by_masks(x, y, m);
    #[cfg(not(target_arch = "x86_64"))]
    return plain::add(x, y, m);
}

/// [`portable::sub`] as fast as this CPU can.
#[inline]
pub(crate) fn sub<const N: usize>(x: &[Limb; N], y: &[Limb; N], m: &[Limb; N]) -> [Limb; N] {
    #[cfg(target_arch = "x86_64")]
    return x86_64::sub(x, y, m);
    #[cfg(not(target_arch = "x86_64"))]
    return plain::sub(x, y, m);
}

/// [`portable::mont_mul`] as fast as this CPU can.
#[inline]
pub(crate) fn mont_mul<const N: usize>(x: &[Limb; N], y: &[Limb; N], m: &[Limb; N], n0: Limb) -> [Limb; N] {
    #[cfg(target_arch = "x86_64")]
    if let Some(product) = x86_64::mont_mul(x, y, m, n0) {
        return product;
    }
    plain::mont_mul(x, y, m, n0)
}

/// [`portable::sum_rows`] as fast as this CPU can.
#[inline]
pub(crate) fn sum_rows<const N: usize>(terms: &[[&[Limb; N]; 2]], m: &[Limb; N], n0: Limb) -> ([Limb; N], Limb) {
    #[cfg(target_arch = "x86_64")]
    if let Some(sum) = x86_64::sum_rows(terms, m, n0) {
        return sum;
    }
    plain::sum_rows(terms, m, n0)
}

/// [`mont_mul`] where the operands lie, if this CPU can: little-endian values of 48 bytes at byte offsets, any alignment
/// and overlap. Panics unless they lie inside the memory. Returns whether it was done.
#[inline]
pub(crate) fn mont_mul_in_memory(memory: &mut [u8], out: usize, x: usize, y: usize, m: usize, n0: Limb) -> bool {
    #[cfg(target_arch = "x86_64")]
    if x86_64::has_products() {
        // SAFETY: the line above asked the CPU.
        unsafe { x86_64::mont_mul_in_memory(memory, out, x, y, m, n0) };
        return true;
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (memory, out, x, y, m, n0);
    false
}

/// Any odd modulus of N limbs.
pub(crate) struct Add<const N: usize>;

impl<const N: usize> Kernel for Add<N> {
    #[inline(always)]
    fn run(limbs: &mut [Limb], out: usize, x: usize, y: usize, m: &[Limb], _n0: Limb) {
        check_operands::<N>(limbs, [out, x, y]);
        let sum = add(array::<N>(limbs, x), array(limbs, y), array(m, 0));
        limbs[out..out + N].copy_from_slice(&sum);
    }
}

/// Any odd modulus of N limbs.
pub(crate) struct Sub<const N: usize>;

impl<const N: usize> Kernel for Sub<N> {
    #[inline(always)]
    fn run(limbs: &mut [Limb], out: usize, x: usize, y: usize, m: &[Limb], _n0: Limb) {
        check_operands::<N>(limbs, [out, x, y]);
        let difference = sub(array::<N>(limbs, x), array(limbs, y), array(m, 0));
        limbs[out..out + N].copy_from_slice(&difference);
    }
}

/// One lane of a context. The kernel finds out if a slot does not exist.
fn one<K: Kernel>(context: &mut FieldContext, out: usize, x: usize, y: usize) {
    let (limbs, modulus) = context.parts();
    let width = modulus.width_limbs();
    K::run(limbs, out * width, x * width, y * width, modulus.limbs(), modulus.n0());
}

/// The limbs of a modulus of WIDTH limbs, so that the compiler knows their number; as they are if that is 0.
#[inline(always)]
fn known<const WIDTH: usize>(m: &[Limb]) -> &[Limb] {
    if WIDTH == 0 { m } else { array::<WIDTH>(m, 0) }
}

/// Steps on the slots of a context.
fn steps<const WIDTH: usize, Add: Kernel, Sub: Kernel, Mul: Kernel, Square: Squarings>(
    context: &mut FieldContext,
    steps: &[SlotStep],
) {
    let (limbs, modulus) = context.parts();
    let (m, n0) = (known::<WIDTH>(modulus.limbs()), modulus.n0());
    let width = m.len();
    let at = |slot: u16| usize::from(slot) * width;
    for step in steps {
        match *step {
            SlotStep::Add { out, x, y } => Add::run(limbs, at(out), at(x), at(y), m, n0),
            SlotStep::Sub { out, x, y } => Sub::run(limbs, at(out), at(x), at(y), m, n0),
            SlotStep::Mul { out, x, y } => Mul::run(limbs, at(out), at(x), at(y), m, n0),
            SlotStep::Square { out, x, count } => Square::run(limbs, at(out), at(x), count, m, n0),
            SlotStep::Copy { out, x, count } => {
                limbs.copy_within(at(x)..at(x) + usize::from(count) * width, at(out));
            }
            SlotStep::AddLanes(lanes) => Add::run_lanes(limbs, lanes.strided(), lanes.count.into(), m, n0),
            SlotStep::SubLanes(lanes) => Sub::run_lanes(limbs, lanes.strided(), lanes.count.into(), m, n0),
            SlotStep::MulLanes(lanes) => Mul::run_lanes(limbs, lanes.strided(), lanes.count.into(), m, n0),
        }
    }
}

/// Copies of `count` lanes of a context, all read before any is written.
pub(crate) fn copy(context: &mut FieldContext, out: Strided, x: Strided, count: usize) {
    let Some(last) = count.checked_sub(1) else { return };
    let named = out.slot(last).max(x.slot(last)).max(out.index).max(x.index);
    assert!(named < context.slot_count(), "slot {named} of {}", context.slot_count());
    let width = context.width_limbs();
    if count == 1 || (out.stride, x.stride) == (1, 1) {
        let (limbs, _) = context.parts();
        return limbs.copy_within(x.index * width..(x.index + count) * width, out.index * width);
    }
    let waits = reads_after_writes(out, x, count);
    let through = if waits { Strided { index: context.staging(count), stride: 1 } } else { out };
    let (limbs, _) = context.parts();
    let mut move_lanes = |to: Strided, from: Strided| {
        for lane in 0..count {
            let from = from.slot(lane) * width;
            limbs.copy_within(from..from + width, to.slot(lane) * width);
        }
    };
    move_lanes(through, x);
    if waits {
        move_lanes(out, through);
        context.drop_staging();
    }
}

/// `count` lanes of a context, all read before any is written.
fn lanes<K: Kernel>(context: &mut FieldContext, out: Strided, x: Strided, y: Strided, count: usize) {
    let staging = match reads_after_writes(out, x, count) || reads_after_writes(out, y, count) {
        true => Strided { index: context.staging(count), stride: 1 },
        false => out,
    };
    let (limbs, modulus) = context.parts();
    let width = modulus.width_limbs();
    K::run_lanes(limbs, [staging, x, y], count, modulus.limbs(), modulus.n0());
    if staging != out && width == 1 {
        let (slots, staged) = limbs.split_at_mut(staging.index);
        let mut place = out.index;
        for &value in &staged[..count] {
            slots[place] = value;
            place += out.stride;
        }
        context.drop_staging();
    } else if staging != out {
        for lane in 0..count {
            let from = staging.slot(lane) * width;
            limbs.copy_within(from..from + width, out.slot(lane) * width);
        }
        context.drop_staging();
    }
}

/// Does a later lane read a slot that an earlier lane has written?
pub(crate) fn reads_after_writes(out: Strided, operand: Strided, count: usize) -> bool {
    let apart = out.slot(count - 1) < operand.index || operand.slot(count - 1) < out.index;
    if apart || out.stride == 0 {
        return !apart; // A slot that all lanes write.
    }
    // Where strides are equal, or all lanes read one slot, the last lane decides for all.
    if operand.stride == 0 || operand.stride == out.stride {
        let distance = operand.slot(count - 1).checked_sub(out.index);
        return distance
            .is_some_and(|distance| distance.is_multiple_of(out.stride) && distance / out.stride < count - 1);
    }
    // Both go upwards: the first write that is not below what a lane reads, and its lane.
    let (mut written, mut writer) = (out.index, 0);
    (1..count).any(|lane| {
        let read = operand.slot(lane);
        while written < read {
            written += out.stride;
            writer += 1;
        }
        written == read && writer < lane
    })
}

/// Panics unless residues of N limbs at these offsets lie inside `limbs`. Said once, so that slicing need not ask again.
#[inline(always)]
pub(crate) fn check_operands<const N: usize>(limbs: &[Limb], offsets: [usize; 3]) {
    let last = limbs.len().checked_sub(N).expect("the limbs hold a residue");
    let [out, x, y] = offsets;
    assert!(out <= last && x <= last && y <= last, "operands lie inside the limbs");
}

/// The N limbs from `at` on.
#[inline(always)]
pub(crate) fn array<const N: usize>(limbs: &[Limb], at: usize) -> &[Limb; N] {
    limbs[at..at + N].try_into().expect("the slice was cut to N limbs")
}
