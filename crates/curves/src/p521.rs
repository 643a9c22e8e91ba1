//! P-521, which is secp521r1. NIST SP 800-186, §3.2.1.5.

use crate::wide_curve::WideCurve;
use residue_modular::fields::P521Fp;
use std::sync::LazyLock;

static CURVE: LazyLock<WideCurve<P521Fp, 3>> = LazyLock::new(|| {
    WideCurve::new([
        "51953eb9618e1c9a1f929a21a0b68540eea2da725b99b315f3b8b489918ef109e156193951ec7e937b1652c0bd3bb1bf073573df883d2c34f1ef451fd46b503f00",
        "c6858e06b70404e9cd9e3ecb662395b4429c648139053fb521f828af606b4d3dbaa14b5e77efe75928fe1dc127a2ffa8de3348b3c1856a429bf97e7e31c2e5bd66",
        "11839296a789a3bc0045c8a5fb42c7d1bd998f54449579b446817afbd17273e662c97ee72995ef42640c550b9013fad0761353c7086a272c24088be94769fd16650",
        "1fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffa51868783bf2f966b7fcc0148f709a5d03bb5c9b8899c47aebb6fb71e91386409",
    ])
});

/// The curve. A scalar is three words.
pub fn curve() -> &'static WideCurve<P521Fp, 3> {
    &CURVE
}
