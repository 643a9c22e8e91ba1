// The baselines in Go: gnark-crypto on parsed points and go-ethereum's precompiles on bytes.
//
// It measures itself and prints {"rows": [{"name", "quantity", "samples"}]}, with times in nanoseconds, one for each round;
// `residue bench operations` runs it where RESIDUE_BASELINES_GO names the built program. The two layers check each other:
// what gnark-crypto computes has to be what the precompile answers, in every round, else nothing is printed.
//
//	go build -o baselines . && RESIDUE_BASELINES_GO=$PWD/baselines residue bench operations
package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"math/big"
	"os"
	"runtime"
	"time"

	bls12381 "github.com/consensys/gnark-crypto/ecc/bls12-381"
	"github.com/consensys/gnark-crypto/ecc/bls12-381/fp"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/vm"
)

// Row is a measurement: the times of one subject, one for each round.
type Row struct {
	Name     string    `json:"name"`
	Quantity string    `json:"quantity"`
	Samples  []float64 `json:"samples"`
}

// Subject computes an answer that is known before.
type Subject struct {
	name     string
	expected []byte
	run      func() []byte
}

// Addresses and padded sizes of EIP-2537.
const (
	g1MSM   = 0x0c
	g2MSM   = 0x0e
	pairing = 0x0f
	padding = 16
)

func precompile(address byte) vm.PrecompiledContract {
	return vm.PrecompiledContractsPrague[common.BytesToAddress([]byte{address})]
}

func encode(elements ...*fp.Element) []byte {
	var out []byte
	for _, element := range elements {
		bytes := element.Bytes()
		out = append(append(out, make([]byte, padding)...), bytes[:]...)
	}
	return out
}

func encodeG1(p *bls12381.G1Affine) []byte { return encode(&p.X, &p.Y) }

func encodeG2(q *bls12381.G2Affine) []byte { return encode(&q.X.A0, &q.X.A1, &q.Y.A0, &q.Y.A1) }

// scalar is a number of 254 bits that depends on its seed only.
func scalar(seed int64) *big.Int {
	base := new(big.Int).SetInt64(0x7265736964756500 + seed)
	power := new(big.Int).Exp(base, big.NewInt(5), nil)
	return power.Mod(power, new(big.Int).Lsh(big.NewInt(1), 254))
}

func word(number *big.Int) []byte { return number.FillBytes(make([]byte, 32)) }

func truth(isTrue bool) []byte {
	out := make([]byte, 32)
	if isTrue {
		out[31] = 1
	}
	return out
}

// pairs of which the first ones are undone by the last: e(aᵢP, Q)⋯e(−(Σaᵢ)P, Q) = 1 for two pairs and more.
func pairs(count int) ([]bls12381.G1Affine, []bls12381.G2Affine) {
	_, _, g1, g2 := bls12381.Generators()
	p, q := make([]bls12381.G1Affine, count), make([]bls12381.G2Affine, count)
	sum := new(big.Int)
	for i := range p {
		factor := scalar(int64(i))
		if i > 0 && i == count-1 {
			factor = new(big.Int).Neg(sum)
			factor.Mod(factor, bls12381Order())
		}
		sum.Add(sum, factor)
		p[i].ScalarMultiplication(&g1, factor)
		q[i] = g2
	}
	return p, q
}

func bls12381Order() *big.Int {
	order, _ := new(big.Int).SetString("73eda753299d7d483339d80809a1d80553bda402fffe5bfeffffffff00000001", 16)
	return order
}

func pairingSubjects(count int) []Subject {
	p, q := pairs(count)
	var input []byte
	for i := range p {
		input = append(append(input, encodeG1(&p[i])...), encodeG2(&q[i])...)
	}
	expected, err := precompile(pairing).Run(input)
	if err != nil {
		fail(fmt.Sprintf("pairing of %d pairs: %v", count, err))
	}
	check := func() bool {
		isOne, err := bls12381.PairingCheck(p, q)
		return err == nil && isOne
	}
	inSubgroups := func() bool {
		for i := range p {
			if !p[i].IsInSubGroup() || !q[i].IsInSubGroup() {
				return false
			}
		}
		return true
	}
	name := fmt.Sprintf("pairing/%d", count)
	return []Subject{
		{"gnark/" + name, expected, func() []byte { return truth(check()) }},
		{"gnark:checked/" + name, expected, func() []byte { return truth(inSubgroups() && check()) }},
		geth(name, pairing, input, expected),
	}
}

func geth(name string, address byte, input, expected []byte) Subject {
	contract := precompile(address)
	return Subject{"geth/" + name, expected, func() []byte {
		output, err := contract.Run(input)
		if err != nil {
			return nil
		}
		return output
	}}
}

func multiples() []Subject {
	_, _, g1, g2 := bls12381.Generators()
	factor := scalar(77)
	in1, in2 := append(encodeG1(&g1), word(factor)...), append(encodeG2(&g2), word(factor)...)
	expected1, err1 := precompile(g1MSM).Run(in1)
	expected2, err2 := precompile(g2MSM).Run(in2)
	if err1 != nil || err2 != nil {
		fail(fmt.Sprintf("multiples: %v, %v", err1, err2))
	}
	return []Subject{
		{"gnark/g1-mul/1", expected1, func() []byte {
			var product bls12381.G1Affine
			return encodeG1(product.ScalarMultiplication(&g1, factor))
		}},
		geth("g1-mul/1", g1MSM, in1, expected1),
		{"gnark/g2-mul/1", expected2, func() []byte {
			var product bls12381.G2Affine
			return encodeG2(product.ScalarMultiplication(&g2, factor))
		}},
		geth("g2-mul/1", g2MSM, in2, expected2),
	}
}

func fail(reason string) {
	fmt.Fprintln(os.Stderr, "error:", reason)
	os.Exit(1)
}

func main() {
	rounds := flag.Int("rounds", 15, "rounds of each measurement")
	flag.Parse()
	if *rounds < 1 || flag.NArg() > 0 {
		fmt.Fprintln(os.Stderr, "usage: baselines [-rounds N], with N at least 1")
		os.Exit(2)
	}
	// One core, as the other subjects have it.
	runtime.GOMAXPROCS(1)
	subjects := multiples()
	for _, count := range []int{1, 2, 4, 8, 16} {
		subjects = append(subjects, pairingSubjects(count)...)
	}
	rows := make([]Row, len(subjects))
	for round := -1; round < *rounds; round++ {
		for turn := range subjects {
			number := (turn + max(round, 0)) % len(subjects)
			subject := &subjects[number]
			begin := time.Now()
			answer := subject.run()
			elapsed := time.Since(begin)
			if !bytes.Equal(answer, subject.expected) {
				fail(fmt.Sprintf("%s answered %x and not %x", subject.name, answer, subject.expected))
			}
			// The first round is not measured.
			if round >= 0 {
				rows[number].Samples = append(rows[number].Samples, float64(elapsed.Nanoseconds()))
			}
			rows[number].Name, rows[number].Quantity = subject.name, "time"
		}
	}
	if err := json.NewEncoder(os.Stdout).Encode(map[string]any{"rows": rows}); err != nil {
		fail(err.Error())
	}
}
