//! blst's way to compute operations, through `crate::native`.

use blst::{blst_fp, blst_fp2, blst_p1_affine, blst_p2_affine};

use super::inputs::{little_endian, mont_elements, scalars, tag_and_message, turns, word};
use super::{Operation, Run};
use crate::native::field::NativeField;
use crate::native::group::{
    NativeGroup, elements, encode, final_exponentiation, fp, fp2, fp2_mul, fp12, fp12_mul, hash_to_g1, hash_to_g2,
    inverse, map_to_g1, map_to_g2, miller_loop,
};
use crate::native::pairing::Pairs;

/// blst's way; with `checked` that of operations which can check subgroups.
pub(super) fn run(operation: Operation, input: &[u8], checked: bool) -> Option<Run<'static>> {
    if checked && operation != Operation::Pairing {
        return None;
    }
    Some(match operation {
        Operation::FpAdd => fp_chain(operation, input, |values| blst_fp::add(values, 0, 0, 1)),
        Operation::FpMul => fp_chain(operation, input, |values| blst_fp::mul(values, 0, 0, 1)),
        Operation::FpInverse => fp_chain(operation, input, |values| {
            values[0] = inverse(values[0]);
            blst_fp::add(values, 0, 0, 1);
        }),
        Operation::Fp2Mul => {
            let (x, y) = (fp2(&input[..128]), fp2(&input[128..]));
            Box::new(move || encode(&(0..turns(operation)).fold(x, |value, _| fp2_mul(&value, &y)).fp))
        }
        Operation::Fp12Mul => {
            let parsed: Vec<blst_fp> = input.chunks_exact(64).map(fp).collect();
            let x = fp12(parsed[..12].try_into().ok()?);
            let y = fp12(parsed[12..].try_into().ok()?);
            Box::new(move || encode(&elements(&(0..turns(operation)).fold(x, |value, _| fp12_mul(&value, &y)))))
        }
        Operation::MillerLoop => {
            let [p_x, p_y, q_x0, q_x1, q_y0, q_y1] = mont(input).try_into().ok()?;
            let p = blst_p1_affine { x: p_x, y: p_y };
            let q = blst_p2_affine { x: blst_fp2 { fp: [q_x0, q_x1] }, y: blst_fp2 { fp: [q_y0, q_y1] } };
            Box::new(move || little_endian(elements(&miller_loop(&p, &q)).iter().map(|element| element.l)))
        }
        Operation::FinalExponentiation => {
            let f = fp12(mont(input).as_slice().try_into().ok()?);
            Box::new(move || little_endian(elements(&final_exponentiation(&f)).iter().map(|element| element.l)))
        }
        // blst has no product in Fp6 for others.
        Operation::SyntheticLoop => return None,
        Operation::Pairing => {
            let pairs = Pairs::parse(input)?;
            Box::new(move || word((!checked || pairs.are_in_subgroups()) && pairs.product_is_one()))
        }
        Operation::G1Add => sum_of_two::<blst_p1_affine>(input),
        Operation::G2Add => sum_of_two::<blst_p2_affine>(input),
        Operation::G1Mul => multiple::<blst_p1_affine>(input),
        Operation::G2Mul => multiple::<blst_p2_affine>(input),
        Operation::G1Msm => sum::<blst_p1_affine>(input),
        Operation::G2Msm => sum::<blst_p2_affine>(input),
        Operation::MapFpToG1 => {
            let element = fp(input);
            Box::new(move || map_to_g1(&element))
        }
        Operation::MapFp2ToG2 => {
            let element = fp2(input);
            Box::new(move || map_to_g2(&element))
        }
        Operation::HashToG1 | Operation::HashToG2 => {
            let (tag, message) = tag_and_message(input);
            let (tag, message) = (tag.to_vec(), message.to_vec());
            let hash = if operation == Operation::HashToG1 { hash_to_g1 } else { hash_to_g2 };
            Box::new(move || hash(&message, &tag))
        }
    })
}

/// Elements whose Montgomery form is written; blst has the same form.
fn mont(input: &[u8]) -> Vec<blst_fp> {
    mont_elements(input).into_iter().map(|l| blst_fp { l }).collect()
}

fn fp_chain(operation: Operation, input: &[u8], step: impl Fn(&mut [blst_fp; 2]) + 'static) -> Run<'static> {
    let start = [fp(&input[..64]), fp(&input[64..])];
    Box::new(move || {
        let mut values = start;
        (0..turns(operation)).for_each(|_| step(&mut values));
        encode(&values[..1])
    })
}

fn sum_of_two<G: NativeGroup + 'static>(input: &[u8]) -> Run<'static> {
    let [a, b] = [&input[..G::POINT_BYTES], &input[G::POINT_BYTES..]].map(G::parse);
    Box::new(move || a.sum(&b))
}

fn multiple<G: NativeGroup + 'static>(input: &[u8]) -> Run<'static> {
    let point = G::parse(&input[..G::POINT_BYTES]);
    let scalar = scalars(input, G::POINT_BYTES)[0];
    Box::new(move || point.multiple(&scalar))
}

fn sum<G: NativeGroup + 'static>(input: &[u8]) -> Run<'static> {
    let points: Vec<G> =
        input.chunks_exact(G::POINT_BYTES + 32).map(|term| G::parse(&term[..G::POINT_BYTES])).collect();
    let scalars = scalars(input, G::POINT_BYTES);
    Box::new(move || G::sum_of_multiples(&points, &scalars))
}
