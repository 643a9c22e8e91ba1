//! Relations between points that are found without discrete logarithms: points of which one is a small multiple of the other, or that add up to a third.
//!
//! Points are compared by y². Those of y² = x³ + b with the same y² are ±P and ±λP for cube roots λ of one modulo the order, as multiplying x by a cube
//! root of one in Fp does to a point of the group: all are multiples by numbers that are known, and as bad as P itself.

use num_bigint::BigUint;
use residue_curves::Affine;
use residue_curves::complete::AZero;
use residue_curves::group::{Coordinate, Projective};
use residue_formula::Number;
use residue_ir::Bundle;
use std::collections::{HashMap, HashSet};

/// Coordinates whose values are known.
pub(crate) trait Known<N: Number>: Coordinate<Base = N, Denominator = N> + Bundle<N> + PartialEq {}

impl<N: Number, K: Coordinate<Base = N, Denominator = N> + Bundle<N> + PartialEq> Known<N> for K {}

/// Points of y² = x³ + b, of an odd prime order.
pub(crate) struct Points<K> {
    pub(crate) b: K,
    pub(crate) zero: K,
    pub(crate) one: K,
}

/// y² in canonical values.
type Class = Vec<BigUint>;

/// a·P and b·Q have the same y² for the points of these numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ratio {
    pub(crate) points: [usize; 2],
    pub(crate) factors: [u32; 2],
}

/// Factors that are tried for both points of a pair.
const FACTOR_MAX: u32 = 16;
/// Multiples of a base that a table has, and steps of twice as many that are made from a point: so multiples below 2¹⁶ are found, in some 800 additions.
const TABLE: u32 = 256;
const STEPS: u32 = 128;
/// Points of which all sums of two are looked at.
const SUMS_MAX: usize = 64;

impl<K> Points<K> {
    fn curve<N: Number>(&self) -> AZero<impl Fn(K) -> K + use<'_, K, N>>
    where
        K: Known<N>,
    {
        AZero(|z: K| {
            let bz = z * self.b;
            bz + bz + bz
        })
    }

    fn projective<N: Number>(&self, Affine { x, y }: Affine<K>) -> Projective<K>
    where
        K: Known<N>,
    {
        Projective { x, y, z: self.one }
    }

    fn add<N: Number>(&self, a: Projective<K>, b: Projective<K>) -> Projective<K>
    where
        K: Known<N>,
    {
        a.add_complete(b, &self.curve())
    }

    /// `None` for the identity.
    fn class<N: Number>(&self, point: Projective<K>) -> Option<Class>
    where
        K: Known<N>,
    {
        let (factor, norm) = self.one.ratio(point.z); // 1/Z = factor/norm
        let y = (point.y * factor).scaled(norm.inverse()?);
        Some(y.squared().to_list().into_iter().map(Number::to_canonical).collect())
    }

    /// P, 2P, 3P and so on.
    fn multiples<N: Number>(&self, point: Affine<K>) -> impl Iterator<Item = Projective<K>>
    where
        K: Known<N>,
    {
        let point = self.projective(point);
        std::iter::successors(Some(point), move |&multiple| Some(self.add(multiple, point)))
    }

    /// The first pair in a known ratio of small numbers.
    pub(crate) fn ratio<N: Number>(&self, points: &[Affine<K>]) -> Option<Ratio>
    where
        K: Known<N>,
    {
        let mut found: HashMap<Class, (usize, u32)> = HashMap::new();
        for (number, &point) in points.iter().enumerate() {
            let classes = (1..=FACTOR_MAX).zip(self.multiples(point));
            for (factor, class) in classes.filter_map(|(factor, multiple)| Some((factor, self.class(multiple)?))) {
                let &mut (first, of_first) = found.entry(class).or_insert((number, factor));
                if first != number {
                    return Some(Ratio { points: [first, number], factors: [of_first, factor] });
                }
            }
        }
        None
    }

    /// The first three points of which one is the sum or the difference of the others, up to what y² says nothing of; of many points none are looked at.
    pub(crate) fn sum<N: Number>(&self, points: &[Affine<K>]) -> Option<[usize; 3]>
    where
        K: Known<N>,
    {
        if points.len() > SUMS_MAX {
            return None;
        }
        let classes = points.iter().enumerate();
        let classes: HashMap<Class, usize> =
            classes.filter_map(|(number, &point)| Some((self.class(self.projective(point))?, number))).collect();
        let pairs = (0..points.len()).flat_map(|second| (0..second).map(move |first| [first, second]));
        pairs.into_iter().find_map(|[first, second]| {
            let [a, b] = [first, second].map(|number| self.projective(points[number]));
            let both = [b, Projective { y: -b.y, ..b }];
            let third = both.into_iter().find_map(|b| classes.get(&self.class(self.add(a, b))?).copied())?;
            (third != first && third != second).then_some([first, second, third])
        })
    }

    /// The number of the first of the points that is k times the base for |k| < 2¹⁶, up to what y² says nothing of.
    pub(crate) fn multiple<N: Number>(&self, base: Affine<K>, points: &[Affine<K>]) -> Option<usize>
    where
        K: Known<N>,
    {
        let table = self.multiples(base).take(TABLE as usize); // u32 to usize widens
        let classes: HashSet<Class> = table.filter_map(|multiple| self.class(multiple)).collect();
        let step = self.multiples(base).nth(2 * TABLE as usize)?; // u32 to usize widens
        let steps = [step, Projective { y: -step.y, ..step }];
        points.iter().position(|&point| {
            // P ∓ s·(2t + 1)·B is ±k·B with k ≤ t, or the identity.
            steps.into_iter().any(|step| {
                let walk = std::iter::successors(Some(self.projective(point)), |&at| Some(self.add(at, step)));
                let mut walk = walk.take(STEPS as usize + 1); // u32 to usize widens
                walk.any(|at| self.class(at).is_none_or(|class| classes.contains(&class)))
            })
        })
    }

    /// k·P; `None` for the identity.
    pub(crate) fn times<N: Number>(&self, k: &BigUint, point: Affine<K>) -> Option<Affine<K>>
    where
        K: Known<N>,
    {
        self.affine(self.projective_times(k, point))
    }

    /// P + Q; `None` for the identity.
    pub(crate) fn plus<N: Number>(&self, a: Affine<K>, b: Affine<K>) -> Option<Affine<K>>
    where
        K: Known<N>,
    {
        self.affine(self.add(self.projective(a), self.projective(b)))
    }

    /// `None` for the identity.
    fn affine<N: Number>(&self, point: Projective<K>) -> Option<Affine<K>>
    where
        K: Known<N>,
    {
        let (factor, norm) = self.one.ratio(point.z);
        let inverse = norm.inverse()?;
        Some(Affine::new((point.x * factor).scaled(inverse), (point.y * factor).scaled(inverse)))
    }

    fn projective_times<N: Number>(&self, k: &BigUint, point: Affine<K>) -> Projective<K>
    where
        K: Known<N>,
    {
        let identity = Projective { x: self.zero, y: self.one, z: self.zero };
        (0..k.bits()).rev().fold(identity, |multiple, bit| {
            let double = multiple.double_complete(&self.curve());
            if k.bit(bit) { self.add(double, self.projective(point)) } else { double }
        })
    }

    /// True if the point is `root`ⁱ times the base for an i from 0 to `most`, but for what y² says nothing of.
    pub(crate) fn is_times_power<N: Number>(
        &self,
        point: Affine<K>,
        base: Affine<K>,
        (root, most, order): (&BigUint, u32, &BigUint),
    ) -> bool
    where
        K: Known<N>,
    {
        // root^(b·step)·B = root^a·P for 0 ≤ a < step.
        let step = most.isqrt().max(1);
        let by = |exponent: u32, point| self.class(self.projective_times(&root.modpow(&exponent.into(), order), point));
        let classes: HashSet<_> = (0..step).filter_map(|a| by(a, point)).collect();
        (0..=most.div_ceil(step)).any(|b| by(b * step, base).is_some_and(|class| classes.contains(&class)))
    }
}

/// "`name` is `of`", minus it, or a known multiple, for points of which that is known.
pub(crate) fn relation_to<K: PartialEq>((name, point): (&str, Affine<K>), (of, base): (&str, Affine<K>)) -> String {
    match (point.x == base.x, point.y == base.y) {
        (true, true) => format!("{name} is {of}"),
        (true, false) => format!("{name} is minus {of}"),
        _ => format!("{name} is a known multiple of {of}"),
    }
}
