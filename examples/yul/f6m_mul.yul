// A multiplication in the cubic extension of Fp2 of BLS12-381, with 18 multiplications, 50 additions and 20 subtractions,
// for the interfaces that take every operand from the stack: evm384-v1 to evm384-v5.
//
// Input: the coefficients a0 a1 b0 b1 c0 c1 of a + b v + c v^2 and those of A + B v + C v^2, 48 bytes each, little-endian, in
// Montgomery form. Output: the six coefficients of the product. u^2 = -1, v^3 = 1 + u.
//
// The versions differ in the operands of their opcodes only. A line behind `//vN` belongs to version N: compile.js uncovers
// the lines of one version. `verbatim_3i_0o(hex"c0", out, x, y)` pushes y, x and out, so that out is on top, and emits 0xc0.

object "f6m_mul" {
    code {
        // Offsets in memory, 48 bytes a value: zero, twelve inputs, three products, three temporary values of Fp2 and three
        // of Fp, six outputs, the modulus.
        function input() -> at { at := 48 }
        function tmp(index) -> at { at := add(1200, mul(index, 48)) }
        function modulus() -> at { at := 1632 }
        function rInv() -> inv { inv := 0x89f3fffcfffcfffd }

        // out = x + y, out = x - y, out = x * y / 2^384. With version 1, out must not be y: the result overwrites x.
        //v1 function addF1(out, x, y) { mcopy(out, x, 48) verbatim_3i_0o(hex"c0", out, y, modulus()) }
        //v1 function subF1(out, x, y) { mcopy(out, x, 48) verbatim_3i_0o(hex"c1", out, y, modulus()) }
        //v1 function mulF1(out, x, y) { mcopy(out, x, 48) verbatim_4i_0o(hex"c2", out, y, modulus(), rInv()) }
        //v2 function addF1(out, x, y) { verbatim_4i_0o(hex"c0", out, x, y, modulus()) }
        //v2 function subF1(out, x, y) { verbatim_4i_0o(hex"c1", out, x, y, modulus()) }
        //v2 function mulF1(out, x, y) { verbatim_5i_0o(hex"c2", out, x, y, modulus(), rInv()) }
        //v3 function addF1(out, x, y) { verbatim_4i_0o(hex"c0", out, x, y, modulus()) }
        //v3 function subF1(out, x, y) { verbatim_4i_0o(hex"c1", out, x, y, modulus()) }
        //v3 function mulF1(out, x, y) { verbatim_5i_0o(hex"c2", out, x, y, modulus(), rInv()) }
        //v4 function addF1(out, x, y) { verbatim_3i_0o(hex"c0", out, x, y) }
        //v4 function subF1(out, x, y) { verbatim_3i_0o(hex"c1", out, x, y) }
        //v4 function mulF1(out, x, y) { verbatim_3i_0o(hex"c2", out, x, y) }
        //v5 function addF1(out, x, y) { verbatim_3i_0o(hex"c0", out, x, y) }
        //v5 function subF1(out, x, y) { verbatim_3i_0o(hex"c1", out, x, y) }
        //v5 function mulF1(out, x, y) { verbatim_3i_0o(hex"c2", out, x, y) }

        function addF2(out, x, y) {
            addF1(out, x, y)
            addF1(add(out, 48), add(x, 48), add(y, 48))
        }

        function subF2(out, x, y) {
            subF1(out, x, y)
            subF1(add(out, 48), add(x, 48), add(y, 48))
        }

        // By Karatsuba: 3 multiplications, 4 additions, 2 subtractions. out must be neither x nor y.
        function mulF2(out, x, y) {
            mulF1(tmp(0), x, y)
            mulF1(tmp(1), add(x, 48), add(y, 48))
            subF1(tmp(2), 0, tmp(1))
            addF1(out, tmp(0), tmp(2))
            addF1(tmp(0), tmp(0), tmp(1))
            addF1(tmp(1), x, add(x, 48))
            addF1(tmp(2), y, add(y, 48))
            mulF1(tmp(1), tmp(1), tmp(2))
            subF1(add(out, 48), tmp(1), tmp(0))
        }

        // out = x * (1 + u); out must not be x.
        function mulByNonresidueF2(out, x) {
            subF1(out, x, add(x, 48))
            addF1(add(out, 48), x, add(x, 48))
        }

        // out = (x + y) * (X + Y) - (xX + yY), given the two products.
        function crossF2(out, x, y, X, Y, xX, yY) {
            let s, S := temporaries()
            addF2(s, x, y)
            addF2(S, X, Y)
            mulF2(out, s, S)
            addF2(s, xX, yY)
            subF2(out, out, s)
        }

        function temporaries() -> s, S { s := 912 S := 1008 }

        // The modulus, little-endian, with r_inv behind it. This grows memory over all of the above.
        mstore(modulus(), 0xabaafffffffffeb9ffff53b1feffab1e24f6b0f6a0d23067bf1285f3844b7764)
        mstore(add(modulus(), 32), 0xd7ac4b43b6a71b4b9ae67f39ea11011afdfffcfffcfff3890000000000000000)
        calldatacopy(input(), 0, 576)

        let a := 48 let b := 144 let c := 240
        let A := 336 let B := 432 let C := 528
        let aA := 624 let bB := 720 let cC := 816
        let cross := 1104
        let out := 1344
        mulF2(aA, a, A)
        mulF2(bB, b, B)
        mulF2(cC, c, C)
        crossF2(cross, b, c, B, C, bB, cC)
        mulByNonresidueF2(out, cross)
        addF2(out, out, aA)                             // aA + (1 + u)(bC + cB)
        crossF2(cross, a, b, A, B, aA, bB)
        mulByNonresidueF2(add(out, 96), cC)
        addF2(add(out, 96), add(out, 96), cross)        // aB + bA + (1 + u) cC
        crossF2(cross, a, c, A, C, aA, cC)
        addF2(add(out, 192), cross, bB)                 // aC + bB + cA
        return(out, 288)
    }
}
