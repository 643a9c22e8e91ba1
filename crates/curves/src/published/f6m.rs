//! One product in Fp6 as the WebAssembly code of update 2 made it: 18 multiplications, 50 additions, 20 subtractions.

use crate::bls12_381::Fp2;
use crate::bls12_381::Fp6;
use residue_formula::scope::enter;
use residue_formula::{Fe, Fp2Product};

/// (a, b) ↦ a·b with u² = −1 as a negation: three multiplications, four additions, two subtractions; or 4, 2 and 1.
#[must_use]
pub fn f2m_mul<F: Fe>(x: Fp2<F>, y: Fp2<F>) -> Fp2<F> {
    let _scope = enter("f2m_mul");
    let a = x.c0 * y.c0; //                            A = x₀·y₀
    let b = x.c1 * y.c1; //                            B = x₁·y₁
    let c1 = match x.c0.fp2_product() {
        Fp2Product::Karatsuba | Fp2Product::Fp6 => {
            let c = (x.c0 + x.c1) * (y.c0 + y.c1); //  C = (x₀ + x₁)(y₀ + y₁)
            c - (a + b) //                             C − (A + B)
        }
        Fp2Product::Schoolbook | Fp2Product::Sums => x.c0 * y.c1 + x.c1 * y.c0,
    };
    Fp2::new(a + -b, c1) //                            A + (−B)
}

/// (a, b) ↦ a·b. Devegili et al. 2006 (2006/471), §4: Karatsuba, sums of products first.
#[must_use]
pub fn f6m_mul<F: Fe>(a: Fp6<F>, b: Fp6<F>) -> Fp6<F> {
    let _scope = enter("f6m_mul");
    let mul = |x, y| f2m_mul(x, y);
    let v0 = mul(a.c0, b.c0); //                                        V₀ = a₀·b₀
    let v1 = mul(a.c1, b.c1); //                                        V₁ = a₁·b₁
    let v2 = mul(a.c2, b.c2); //                                        V₂ = a₂·b₂
    let t12 = mul(a.c1 + a.c2, b.c1 + b.c2) - (v1 + v2); //             a₁·b₂ + a₂·b₁
    let t01 = mul(a.c0 + a.c1, b.c0 + b.c1) - (v0 + v1); //             a₀·b₁ + a₁·b₀
    let t02 = mul(a.c0 + a.c2, b.c0 + b.c2) - (v0 + v2); //             a₀·b₂ + a₂·b₀
    let c0 = v0 + t12.mul_by_nonresidue(); //                           V₀ + ξ·(a₁·b₂ + a₂·b₁)
    let c1 = t01 + v2.mul_by_nonresidue(); //                           a₀·b₁ + a₁·b₀ + ξ·V₂
    Fp6::new(c0, c1, t02 + v1) //                                       a₀·b₂ + a₂·b₀ + V₁
}
