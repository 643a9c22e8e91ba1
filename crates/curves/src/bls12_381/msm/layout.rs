//! Trade-offs between code size and gas of an MSM; contracts choose.

/// Bits w of a scalar for one addition. Digits are signed, from −2ʷ⁻¹ to 2ʷ⁻¹ − 1; digit d has the bucket d + 2ʷ⁻¹.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Window {
    /// 4: 16 buckets, for few points of G1.
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

/// Code layout of a point's chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    /// The window.
    pub window: Window,
    /// True if additions and short runs of doublings are functions: on G1 a fourth of the code, for 2,000 gas a product
    /// more. Else they are written out.
    pub calls: bool,
    /// Bits of the cells that indices of buckets are taken from, 16 or 64: addresses of buckets have room in them. Where a call
    /// takes what is next of each quarter, it takes one index of 64 bits.
    pub cell_bits: u32,
}

impl Layout {
    /// Most code and least gas.
    pub const fn written_out(window: Window) -> Self {
        Self { window, calls: false, cell_bits: 16 }
    }

    /// Least code: calls, with cells of so many bits.
    pub const fn by_calls(window: Window, cell_bits: u32) -> Self {
        Self { window, calls: true, cell_bits }
    }

    /// The same with another window.
    #[must_use]
    pub const fn with_window(self, window: Window) -> Self {
        Self { window, ..self }
    }
}
