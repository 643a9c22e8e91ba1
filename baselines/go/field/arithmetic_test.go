package field

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"testing"

	bls12381 "github.com/consensys/gnark-crypto/ecc/bls12-381/fp"
	bn254 "github.com/consensys/gnark-crypto/ecc/bn254/fp"
)

var random = rand.New(rand.NewPCG(7, 11))

func number(bytes int) *big.Int {
	out := make([]byte, bytes)
	for i := range out {
		out[i] = byte(random.Uint32())
	}
	switch random.IntN(6) {
	case 0:
		clear(out[1:])
	case 1:
		for i := range out {
			out[i] = 0xff
		}
	}
	return new(big.Int).SetBytes(out)
}

// moduli of all widths: odd ones with and without leading zeros, and powers of two.
func moduli() (found [][]byte) {
	for size := 1; size <= 96; size++ {
		for range 4 {
			m := number(size)
			m.SetBit(m, 0, 1)
			power := new(big.Int).Lsh(big.NewInt(1), uint(2+random.IntN(max(8*size-2, 1))))
			for _, modulus := range []*big.Int{m, power, new(big.Int).Rsh(m, uint(random.IntN(4*size)))} {
				bytes := modulus.FillBytes(make([]byte, size))
				if _, ok := NewModulus(bytes); ok {
					found = append(found, bytes)
				}
			}
		}
	}
	return
}

func TestArithmetic(t *testing.T) {
	all := moduli()
	if len(all) < 800 {
		t.Fatalf("%d moduli", len(all))
	}
	for _, bytes := range all {
		field, _ := NewModulus(bytes)
		m, n := new(big.Int).SetBytes(bytes), field.Limbs()
		value := func() (*big.Int, []uint64) {
			x := new(big.Int).Mod(number(8*n), m)
			out := make([]uint64, n)
			if !field.Parse(out, x.FillBytes(make([]byte, 8*n+3))) {
				t.Fatalf("%x is refused modulo %x", x, m)
			}
			return x, out
		}
		check := func(what string, got []uint64, want *big.Int) {
			t.Helper()
			out := make([]byte, 8*n+1)
			field.Bytes(out, got)
			if want.Mod(want, m).Cmp(new(big.Int).SetBytes(out)) != 0 {
				t.Errorf("%s modulo %x is %x, not %x", what, m, out, want)
			}
		}
		out := make([]uint64, n)
		if field.Parse(out, m.FillBytes(make([]byte, 8*n))) {
			t.Errorf("%x is below itself", m)
		}
		for range 8 {
			x, a := value()
			y, b := value()
			field.Add(out, a, b)
			check("a sum", out, new(big.Int).Add(x, y))
			field.Sub(out, a, b)
			check("a difference", out, new(big.Int).Sub(x, y))
			field.Mul(out, a, b)
			check("a product", out, new(big.Int).Mul(x, y))
			field.Inverse(out, a)
			inverse := new(big.Int).ModInverse(x, m)
			if inverse == nil {
				inverse = new(big.Int)
			}
			check("an inverse", out, inverse)
			sum, signs := new(big.Int), byte(random.Uint32())
			var operands [][]uint64
			for product := range 2 + random.IntN(5) {
				x, a := value()
				y, b := value()
				operands = append(operands, a, b)
				term := new(big.Int).Mul(x, y)
				if signs>>product&1 == 1 {
					term.Neg(term)
				}
				sum.Add(sum, term)
			}
			field.Sum(out, signs, operands...)
			check("a sum of products", out, sum)
		}
	}
}

func TestModuli(t *testing.T) {
	for _, bytes := range [][]byte{{}, {0}, {1}, {2}, {6}, {1, 2}, make([]byte, 97)} {
		if _, ok := NewModulus(bytes); ok {
			t.Errorf("%x is a modulus", bytes)
		}
	}
}

// Times of plain loops at the widths that curves have. Those of gnark-crypto are in assembly, or with the tag purego in unrolled Go.
func BenchmarkMul(b *testing.B) {
	for _, modulus := range []*big.Int{bn254.Modulus(), bls12381.Modulus()} {
		b.Run(fmt.Sprintf("field/%d", modulus.BitLen()), func(b *testing.B) {
			field, _ := NewModulus(modulus.Bytes())
			x := make([]uint64, field.Limbs())
			x[0] = 7
			for b.Loop() {
				field.Mul(x, x, x)
			}
		})
	}
	b.Run("gnark/254", func(b *testing.B) {
		x := bn254.NewElement(7)
		for b.Loop() {
			x.Mul(&x, &x)
		}
	})
	b.Run("gnark/381", func(b *testing.B) {
		x := bls12381.NewElement(7)
		for b.Loop() {
			x.Mul(&x, &x)
		}
	})
}
