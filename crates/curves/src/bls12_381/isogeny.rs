//! The isogenies of RFC 9380 from the curves E′ of the simplified SWU map to those of BLS12-381, in Jacobian coordinates,
//! from their kernels alone: the table of coefficients in the RFC would cost more to bring into slots than it saves.
//!
//! For y² = f(x) = x³ + Ax + B and the polynomial h whose d roots are the x of the kernel, σ their sum and ℓ = 2d + 1,
//! Vélu's isogeny (x, y) ↦ (φ(x), y·φ′(x)) has φ = ℓx − 2σ − 2f′·L − 4f·L′ with L = h′/h: Kohel 1996, “Endomorphism rings of
//! elliptic curves over finite fields”, §2.4. So φ = N/h² and φ′ = M/h³, where with P = h·h″ − h′²
//!
//! - N = (ℓx − 2σ)·h² − 2f′·h·h′ − 4f·P
//! - M = h·(ℓh² − 12x·h·h′ − 6f′·P) − 4f·Q, Q = h·(h‴·h − h′·h″) − 2h′·P
//!
//! After it the isogenies of the RFC divide x by ℓ² and y by ℓ³ or, for ℓ = 3, by −ℓ³: Z = ±ℓ·h. Where h vanishes the
//! image is the identity, and Z = 0. Over Fp2 [`Jacobian::over`] brings Z into Fp.

use crate::bls12_381::Fp2;
use crate::group::{Affine, Coordinate, Jacobian};
use residue_formula::Fe;
use residue_formula::scope::enter;

/// The isogeny of degree 11 to the curve of G1, RFC 9380, appendix E.2: x_den is the square of this polynomial and y_den its
/// cube; coefficients of 1, x, …, x⁴, the leading one being 1.
pub const G1_KERNEL: [&str; 5] = [
    "133341fb0962a34cb0504a9c4fada0a5090d38679b4c040d5d1c3afb023a3409fcc0815fea66d8b02bbef9c8b5a66e07",
    "264908af037bcede00d054cf5d4775e83eb6cf63c76b969f8ed174fb59fcff78d201f46f6cfc4ed6552e59ce75177b0",
    "1335c502c1f54c49aceea65e87fd7203ba0f626f305fc0cfd606a5dae9f3c8e81a4b3b69600129fabd307c69bf319d39",
    "94440f65f408a6e930e16e3e92dd17bf60d6e9679a8d3d58593de55ac23703042d609537eb3549aac234d896ca82944",
    "4afe09d5cf4956a23b6b71f59d2b3407b415a774b7be81bbb6fa99cbc798e0ac98ba725a5bc328016b1c268b4766e85",
];

/// The isogeny of degree 3 to the curve of G2, RFC 9380, appendix E.3: h = x + this number·(1 − u).
pub const G2_KERNEL: u64 = 6;

/// (x, y) ↦ its image under the isogeny of degree 11, given A and h without its leading coefficient.
pub fn degree_11<F: Fe>(point: Affine<F>, a: F, kernel: &[F; 5]) -> Jacobian<F> {
    let _scope = enter("isogeny_11");
    let Affine { x, y } = point;
    let [h, h1, h2, h3] = taylor(x, kernel);
    let (h2, h3) = (times(h2, 2), times(h3, 6)); //                   h″ and h‴
    let f = y.square(); //                                            f = y²
    let f1 = times(x.square(), 3) + a; //                             f′ = 3x² + A
    let (hh, hh1) = (h.square(), h * h1);
    let p = h * h2 - h1.square(); //                                  P = h·h″ − h′²
    let q = h * (h3 * h - h1 * h2) - times(h1 * p, 2); //             Q
    let (f_4, xhh1, f1p) = (times(f, 4), x * hh1, f1 * p);
    let minus_2_sigma = times(kernel[4], 2); //                       h = x⁵ − σx⁴ + …
    let n = (times(x, 11) + minus_2_sigma) * hh - times(f1 * hh1, 2) - f_4 * p;
    let m = h * (times(hh, 11) - times(xhh1, 12) - times(f1p, 6)) - f_4 * q;
    Jacobian { x: n, y: y * m, z: times(h, 11) }
}

/// (x, y) ↦ its image under the isogeny of degree 3, given A and h = x + `kernel`: here h′ = 1, P = −1 and Q = 2.
pub fn degree_3<F: Fe>(point: Affine<Fp2<F>>, a: Fp2<F>, kernel: Fp2<F>) -> Jacobian<Fp2<F>> {
    let _scope = enter("isogeny_3");
    let Affine { x, y } = point;
    let h = x + kernel;
    let f_4 = times(y.square(), 4); //                               4f = 4y²
    let f1 = times(x.square(), 3) + a; //                            f′ = 3x² + A
    let hh = h.square();
    let n = (times(x, 3) + times(kernel, 2)) * hh - times(f1 * h, 2) + f_4;
    let m = h * (times(hh, 3) - times(x * h, 12) + times(f1, 6)) - times(f_4, 2);
    Jacobian::over(n, y * m, -times(h, 3))
}

/// h, h′, h″/2 and h‴/6 at x: Horner's scheme, repeated on the quotients by x − x₀. Knuth, TAOCP volume 2, §4.6.4.
fn taylor<F: Fe>(x: F, kernel: &[F; 5]) -> [F; 4] {
    let mut quotient: Vec<F> = kernel.to_vec(); // of 1, x, …; the leading coefficient is 1 throughout
    std::array::from_fn(|_| {
        let (&next, rest) = quotient.split_last().expect("h has degree five, and there are three derivatives");
        let mut values = vec![x + next];
        for &coefficient in rest.iter().rev() {
            values.push(values[values.len() - 1] * x + coefficient);
        }
        let value = values.pop().expect("one value was there from the start");
        values.reverse();
        quotient = values;
        value
    })
}

/// (a, k) ↦ k·a by doublings and additions, k ≥ 1.
fn times<C: Coordinate>(a: C, k: u32) -> C {
    (0..k.ilog2()).rev().fold(a, |multiple, bit| {
        let twice = multiple + multiple;
        if k >> bit & 1 == 1 { twice + a } else { twice }
    })
}
