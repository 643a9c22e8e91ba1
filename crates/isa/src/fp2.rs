//! A fused product in Fp2 = Fp[u] with u² = −1: its operands, apart from its opcode.
//!
//! An element takes two slots, one for each coefficient, anywhere: formulas leave the coefficients of results in free
//! slots, and to bring them next to each other would cost copies. A stride is common to both.

/// The elements of Fp2 that one operand visits: coefficients in the slots c0 + i·stride and c1 + i·stride for each lane i.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Fp2Lanes {
    /// Slot of the coefficient of 1, in the first lane.
    pub c0: u8,
    /// Slot of the coefficient of u, in the first lane.
    pub c1: u8,
    /// Slot distance between neighbouring lanes; 0 repeats one element.
    pub stride: u8,
}

impl Fp2Lanes {
    /// One element; the stride is 1 as no revision rejects that.
    pub const fn one([c0, c1]: [u8; 2]) -> Self {
        Self { c0, c1, stride: 1 }
    }

    /// The slots of a lane's coefficients (which may be beyond 255).
    #[inline]
    pub fn slots(self, lane: u8) -> [u16; 2] {
        [self.c0, self.c1].map(|slot| u16::from(slot) + u16::from(self.stride) * u16::from(lane))
    }
}

/// Products in Fp2, out = x·y in each lane (`FP2MULX`): out₀ = x₀·y₀ − x₁·y₁, out₁ = x₀·y₁ + x₁·y₀.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Fp2Products {
    /// Result slots.
    pub out: Fp2Lanes,
    /// First operands.
    pub x: Fp2Lanes,
    /// Second operands.
    pub y: Fp2Lanes,
    /// Number of lanes.
    pub count: u8,
}

impl Fp2Products {
    /// Immediate bytes.
    pub const BYTES: usize = 10;

    /// Its immediate: the slots and the stride of out, x and y, then the number of lanes.
    pub fn pack(&self) -> [u8; Self::BYTES] {
        let Self { out, x, y, count } = *self;
        [out.c0, out.c1, out.stride, x.c0, x.c1, x.stride, y.c0, y.c1, y.stride, count]
    }

    /// The inverse of [`Fp2Products::pack`].
    #[inline]
    pub fn unpack(immediate: [u8; Self::BYTES]) -> Self {
        let [out0, out1, out_stride, x0, x1, x_stride, y0, y1, y_stride, count] = immediate;
        Self {
            out: Fp2Lanes { c0: out0, c1: out1, stride: out_stride },
            x: Fp2Lanes { c0: x0, c1: x1, stride: x_stride },
            y: Fp2Lanes { c0: y0, c1: y1, stride: y_stride },
            count,
        }
    }

    /// The highest slot that it names (which may be beyond 255). `count` of 0 counts as 1.
    #[inline]
    pub fn last(&self) -> u16 {
        let lane = self.count.saturating_sub(1);
        [self.out, self.x, self.y].into_iter().flat_map(|lanes| lanes.slots(lane)).fold(0, u16::max)
    }
}
