// The baselines in Go: gnark-crypto on parsed values, go-ethereum's precompiles on bytes, and the reference of folder field. Built
// with the tag purego it has operations on field elements alone, by gnark-crypto without assembly.
//
// It reads {"jobs": [{"name", "operation", "chain", "input", "expected"}]} from standard input, with bytes in hexadecimal: the
// inputs and answers of `residue bench`. It measures itself on the jobs that it knows and prints {"rows": [{"name", "quantity",
// "samples"}]}, with times in nanoseconds, one for each round. Every answer is compared with the expected one in every round;
// if one differs, nothing is printed and the program fails.
//
//	go build -o baselines . && RESIDUE_BASELINES_GO=$PWD/baselines residue bench operations
package main

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"math/big"
	"os"
	"runtime"
	"time"

	"github.com/consensys/gnark-crypto/ecc"
	bls12381 "github.com/consensys/gnark-crypto/ecc/bls12-381"
	"github.com/consensys/gnark-crypto/ecc/bls12-381/fp"
	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/vm"
)

// Row is a measurement: the times of one subject, one for each round.
type Row struct {
	Name     string    `json:"name"`
	Quantity string    `json:"quantity"`
	Samples  []float64 `json:"samples"`
}

// Job is an operation on an input with its answer. An operation on field elements is done Chain times in a run.
type Job struct {
	Name      string `json:"name"`
	Operation string `json:"operation"`
	Chain     int    `json:"chain"`
	Input     string `json:"input"`
	Expected  string `json:"expected"`
}

// Subject computes an answer that is known before.
type Subject struct {
	name     string
	chain    int
	expected []byte
	run      func() []byte
}

// Sizes of EIP-2537: elements are padded to 64 bytes.
const (
	padding  = 16
	element  = 64
	g1Bytes  = 2 * element
	g2Bytes  = 4 * element
	fp12Size = 12 * element
	scalar   = 32
)

// Addresses of EIP-2537's precompiles by operation.
var addresses = map[string]byte{
	"g1-mul": 0x0c, "g1-msm": 0x0c, "g2-mul": 0x0e, "g2-msm": 0x0e,
	"pairing": 0x0f, "map-fp-to-g1": 0x10, "map-fp2-to-g2": 0x11,
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

func parts(z *bls12381.E12) []*fp.Element {
	var out []*fp.Element
	for _, half := range []*bls12381.E6{&z.C0, &z.C1} {
		for _, part := range []*bls12381.E2{&half.B0, &half.B1, &half.B2} {
			out = append(out, &part.A0, &part.A1)
		}
	}
	return out
}

func parse(in []byte) (out fp.Element) {
	out.SetBytes(in[padding:element])
	return
}

func parseE2(in []byte) bls12381.E2 { return bls12381.E2{A0: parse(in), A1: parse(in[element:])} }

func parseE12(in []byte) (out bls12381.E12) {
	for i, part := range parts(&out) {
		*part = parse(in[i*element:])
	}
	return
}

func parseG1(in []byte) bls12381.G1Affine {
	return bls12381.G1Affine{X: parse(in), Y: parse(in[element:])}
}

func parseG2(in []byte) bls12381.G2Affine {
	return bls12381.G2Affine{X: parseE2(in), Y: parseE2(in[2*element:])}
}

func truth(isTrue bool) []byte {
	out := make([]byte, 32)
	if isTrue {
		out[31] = 1
	}
	return out
}

// terms of a sum of multiples: points and scalars.
func terms[P any](in []byte, pointBytes int, point func([]byte) P) ([]P, []fr.Element) {
	var points []P
	var scalars []fr.Element
	for ; len(in) >= pointBytes+scalar; in = in[pointBytes+scalar:] {
		points = append(points, point(in))
		var factor fr.Element
		factor.SetBytes(in[pointBytes : pointBytes+scalar])
		scalars = append(scalars, factor)
	}
	return points, scalars
}

// tagAndMessage of an input: two bytes with the length of the tag, the tag, the message.
func tagAndMessage(in []byte) (tag, message []byte) {
	end := 2 + int(binary.BigEndian.Uint16(in))
	return in[2:end], in[end:]
}

func pairing(job Job, in, expected []byte) []Subject {
	var p []bls12381.G1Affine
	var q []bls12381.G2Affine
	for ; len(in) >= g1Bytes+g2Bytes; in = in[g1Bytes+g2Bytes:] {
		p, q = append(p, parseG1(in)), append(q, parseG2(in[g1Bytes:]))
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
	return []Subject{
		{"gnark/" + job.Name, 1, expected, func() []byte { return truth(check()) }},
		{"gnark:checked/" + job.Name, 1, expected, func() []byte { return truth(inSubgroups() && check()) }},
	}
}

// chains of operations on field elements, each on the result of the one before.
func chains(job Job, in []byte) func() []byte {
	times := func(step func()) {
		for range job.Chain {
			step()
		}
	}
	switch job.Operation {
	case "fp-add", "fp-mul", "fp-inverse":
		x, y := parse(in), parse(in[element:])
		step := map[string]func(z *fp.Element){
			"fp-add":     func(z *fp.Element) { z.Add(z, &y) },
			"fp-mul":     func(z *fp.Element) { z.Mul(z, &y) },
			"fp-inverse": func(z *fp.Element) { z.Inverse(z).Add(z, &y) },
		}[job.Operation]
		return func() []byte {
			z := x
			times(func() { step(&z) })
			return encode(&z)
		}
	case "fp2-mul":
		x, y := parseE2(in), parseE2(in[2*element:])
		return func() []byte {
			z := x
			times(func() { z.Mul(&z, &y) })
			return encode(&z.A0, &z.A1)
		}
	case "fp12-mul":
		x, y := parseE12(in), parseE12(in[fp12Size:])
		return func() []byte {
			z := x
			times(func() { z.Mul(&z, &y) })
			return encode(parts(&z)...)
		}
	}
	return nil
}

// gnark's way to do a job on one value or point; nil if it has none.
func gnark(job Job, in []byte) func() []byte {
	one := ecc.MultiExpConfig{NbTasks: 1}
	switch job.Operation {
	case "g1-mul":
		point, factor := parseG1(in), new(big.Int).SetBytes(in[g1Bytes:])
		return func() []byte {
			var product bls12381.G1Affine
			return encodeG1(product.ScalarMultiplication(&point, factor))
		}
	case "g2-mul":
		point, factor := parseG2(in), new(big.Int).SetBytes(in[g2Bytes:])
		return func() []byte {
			var product bls12381.G2Affine
			return encodeG2(product.ScalarMultiplication(&point, factor))
		}
	case "g1-msm":
		points, scalars := terms(in, g1Bytes, parseG1)
		return func() []byte {
			var sum bls12381.G1Affine
			if _, err := sum.MultiExp(points, scalars, one); err != nil {
				return nil
			}
			return encodeG1(&sum)
		}
	case "g2-msm":
		points, scalars := terms(in, g2Bytes, parseG2)
		return func() []byte {
			var sum bls12381.G2Affine
			if _, err := sum.MultiExp(points, scalars, one); err != nil {
				return nil
			}
			return encodeG2(&sum)
		}
	case "map-fp-to-g1":
		u := parse(in)
		return func() []byte {
			point := bls12381.MapToG1(u)
			return encodeG1(&point)
		}
	case "map-fp2-to-g2":
		u := parseE2(in)
		return func() []byte {
			point := bls12381.MapToG2(u)
			return encodeG2(&point)
		}
	case "hash-to-g1":
		tag, message := tagAndMessage(in)
		return func() []byte {
			point, err := bls12381.HashToG1(message, tag)
			if err != nil {
				return nil
			}
			return encodeG1(&point)
		}
	case "hash-to-g2":
		tag, message := tagAndMessage(in)
		return func() []byte {
			point, err := bls12381.HashToG2(message, tag)
			if err != nil {
				return nil
			}
			return encodeG2(&point)
		}
	}
	return chains(job, in)
}

// subjects that do a job; none for a job that nobody here knows.
func subjects(job Job) []Subject {
	in, err := hex.DecodeString(job.Input)
	expected, err2 := hex.DecodeString(job.Expected)
	if err != nil || err2 != nil || job.Chain < 1 {
		fail(fmt.Sprintf("job %q: input and expected are hexadecimal, chain is at least 1", job.Name))
	}
	if !isAssembly {
		if run := chains(job, in); run != nil {
			return []Subject{{"gnark:purego/" + job.Name, job.Chain, expected, run}}
		}
		return nil
	}
	var found []Subject
	if job.Operation == "pairing" {
		found = pairing(job, in, expected)
	} else if run := gnark(job, in); run != nil {
		found = append(found, Subject{"gnark/" + job.Name, job.Chain, expected, run})
	}
	if run := plain(job, in); run != nil {
		found = append(found, Subject{"go/" + job.Name, job.Chain, expected, run})
	}
	if address, ok := addresses[job.Operation]; ok {
		contract := vm.PrecompiledContractsPrague[common.BytesToAddress([]byte{address})]
		found = append(found, Subject{"geth/" + job.Name, 1, expected, func() []byte {
			output, err := contract.Run(in)
			if err != nil {
				return nil
			}
			return output
		}})
	}
	return found
}

func fail(reason string) {
	fmt.Fprintln(os.Stderr, "error:", reason)
	os.Exit(1)
}

// timed runs all subjects of a job in turn, round after round; the first round is not measured.
func timed(subjects []Subject, rounds int) []Row {
	rows := make([]Row, len(subjects))
	for round := -1; round < rounds; round++ {
		for turn := range subjects {
			number := (turn + max(round, 0)) % len(subjects)
			subject := &subjects[number]
			begin := time.Now()
			answer := subject.run()
			elapsed := time.Since(begin)
			if !bytes.Equal(answer, subject.expected) {
				fail(fmt.Sprintf("%s answered %x and not %x", subject.name, answer, subject.expected))
			}
			rows[number].Name, rows[number].Quantity = subject.name, "time"
			if round >= 0 {
				sample := float64(elapsed.Nanoseconds()) / float64(subject.chain)
				rows[number].Samples = append(rows[number].Samples, sample)
			}
		}
	}
	return rows
}

func main() {
	rounds := flag.Int("rounds", 15, "rounds of each measurement")
	flag.Parse()
	if *rounds < 1 || flag.NArg() > 0 {
		fmt.Fprintln(os.Stderr, "usage: baselines [-rounds N] < JOBS, with N at least 1")
		os.Exit(2)
	}
	var asked struct{ Jobs []Job }
	if err := json.NewDecoder(os.Stdin).Decode(&asked); err != nil {
		fail("reading jobs: " + err.Error())
	}
	// One core, as the other subjects have it.
	runtime.GOMAXPROCS(1)
	rows := []Row{}
	for _, job := range asked.Jobs {
		rows = append(rows, timed(subjects(job), *rounds)...)
	}
	if err := json.NewEncoder(os.Stdout).Encode(map[string]any{"rows": rows}); err != nil {
		fail(err.Error())
	}
}
