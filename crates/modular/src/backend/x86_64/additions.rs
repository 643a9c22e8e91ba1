//! Sums of four and six limbs with conditional moves: compilers choose between the sum and the reduced sum by masks, which takes three times as many
//! instructions.

use core::arch::asm;

use crate::limbs::Limb;

/// One limb of the sum, in `$r`.
macro_rules! plus {
    ($add:literal, $r:literal, $offset:literal) => {
        concat!("mov {", $r, "}, [{x} + ", $offset, "]\n", $add, " {", $r, "}, [{y} + ", $offset, "]\n")
    };
}

/// One limb of the sum minus m, in `$t`.
macro_rules! minus {
    ($sub:literal, $t:literal, $r:literal, $offset:literal) => {
        concat!("mov {", $t, "}, {", $r, "}\n", $sub, " {", $t, "}, [{m} + ", $offset, "]\n")
    };
}

/// As [`portable::add`](super::super::portable::add) for sums that four limbs hold.
#[inline(always)]
pub(super) fn add_4(x: &[Limb; 4], y: &[Limb; 4], m: &[Limb; 4]) -> [Limb; 4] {
    let (t0, t1, t2, t3): (Limb, Limb, Limb, Limb);
    // SAFETY: it reads four limbs at each of x, y and m, which are arrays of four, and writes registers alone.
    unsafe {
        asm!(
            plus!("add", "r0", "0"),
            plus!("adc", "r1", "8"),
            plus!("adc", "r2", "16"),
            // The last limbs of x and y take the place of their pointers.
            plus!("adc", "x", "24"),
            minus!("sub", "y", "r0", "0"),
            minus!("sbb", "t1", "r1", "8"),
            minus!("sbb", "t2", "r2", "16"),
            minus!("sbb", "t3", "x", "24"),
            "cmovc {y}, {r0}",
            "cmovc {t1}, {r1}",
            "cmovc {t2}, {r2}",
            "cmovc {t3}, {x}",
            x = inout(reg) x.as_ptr() => _, y = inout(reg) y.as_ptr() => t0, m = in(reg) m.as_ptr(),
            r0 = out(reg) _, r1 = out(reg) _, r2 = out(reg) _,
            t1 = out(reg) t1, t2 = out(reg) t2, t3 = out(reg) t3,
            options(pure, readonly, nostack),
        );
    }
    [t0, t1, t2, t3]
}

/// As [`portable::add`](super::super::portable::add) for sums that six limbs hold.
#[inline(always)]
pub(super) fn add_6(x: &[Limb; 6], y: &[Limb; 6], m: &[Limb; 6]) -> [Limb; 6] {
    let (t0, t1, t2, t3, t4, t5): (Limb, Limb, Limb, Limb, Limb, Limb);
    // SAFETY: it reads six limbs at each of x, y and m, which are arrays of six, and writes registers alone.
    unsafe {
        asm!(
            plus!("add", "r0", "0"),
            plus!("adc", "r1", "8"),
            plus!("adc", "r2", "16"),
            plus!("adc", "r3", "24"),
            plus!("adc", "r4", "32"),
            // The last limbs of x and y take the place of their pointers.
            plus!("adc", "x", "40"),
            minus!("sub", "y", "r0", "0"),
            minus!("sbb", "t1", "r1", "8"),
            minus!("sbb", "t2", "r2", "16"),
            minus!("sbb", "t3", "r3", "24"),
            minus!("sbb", "t4", "r4", "32"),
            minus!("sbb", "t5", "x", "40"),
            "cmovc {y}, {r0}",
            "cmovc {t1}, {r1}",
            "cmovc {t2}, {r2}",
            "cmovc {t3}, {r3}",
            "cmovc {t4}, {r4}",
            "cmovc {t5}, {x}",
            x = inout(reg) x.as_ptr() => _, y = inout(reg) y.as_ptr() => t0, m = in(reg) m.as_ptr(),
            r0 = out(reg) _, r1 = out(reg) _, r2 = out(reg) _, r3 = out(reg) _, r4 = out(reg) _,
            t1 = out(reg) t1, t2 = out(reg) t2, t3 = out(reg) t3, t4 = out(reg) t4, t5 = out(reg) t5,
            options(pure, readonly, nostack),
        );
    }
    [t0, t1, t2, t3, t4, t5]
}

#[cfg(test)]
mod tests {
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use crate::backend::portable;
    use crate::limbs::Limb;

    /// A limb, often at an end of its range.
    fn limb(random: &mut impl Rng) -> Limb {
        match random.random_range(0..8) {
            0 => 0,
            1 => Limb::MAX,
            2 => 1 << 63,
            3 => Limb::MAX >> 1,
            _ => random.random(),
        }
    }

    /// Random operands, and those whose sum is m or next to it.
    fn agree<const N: usize>(seed: u64) {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        for case in 0..1_500_000 {
            let [m, x, mut y]: [[Limb; N]; 3] = core::array::from_fn(|_| core::array::from_fn(|_| limb(&mut random)));
            if case % 4 == 0 {
                // y = m − x, or one less.
                let mut borrow = case / 4 % 2 == 0;
                for i in 0..N {
                    let (difference, first) = m[i].overflowing_sub(x[i]);
                    let (difference, second) = difference.overflowing_sub(borrow.into());
                    (y[i], borrow) = (difference, first || second);
                }
            }
            assert_eq!(super::super::add(&x, &y, &m), portable::add(&x, &y, &m), "{x:x?} + {y:x?} mod {m:x?}");
        }
    }

    #[test]
    fn sums_of_four_limbs_are_those_in_plain_rust() {
        agree::<4>(0x7265_7369_6475_6504);
    }

    #[test]
    fn sums_of_six_limbs_are_those_in_plain_rust() {
        agree::<6>(0x7265_7369_6475_6506);
    }
}
