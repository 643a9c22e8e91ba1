//! Public keys in G1, as calldata has them: all compressed in 48 bytes, or all as x and y in 96, told apart by the highest bit of the
//! first one. It is set in compressed points, and in no element below p.

use super::aggregate_g1::times_12;
use super::by_precompiles::{self, Scratch};
use super::compressed::uncompressed;
use super::signature::{finite, given_g1};
use crate::encoding::unless_return_zero;
use residue_curves::bls12_381::{g1, invert_by_root};
use residue_curves::complete::AZero;
use residue_curves::conditions::all_vanish;
use residue_curves::{Affine, Projective};
use residue_ir::{Machine, WordOp};

/// Bytes of a compressed key, half of those of x and y.
const COMPRESSED_BYTES: u64 = 48;

/// Keys one after the other.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Keys<W> {
    start: W,
    /// 1 or 0.
    are_compressed: W,
}

impl<W: Copy> Keys<W> {
    /// The keys from `start` on.
    pub(crate) fn new<M: Machine<Word = W>>(machine: &M, start: W) -> Self {
        let are_compressed = machine.bind(machine.bit(machine.calldata_word(start), machine.small(255)));
        Self { start, are_compressed }
    }

    /// The bytes of `count` keys.
    pub(crate) fn size<M: Machine<Word = W>>(&self, machine: &M, count: W) -> W {
        let twice = machine.word_op(WordOp::Shl, count, machine.not(self.are_compressed));
        machine.word_op(WordOp::Mul, twice, machine.small(COMPRESSED_BYTES))
    }

    /// The sum of those of `count` keys for whose index `is_chosen` is not 0. Returns 0 if one of these is the identity or no point of the
    /// curve, or their sum is the identity.
    pub(crate) fn sum<M: Machine<Word = W>>(
        &self,
        machine: &M,
        count: W,
        is_chosen: impl Fn(&M, W) -> Option<W>,
    ) -> Affine<M::Fe> {
        machine.branch(
            by_precompiles::are_there(machine),
            |machine| self.sum_by_precompiles(machine, count, &is_chosen),
            |machine| self.sum_by_formulas(machine, count, &is_chosen),
        )
    }

    fn sum_by_precompiles<M: Machine<Word = W>>(
        &self,
        machine: &M,
        count: W,
        is_chosen: &impl Fn(&M, W) -> Option<W>,
    ) -> Affine<M::Fe> {
        let scratch = Scratch::new(machine);
        let each = |key_bytes: u64, add: &dyn Fn(&M, W)| {
            machine.repeat(count, (), |machine, index, ()| {
                let chosen = |machine: &M| {
                    let offset = machine.word_op(WordOp::Mul, index, machine.small(key_bytes));
                    add(machine, machine.bind(machine.word_op(WordOp::Add, self.start, offset)));
                };
                match is_chosen(machine, index) {
                    Some(condition) => machine.branch(condition, chosen, |_| ()),
                    None => chosen(machine),
                }
            });
        };
        machine.branch(
            self.are_compressed,
            |_| {
                each(COMPRESSED_BYTES, &|machine, offset| {
                    Scratch::new(machine).add(given_g1(machine, finite(machine, offset)));
                });
            },
            |_| each(2 * COMPRESSED_BYTES, &|machine, offset| Scratch::new(machine).add_calldata(offset)),
        );
        scratch.sum()
    }

    fn sum_by_formulas<M: Machine<Word = W>>(
        &self,
        machine: &M,
        count: W,
        is_chosen: &impl Fn(&M, W) -> Option<W>,
    ) -> Affine<M::Fe> {
        let (sum, defect) = machine.branch(
            self.are_compressed,
            |machine| {
                let size = COMPRESSED_BYTES;
                self.sum_of(machine, (count, size), is_chosen, |machine, offset| {
                    (finite(machine, offset).g1(machine, unless_return_zero), machine.zero())
                })
            },
            |machine| {
                let size = 2 * COMPRESSED_BYTES;
                self.sum_of(machine, (count, size), is_chosen, |machine, offset| {
                    let point = uncompressed(machine, offset, unless_return_zero);
                    (point, g1::curve_defect(machine, point))
                })
            },
        );
        unless_return_zero(machine, machine.is_zero(defect));
        unless_return_zero(machine, machine.not(machine.is_zero(sum.z)));
        let inverse = invert_by_root(machine, sum.z);
        Affine::new(sum.x * inverse, sum.y * inverse)
    }

    /// The sum of keys of one form, each read with an element that is 0 exactly if it is on the curve, and such an element of all of them.
    fn sum_of<M: Machine<Word = W>>(
        &self,
        machine: &M,
        (count, key_bytes): (W, u64),
        is_chosen: &impl Fn(&M, W) -> Option<W>,
        key: impl Fn(&M, W) -> (Affine<M::Fe>, M::Fe),
    ) -> (Projective<M::Fe>, M::Fe) {
        let (zero, one) = (machine.zero(), machine.one());
        let identity = Projective { x: zero, y: one, z: zero };
        machine.repeat(count, (identity, zero), |machine, index, state| {
            let add = |machine: &M| {
                let (sum, defect) = state;
                let offset = machine.word_op(WordOp::Mul, index, machine.small(key_bytes));
                let offset = machine.bind(machine.word_op(WordOp::Add, self.start, offset));
                let (point, of_point) = key(machine, offset);
                (sum.add_mixed_complete(point, &AZero(times_12)), all_vanish(&[defect, of_point]))
            };
            match is_chosen(machine, index) {
                Some(condition) => machine.branch(condition, add, |_| state),
                None => add(machine),
            }
        })
    }
}
