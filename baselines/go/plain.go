package main

import (
	"math/big"

	bls12381 "github.com/consensys/gnark-crypto/ecc/bls12-381/fp"

	"residue/baselines/field"
)

// plain way to do operations on field elements, with the reference for clients in Go; nil for others. Elements stay as slots have them.
func plain(job Job, in []byte) func() []byte {
	parts, isKnown := map[string]int{"fp-add": 1, "fp-mul": 1, "fp-inverse": 1, "fp2-mul": 2}[job.Operation]
	if !isKnown {
		return nil
	}
	modulus, ok := field.NewModulus(bls12381.Modulus().Bytes())
	if !ok {
		fail("the modulus of BLS12-381 is none")
	}
	values := make([][]uint64, len(in)/element)
	for i := range values {
		values[i] = make([]uint64, modulus.Limbs())
		if !modulus.Parse(values[i], in[i*element:(i+1)*element]) {
			fail(job.Name + ": " + new(big.Int).SetBytes(in[i*element:(i+1)*element]).String() + " is not below the modulus")
		}
	}
	step := map[string]func(z [][]uint64){
		"fp-add": func(z [][]uint64) { modulus.Add(z[0], z[0], values[1]) },
		"fp-mul": func(z [][]uint64) { modulus.Mul(z[0], z[0], values[1]) },
		"fp-inverse": func(z [][]uint64) {
			modulus.Inverse(z[0], z[0])
			modulus.Add(z[0], z[0], values[1])
		},
		// Two sums of two products, as SUM2X has them.
		"fp2-mul": func(z [][]uint64) {
			modulus.Sum(z[2], 0b10, z[0], values[2], z[1], values[3])
			modulus.Sum(z[1], 0, z[0], values[3], z[1], values[2])
			z[0], z[2] = z[2], z[0]
		},
	}[job.Operation]
	return func() []byte {
		z := make([][]uint64, 3)
		for i := range z {
			z[i] = make([]uint64, modulus.Limbs())
			copy(z[i], values[i%len(values)])
		}
		for range job.Chain {
			step(z)
		}
		out := make([]byte, parts*element)
		for i := range parts {
			modulus.Bytes(out[i*element:(i+1)*element], z[i])
		}
		return out
	}
}
