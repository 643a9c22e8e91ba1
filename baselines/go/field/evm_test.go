package field

import (
	"errors"

	"github.com/holiman/uint256"
	"golang.org/x/crypto/sha3"
)

// errWorld is no halt: the code needs more of the EVM than stands here.
var errWorld = errors.New("an instruction on the world around the frame")

var (
	errJump    = errors.New("no target of jumps")
	errUnknown = errors.New("no instruction")
	errRevert  = errors.New("revert")
)

// memoryMax is above all that gas can pay for in these tests.
const memoryMax = 1 << 32

// machine is one frame of the EVM, with what codes under test use of it.
type machine struct {
	Frame
	input, output []byte
	stack         []uint256.Int
	pc            int
	targets       map[int]bool
	instructions  map[byte]Instruction
}

func pushed(opcode byte) int {
	if opcode >= 0x60 && opcode < 0x80 {
		return int(opcode) - 0x5f
	}
	return 0
}

func newMachine(instructions map[byte]Instruction, code, input []byte, gas uint64) *machine {
	m := &machine{Frame: Frame{Code: code, Gas: gas}, input: input, instructions: instructions, targets: map[int]bool{}}
	for pc := 0; pc < len(code); pc++ {
		m.targets[pc] = code[pc] == 0x5b
		pc += pushed(code[pc]) + instructions[code[pc]].Immediate
	}
	return m
}

// run to the end: nil for a success, errRevert, errWorld, or a halt that takes all gas.
func (m *machine) run() error {
	for m.pc < len(m.Code) {
		opcode := m.Code[m.pc]
		m.pc++
		if opcode == 0 {
			return nil
		}
		if field, ok := m.instructions[opcode]; ok {
			if err := m.field(field); err != nil {
				return err
			}
			continue
		}
		if isEnd, err := m.step(opcode); isEnd || err != nil {
			return err
		}
	}
	return nil
}

func (m *machine) field(field Instruction) error {
	words := make([]Word, min(field.Pops, len(m.stack)))
	for i := range words {
		words[i] = m.pop()
	}
	immediate := m.Code[m.pc:min(m.pc+field.Immediate, len(m.Code))]
	m.pc += len(immediate)
	word, err := field.Execute(&m.Frame, immediate, words)
	if err == nil && field.Pushes > 0 {
		return m.push(word)
	}
	return err
}

func (m *machine) pop() uint256.Int {
	top := m.stack[len(m.stack)-1]
	m.stack = m.stack[:len(m.stack)-1]
	return top
}

func (m *machine) push(word uint256.Int) error {
	if len(m.stack) == 1024 {
		return ErrStack
	}
	m.stack = append(m.stack, word)
	return nil
}

// grow memory over a range, with its gas; the range as numbers.
func (m *machine) grow(offset, size uint256.Int) (int, int, error) {
	if size.IsZero() {
		return 0, 0, nil
	}
	if !offset.IsUint64() || !size.IsUint64() || offset.Uint64() > memoryMax || size.Uint64() > memoryMax {
		return 0, 0, ErrGas
	}
	end := (offset.Uint64() + size.Uint64() + 31) / 32 * 32
	if have := uint64(len(m.Memory)); end > have {
		if err := m.ChargeGrowth(end - have); err != nil {
			return 0, 0, err
		}
		m.Memory = append(m.Memory, make([]byte, end-have)...)
	}
	return int(offset.Uint64()), int(size.Uint64()), nil
}

// padded is a range of bytes with zeros after them.
func padded(from []byte, offset uint256.Int, size int) []byte {
	out := make([]byte, size)
	if offset.IsUint64() && offset.Uint64() < uint64(len(from)) {
		copy(out, from[offset.Uint64():])
	}
	return out
}

// copyTo memory what stands behind the three words on the stack.
func (m *machine) copyTo(source func(offset uint256.Int, size int) ([]byte, error)) error {
	to, from, size := m.pop(), m.pop(), m.pop()
	at, length, err := m.grow(to, size)
	if err != nil {
		return err
	}
	if err := m.Charge(3 * uint64((length+31)/32)); err != nil {
		return err
	}
	bytes, err := source(from, length)
	copy(m.Memory[at:at+length], bytes)
	return err
}

// binary operations by opcode, the top of the stack first.
var binary2 = map[byte]func(z, x, y *uint256.Int) *uint256.Int{
	0x01: (*uint256.Int).Add, 0x02: (*uint256.Int).Mul, 0x03: (*uint256.Int).Sub, 0x04: (*uint256.Int).Div, 0x06: (*uint256.Int).Mod,
	0x16: (*uint256.Int).And, 0x17: (*uint256.Int).Or, 0x18: (*uint256.Int).Xor,
	0x10: func(z, x, y *uint256.Int) *uint256.Int { return truth(z, x.Lt(y)) },
	0x11: func(z, x, y *uint256.Int) *uint256.Int { return truth(z, x.Gt(y)) },
	0x14: func(z, x, y *uint256.Int) *uint256.Int { return truth(z, x.Eq(y)) },
}

func truth(z *uint256.Int, isTrue bool) *uint256.Int {
	if isTrue {
		return z.SetOne()
	}
	return z.Clear()
}

// shape of an opcode: words that it takes, and its gas besides what it computes.
type shape struct {
	pops int
	gas  uint64
}

var shapes = map[byte]shape{
	0x01: {2, 3}, 0x02: {2, 5}, 0x03: {2, 3}, 0x04: {2, 5}, 0x06: {2, 5}, 0x10: {2, 3}, 0x11: {2, 3}, 0x14: {2, 3}, 0x15: {1, 3},
	0x16: {2, 3}, 0x17: {2, 3}, 0x18: {2, 3}, 0x20: {2, 30}, 0x35: {1, 3}, 0x36: {0, 2}, 0x37: {3, 3}, 0x38: {0, 2}, 0x39: {3, 3},
	0x3d: {0, 2}, 0x3e: {3, 3}, 0x50: {1, 2}, 0x51: {1, 3}, 0x52: {2, 3}, 0x53: {2, 3}, 0x56: {1, 8}, 0x57: {2, 10}, 0x58: {0, 2},
	0x59: {0, 2}, 0x5a: {0, 2}, 0x5b: {0, 1}, 0x5e: {3, 3}, 0x5f: {0, 2}, 0xf3: {2, 0}, 0xfd: {2, 0},
}

// others are opcodes of Osaka that these frames have no world for, or that no code under test executes.
func isOfOthers(opcode byte) bool {
	switch {
	case opcode >= 0x05 && opcode <= 0x0b, opcode >= 0x12 && opcode <= 0x1e, opcode >= 0x30 && opcode <= 0x34,
		opcode >= 0x3a && opcode <= 0x4a, opcode == 0x54, opcode == 0x55, opcode == 0x5c, opcode == 0x5d,
		opcode >= 0xa0 && opcode <= 0xa4, opcode >= 0xf0 && opcode <= 0xf5 && opcode != 0xf3, opcode == 0xfa, opcode == 0xff:
		return true
	}
	return opcode == 0x3b || opcode == 0x3c
}

// step executes an instruction of the EVM; true if it ends the frame.
func (m *machine) step(opcode byte) (bool, error) {
	if width := pushed(opcode); width > 0 {
		word := padded(m.Code, *uint256.NewInt(uint64(m.pc)), width)
		m.pc += width
		return false, errors.Join(m.Charge(3), m.push(*new(uint256.Int).SetBytes(word)))
	}
	if opcode >= 0x80 && opcode < 0xa0 {
		depth := int(opcode&15) + 1
		if len(m.stack) < depth+int(opcode>>4&1) {
			return false, ErrStack
		}
		top := len(m.stack) - 1
		if opcode < 0x90 {
			return false, errors.Join(m.Charge(3), m.push(m.stack[top+1-depth]))
		}
		m.stack[top], m.stack[top-depth] = m.stack[top-depth], m.stack[top]
		return false, m.Charge(3)
	}
	shape, ok := shapes[opcode]
	switch {
	case !ok && isOfOthers(opcode):
		return false, errWorld
	case !ok:
		return false, errUnknown
	case len(m.stack) < shape.pops:
		return false, ErrStack
	}
	if err := m.Charge(shape.gas); err != nil {
		return false, err
	}
	if apply, ok := binary2[opcode]; ok {
		x, y := m.pop(), m.pop()
		return false, m.push(*apply(new(uint256.Int), &x, &y))
	}
	switch opcode {
	case 0xf3, 0xfd:
		at, size, err := m.grow(m.pop(), m.pop())
		m.output = m.Memory[at : at+size]
		if err == nil && opcode == 0xfd {
			err = errRevert
		}
		return true, err
	case 0x20, 0x37, 0x39, 0x3e, 0x51, 0x52, 0x53, 0x5e:
		return false, m.memory(opcode)
	}
	return false, m.simple(opcode)
}

// simple instructions: what pushes a number, and jumps.
func (m *machine) simple(opcode byte) error {
	number := func(value uint64) error { return m.push(*uint256.NewInt(value)) }
	switch opcode {
	case 0x15:
		word := m.pop()
		return m.push(*truth(new(uint256.Int), word.IsZero()))
	case 0x35:
		return m.push(*new(uint256.Int).SetBytes(padded(m.input, m.pop(), 32)))
	case 0x36:
		return number(uint64(len(m.input)))
	case 0x38:
		return number(uint64(len(m.Code)))
	case 0x3d, 0x5f:
		return number(0)
	case 0x50:
		m.pop()
	case 0x56, 0x57:
		target, isTaken := m.pop(), true
		if opcode == 0x57 {
			condition := m.pop()
			isTaken = !condition.IsZero()
		}
		if isTaken {
			if !target.IsUint64() || !m.targets[int(target.Uint64())] {
				return errJump
			}
			m.pc = int(target.Uint64())
		}
	case 0x58:
		return number(uint64(m.pc - 1))
	case 0x59:
		return number(uint64(len(m.Memory)))
	case 0x5a:
		return number(m.Gas)
	}
	return nil
}

// memory instructions.
func (m *machine) memory(opcode byte) error {
	switch opcode {
	case 0x20:
		offset, size := m.pop(), m.pop()
		at, length, err := m.grow(offset, size)
		if err != nil {
			return err
		}
		hash := keccak(m.Memory[at : at+length])
		return errors.Join(m.Charge(6*uint64((length+31)/32)), m.push(*new(uint256.Int).SetBytes(hash)))
	case 0x37, 0x39:
		from := map[byte][]byte{0x37: m.input, 0x39: m.Code}[opcode]
		return m.copyTo(func(offset uint256.Int, size int) ([]byte, error) { return padded(from, offset, size), nil })
	case 0x3e:
		return m.copyTo(func(offset uint256.Int, size int) ([]byte, error) {
			if !offset.IsZero() || size > 0 {
				return nil, ErrRange
			}
			return nil, nil
		})
	case 0x5e:
		to, from, size := m.pop(), m.pop(), m.pop()
		highest := to
		if from.Gt(&to) {
			highest = from
		}
		_, length, err := m.grow(highest, size)
		if err != nil || length == 0 {
			return err
		}
		copy(m.Memory[to.Uint64():to.Uint64()+uint64(length)], m.Memory[from.Uint64():])
		return m.Charge(3 * uint64((length+31)/32))
	}
	offset := m.pop()
	size := *uint256.NewInt(32)
	if opcode == 0x53 {
		size.SetOne()
	}
	at, _, err := m.grow(offset, size)
	if err != nil {
		return err
	}
	switch opcode {
	case 0x51:
		return m.push(*new(uint256.Int).SetBytes(m.Memory[at : at+32]))
	case 0x52:
		word := m.pop()
		word.WriteToSlice(m.Memory[at : at+32])
	case 0x53:
		word := m.pop()
		m.Memory[at] = byte(word.Uint64())
	}
	return nil
}

func keccak(bytes []byte) []byte {
	hash := sha3.NewLegacyKeccak256()
	hash.Write(bytes)
	return hash.Sum(nil)
}
