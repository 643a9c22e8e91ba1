//! arkworks' ways to multiples, sums of them and pairing checks, on calldata of contracts. What is refused has no answer.

use ark_ec::pairing::Pairing;
use ark_ec::short_weierstrass::{Affine as Short, SWCurveConfig};
use ark_ec::twisted_edwards::{Affine as Edwards, TECurveConfig};
use ark_ec::{AffineRepr, CurveConfig, CurveGroup, VariableBaseMSM};
use ark_ed_on_bls12_381_bandersnatch::BandersnatchConfig;
use ark_ed_on_bn254::EdwardsConfig;
use ark_ff::{AdditiveGroup, BigInteger, Field, PrimeField, Zero};

use crate::bench::operations::{Run, word};

/// Bytes of elements and scalars.
#[derive(Clone, Copy)]
pub(super) struct Encoding {
    element_bytes: usize,
    scalar_bytes: usize,
}

/// Those of EIP-196, of EIP-2539 and of EIP-3026.
pub(super) const EIP_196: Encoding = Encoding { element_bytes: 32, scalar_bytes: 32 };
/// As above.
pub(super) const EIP_2539: Encoding = Encoding { element_bytes: 64, scalar_bytes: 32 };
/// As above.
pub(super) const EIP_3026: Encoding = Encoding { element_bytes: 96, scalar_bytes: 64 };

/// An element, unless a number is not below the modulus.
fn element<F: Field>(bytes: &[u8], encoding: Encoding) -> Option<F> {
    let parts = bytes.chunks(encoding.element_bytes).map(|number| {
        let element = F::BasePrimeField::from_be_bytes_mod_order(number);
        let digits = element.into_bigint().to_bytes_be();
        let is_reduced = number.iter().rev().zip(digits.iter().rev()).all(|(a, b)| a == b)
            && number.iter().rev().skip(digits.len()).all(|&byte| byte == 0);
        is_reduced.then_some(element)
    });
    F::from_base_prime_field_elems(parts.collect::<Option<Vec<_>>>()?)
}

fn encoded<F: Field>(coordinates: [F; 2], encoding: Encoding) -> Vec<u8> {
    let elements = coordinates.into_iter().flat_map(|value| value.to_base_prime_field_elements().collect::<Vec<_>>());
    elements
        .flat_map(|element| {
            let digits = element.into_bigint().to_bytes_be();
            [vec![0; encoding.element_bytes - digits.len()], digits].concat()
        })
        .collect()
}

/// Bytes of a point.
fn point_bytes<F: Field>(encoding: Encoding) -> usize {
    // u64 to usize: 1 or 2.
    2 * F::extension_degree() as usize * encoding.element_bytes
}

fn coordinates<F: Field>(bytes: &[u8], encoding: Encoding) -> Option<[F; 2]> {
    let (x, y) = bytes.split_at(bytes.len() / 2);
    Some([element(x, encoding)?, element(y, encoding)?])
}

/// A point of the curve; zeros are the identity.
fn short<P: SWCurveConfig>(bytes: &[u8], encoding: Encoding) -> Option<Short<P>> {
    let [x, y]: [P::BaseField; 2] = coordinates(bytes, encoding)?;
    if x.is_zero() && y.is_zero() {
        return Some(Short::identity());
    }
    let point = Short::new_unchecked(x, y);
    point.is_on_curve().then_some(point)
}

fn encoded_short<P: SWCurveConfig>(point: Short<P>, encoding: Encoding) -> Vec<u8> {
    encoded(point.xy().map_or([P::BaseField::ZERO; 2], |(x, y)| [x, y]), encoding)
}

/// Points with scalars.
fn products<A: AffineRepr>(
    input: &[u8],
    point_bytes: usize,
    scalar_bytes: usize,
    point: impl Fn(&[u8]) -> Option<A>,
) -> Option<(Vec<A>, Vec<A::ScalarField>)> {
    let slices = input.chunks(point_bytes + scalar_bytes);
    let product = |slice: &[u8]| {
        let (bytes, scalar) = slice.split_at_checked(point_bytes)?;
        Some((point(bytes)?, A::ScalarField::from_be_bytes_mod_order(scalar)))
    };
    slices.map(product).collect()
}

/// One product.
fn multiplied<A: AffineRepr>((points, scalars): (Vec<A>, Vec<A::ScalarField>)) -> Option<A> {
    Some((*points.first()? * scalars.first()?).into_affine())
}

/// Their sum.
fn summed<A: AffineRepr>((points, scalars): (Vec<A>, Vec<A::ScalarField>)) -> Option<A> {
    Some(A::Group::msm_unchecked(&points, &scalars).into_affine())
}

/// Nothing unless calldata is made of slices of this length.
fn whole_slices(input: &[u8], slice_bytes: usize) -> Option<()> {
    input.len().is_multiple_of(slice_bytes).then_some(())
}

/// k·P on y² = x³ + a·x + b.
pub(super) fn product<P: SWCurveConfig>(input: &[u8], encoding: Encoding) -> Option<Run<'_>> {
    let bytes = point_bytes::<P::BaseField>(encoding);
    whole_slices(input, bytes + encoding.scalar_bytes)?;
    Some(Box::new(move || {
        products(input, bytes, encoding.scalar_bytes, |bytes| short::<P>(bytes, encoding))
            .and_then(multiplied)
            .map_or(Vec::new(), |point| encoded_short(point, encoding))
    }))
}

/// Σ kᵢ·Pᵢ on y² = x³ + a·x + b.
pub(super) fn sum<P: SWCurveConfig>(input: &[u8], encoding: Encoding) -> Option<Run<'_>> {
    let bytes = point_bytes::<P::BaseField>(encoding);
    whole_slices(input, bytes + encoding.scalar_bytes)?;
    Some(Box::new(move || {
        products(input, bytes, encoding.scalar_bytes, |bytes| short::<P>(bytes, encoding))
            .and_then(summed)
            .map_or(Vec::new(), |point| encoded_short(point, encoding))
    }))
}

/// True if the product of pairings is one.
pub(super) fn pairing<E, P1, P2>(input: &[u8], encoding: Encoding) -> Option<Run<'_>>
where
    P1: SWCurveConfig,
    P2: SWCurveConfig,
    E: Pairing<G1Affine = Short<P1>, G2Affine = Short<P2>>,
{
    let bytes = [point_bytes::<P1::BaseField>(encoding), point_bytes::<P2::BaseField>(encoding)];
    let pair = move |slice: &[u8]| {
        let (p, q) = slice.split_at_checked(bytes[0])?;
        let (p, q) = (short::<P1>(p, encoding)?, short::<P2>(q, encoding)?);
        let are_members =
            P1::is_in_correct_subgroup_assuming_on_curve(&p) && P2::is_in_correct_subgroup_assuming_on_curve(&q);
        are_members.then_some((p, q))
    };
    whole_slices(input, bytes[0] + bytes[1])?;
    Some(Box::new(move || {
        let pairs: Option<(Vec<_>, Vec<_>)> = input.chunks(bytes[0] + bytes[1]).map(pair).collect();
        pairs.map_or(Vec::new(), |(p, q)| word(E::multi_pairing(p, q).is_zero()))
    }))
}

/// A curve a·x² + y² = 1 + d·x²·y² in the coordinates of a contract.
struct EdwardsCurve<P: TECurveConfig> {
    /// Factors of x: from the contract's form of the curve to the library's, and back.
    to_library: P::BaseField,
    from_library: P::BaseField,
    /// True if points must be in the subgroup.
    asks_for_subgroup: bool,
}

impl<P: TECurveConfig> EdwardsCurve<P> {
    fn point(&self, bytes: &[u8]) -> Option<Edwards<P>> {
        let [x, y] = coordinates(bytes, EIP_196)?;
        let point = Edwards::new_unchecked(x * self.to_library, y);
        let is_taken =
            point.is_on_curve() && (!self.asks_for_subgroup || P::is_in_correct_subgroup_assuming_on_curve(&point));
        is_taken.then_some(point)
    }

    fn run(
        self,
        input: &[u8],
        compute: impl Fn((Vec<Edwards<P>>, Vec<<P as CurveConfig>::ScalarField>)) -> Option<Edwards<P>> + 'static,
    ) -> Option<Run<'_>> {
        let bytes = point_bytes::<P::BaseField>(EIP_196);
        whole_slices(input, bytes + EIP_196.scalar_bytes)?;
        Some(Box::new(move || {
            products(input, bytes, EIP_196.scalar_bytes, |bytes| self.point(bytes))
                .and_then(&compute)
                .map_or(Vec::new(), |point| encoded([point.x * self.from_library, point.y], EIP_196))
        }))
    }
}

/// arkworks' curve has a = 1 and is isomorphic: its x is that of ERC-2494 times a root of 168700.
fn baby_jubjub() -> Option<EdwardsCurve<EdwardsConfig>> {
    let root = ark_bn254::Fr::from(168_700u32).sqrt()?;
    Some(EdwardsCurve { to_library: root, from_library: root.inverse()?, asks_for_subgroup: false })
}

/// Multiples on Baby Jubjub.
pub(super) fn baby_jubjub_product(input: &[u8]) -> Option<Run<'_>> {
    baby_jubjub()?.run(input, multiplied)
}

/// Sums of multiples on Baby Jubjub.
pub(super) fn baby_jubjub_sum(input: &[u8]) -> Option<Run<'_>> {
    baby_jubjub()?.run(input, summed)
}

fn bandersnatch() -> EdwardsCurve<BandersnatchConfig> {
    let one = ark_ed_on_bls12_381_bandersnatch::Fq::ONE;
    EdwardsCurve { to_library: one, from_library: one, asks_for_subgroup: true }
}

/// Multiples on Bandersnatch.
pub(super) fn bandersnatch_product(input: &[u8]) -> Option<Run<'_>> {
    bandersnatch().run(input, multiplied)
}

/// Sums of multiples on Bandersnatch.
pub(super) fn bandersnatch_sum(input: &[u8]) -> Option<Run<'_>> {
    bandersnatch().run(input, summed)
}
