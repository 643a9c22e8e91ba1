//! Polynomials in words of lanes, between coefficients and residues modulo x^L − ζ, one for each of 64 words.
//!
//! With y = x^L, a word has the coefficients of one power of y. Six layers of butterflies of whole words are all there are: those within words are never
//! made, as residues of L coefficients are multiplied whole.

use super::Ring;
use residue_ir::LaneStep;

/// Words of lanes of a polynomial.
pub(crate) const WORDS: usize = 64;
/// Words that three layers go through together.
const TOGETHER: usize = 8;

impl Ring {
    /// ζ of the residue in a word: the L-th power of each root there.
    pub(crate) fn residue_root(self, word: usize) -> u64 {
        let lanes = self.degree / WORDS;
        let root = self.root_of(word * lanes);
        (0..lanes).fold(1, |power, _| power * root % self.modulus)
    }

    /// Steps to residues; `id` names words. `before` a group of eight words come its own steps.
    pub(crate) fn forward(
        self,
        id: impl Fn(usize) -> u32,
        before: impl Fn(u32) -> LaneStep,
        after: impl Fn(u32) -> Option<LaneStep>,
    ) -> Vec<LaneStep> {
        let mut steps = Vec::new();
        for outer in [true, false] {
            for group in pairs(outer).chunks(3) {
                let words = || group[0].iter().flat_map(|&(low, high, _)| [low, high]).map(&id);
                if outer {
                    steps.extend(words().map(&before));
                }
                steps.extend(group.iter().flatten().map(|&(low, high, node)| LaneStep::Butterfly {
                    low: id(low),
                    high: id(high),
                    by: residue(self.twiddle(node)),
                }));
                if !outer {
                    steps.extend(words().filter_map(&after));
                }
            }
        }
        steps
    }

    /// Steps from residues back, 64 times the polynomial; the words are left, canonical. `before` a group of eight words come its own steps, if any.
    pub(crate) fn backward(self, id: impl Fn(usize) -> u32, before: impl Fn(u32) -> Option<LaneStep>) -> Vec<LaneStep> {
        let mut steps = Vec::new();
        for outer in [false, true] {
            for group in pairs(outer).chunks(3) {
                let words = || group[0].iter().flat_map(|&(low, high, _)| [low, high]).map(&id);
                if !outer {
                    steps.extend(words().filter_map(&before));
                }
                steps.extend(group.iter().rev().flatten().map(|&(low, high, node)| LaneStep::Back {
                    low: id(low),
                    high: id(high),
                    by: residue(self.inverse_twiddle(node)),
                }));
                if outer {
                    steps.extend(words().map(|word| LaneStep::Leave { word, times: 1 }));
                }
            }
        }
        steps
    }
}

/// A number below a modulus, as steps of lanes have it.
fn residue(number: u64) -> u32 {
    u32::try_from(number).expect("moduli of lanes are short")
}

/// Pairs of words that layers join, each with its node; words are numbered by their power of x^L. Three layers with the longest strides, or the others.
fn pairs(outer: bool) -> Vec<[(usize, usize, usize); 4]> {
    let mut joined = Vec::new();
    for group in 0..WORDS / TOGETHER {
        for layer in 0..3 {
            let stride = if outer { WORDS / 2 } else { TOGETHER / 2 } >> layer;
            let word = |place: usize| if outer { place * TOGETHER + group } else { group * TOGETHER + place };
            let mut lows = (0..TOGETHER).map(word).filter(|word| word & stride == 0);
            let node = |low: usize| WORDS / 2 / stride + low / (2 * stride);
            joined.push(std::array::from_fn(|_| {
                let low = lows.next().expect("half of eight words");
                (low, low + stride, node(low))
            }));
        }
    }
    joined
}
