package field

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// folder of tests that `residue fixtures` wrote, which must have some.
const variable = "RESIDUE_FIXTURES"

// caller of the codes under test: it keeps in its storage what came of each call, from sixteen times its number on.
const caller = "0xcacacacacacacacacacacacacacacacacacacaca"

// account of a test.
type account struct {
	Code    string            `json:"code"`
	Storage map[string]string `json:"storage"`
}

// stateTest is what is read of a test.
type stateTest struct {
	Info struct {
		Revision string `json:"revision"`
		Metadata struct {
			Frames []struct {
				Halt    string `json:"halt"`
				GasUsed uint64 `json:"gasUsed"`
			} `json:"frames"`
		} `json:"metadata"`
	} `json:"_info"`
	Pre         map[string]account `json:"pre"`
	Transaction struct {
		Data []string `json:"data"`
	} `json:"transaction"`
	Post map[string][]struct {
		State map[string]account `json:"state"`
	} `json:"post"`
}

func bytesOf(text string) []byte {
	bytes, err := hex.DecodeString(strings.TrimPrefix(text, "0x"))
	if err != nil {
		panic(err)
	}
	return bytes
}

// kept is what the caller has in its storage at a key: zero if there is nothing.
func (s *stateTest) kept(key int) *big.Int {
	storage := s.Post["Osaka"][0].State[caller].Storage
	number := new(big.Int)
	for name, value := range storage {
		if number.SetBytes(bytesOf(name)).Cmp(big.NewInt(int64(key))) == 0 {
			return new(big.Int).SetBytes(bytesOf(value))
		}
	}
	return new(big.Int)
}

// call number i: gas, address, and the input of all calls.
func (s *stateTest) call(i, calls int) (uint64, string, []byte) {
	data := bytesOf(s.Transaction.Data[0])
	gas := new(big.Int).SetBytes(data[64*i : 64*i+32]).Uint64()
	return gas, "0x" + hex.EncodeToString(data[64*i+44:64*i+64]), data[64*calls:]
}

// check runs the frames of a test. It says what is different, or that a frame needs a world.
func (s *stateTest) check(instructions map[byte]Instruction) error {
	frames := s.Info.Metadata.Frames
	if frames == nil {
		return errWorld
	}
	for i, frame := range frames {
		gas, address, input := s.call(i, len(frames))
		machine := newMachine(instructions, bytesOf(s.Pre[address].Code), input, gas)
		err := machine.run()
		used := gas - machine.Gas
		switch {
		case err == errWorld:
			return fmt.Errorf("frame %d: %w, after which the file says %s", i, err, frame.Halt)
		case err != nil && err != errRevert:
			used, machine.output = gas, nil
		}
		size, hash := s.kept(16*i+2), s.kept(16*i+3)
		switch {
		case used != frame.GasUsed:
			return fmt.Errorf("frame %d: %d gas, not %d (%v; %s)", i, used, frame.GasUsed, err, frame.Halt)
		case (err == nil) != (s.kept(16*i).Sign() == 1):
			return fmt.Errorf("frame %d ends with %v, and the file says %s", i, err, frame.Halt)
		case size.Cmp(big.NewInt(int64(len(machine.output)))) != 0:
			return fmt.Errorf("frame %d: %d bytes of output, not %d", i, len(machine.output), size)
		case hash.Cmp(new(big.Int).SetBytes(keccak(machine.output))) != 0:
			return fmt.Errorf("frame %d: another output", i)
		}
	}
	return nil
}

// files of state tests of instructions below a folder.
func files(t *testing.T, folder string) (found []string) {
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		isOther := strings.Contains(path, "blockchain_tests") || strings.Contains(path, "transaction_tests")
		if err == nil && !entry.IsDir() && strings.HasSuffix(path, ".json") && !isOther {
			found = append(found, path)
		}
		return err
	})
	if err != nil || len(found) == 0 {
		t.Fatalf("%s=%s has no state tests: %v", variable, folder, err)
	}
	return found
}

func TestFixtures(t *testing.T) {
	folder := os.Getenv(variable)
	if folder == "" {
		t.Skipf("%s names no folder of `residue fixtures`", variable)
	}
	executed, left := 0, 0
	for _, path := range files(t, folder) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var tests map[string]*stateTest
		if err := json.Unmarshal(text, &tests); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		for name, test := range tests {
			if revision := test.Info.Revision; revision != "eip6690-2024" && revision != "evmmax-next" {
				t.Fatalf("%s: %s is of %q, which is not implemented here", path, name, revision)
			}
			switch err := test.check(Instructions(test.Info.Revision == "evmmax-next")); err {
			case nil:
				executed++
			case errWorld:
				left++
			default:
				t.Errorf("%s: %s: %v", filepath.Base(path), name, err)
			}
		}
	}
	t.Logf("%d tests end as their files say, %d that call others are left out", executed, left)
	if executed < 10*left {
		t.Errorf("most tests were left out")
	}
}
