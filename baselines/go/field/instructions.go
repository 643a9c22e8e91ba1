package field

// Instruction of a revision: bytes of its immediate and words that it takes and pushes.
type Instruction struct {
	Name                    string
	Immediate, Pops, Pushes int
	run                     func(f *Frame, immediate []byte, words []Word) (Word, error)
}

// Instructions of EIP-6690, and with evmmax-next those that it adds.
func Instructions(isNext bool) map[byte]Instruction {
	known := map[byte]Instruction{
		0xc0: {"SETMODX", 0, 4, 0, quiet(func(f *Frame, _ []byte, words []Word) error { return f.setModulus(f.Memory, words) })},
		0xc1: {"LOADX", 0, 3, 0, quiet(func(f *Frame, _ []byte, words []Word) error { return f.load(words, f.elementBytes()) })},
		0xc2: {"STOREX", 0, 3, 0, quiet(func(f *Frame, _ []byte, words []Word) error { return f.store(f.Memory, words, f.elementBytes()) })},
		0xc3: {"ADDMODX", 7, 0, 0, lanes(gasAdd, (*Modulus).Add)},
		0xc4: {"SUBMODX", 7, 0, 0, lanes(gasAdd, (*Modulus).Sub)},
		0xc5: {"MULMODX", 7, 0, 0, lanes(gasMul, (*Modulus).Mul)},
	}
	if !isNext {
		return known
	}
	invert := func(m *Modulus, out, x, _ []uint64) { m.Inverse(out, x) }
	known[0xc6] = Instruction{"INVMODX", 5, 0, 0, lanes(gasInverse, invert)}
	known[0xc7] = Instruction{"ISZEROX", 1, 0, 1, func(f *Frame, immediate []byte, _ []Word) (Word, error) {
		answer, err := f.isZero(immediate[0])
		if answer {
			return Word{1}, err
		}
		return Word{}, err
	}}
	for products, name := range []string{2: "SUM2X", 3: "SUM3X", 4: "SUM4X", 5: "SUM5X", 6: "SUM6X"} {
		if products >= 2 {
			sum := quiet(func(f *Frame, immediate []byte, _ []Word) error { return f.sum(immediate) })
			known[byte(0xc6+products)] = Instruction{name, 2 + 2*products, 0, 0, sum}
		}
	}
	for i, name := range []string{"GETX", "PUTX"} {
		known[byte(0xcd+i)] = Instruction{name, 2, 1, 0, quiet(func(f *Frame, immediate []byte, words []Word) error {
			return f.array(immediate, words[0], i == 0)
		})}
	}
	known[0xcf] = Instruction{"LOADPX", 1, 3, 0, quiet(func(f *Frame, immediate []byte, words []Word) error {
		return f.load(words, uint64(immediate[0]))
	})}
	known[0xd0] = Instruction{"STOREPX", 1, 3, 0, quiet(func(f *Frame, immediate []byte, words []Word) error {
		return f.store(f.Memory, words, uint64(immediate[0]))
	})}
	known[0xd1] = Instruction{"SETMODCX", 0, 4, 0, quiet(func(f *Frame, _ []byte, words []Word) error {
		return f.setModulus(f.Code, words)
	})}
	known[0xd2] = Instruction{"STORECX", 0, 3, 0, quiet(func(f *Frame, _ []byte, words []Word) error {
		return f.store(f.Code, words, f.elementBytes())
	})}
	return known
}

// Execute an instruction on the words that it takes, the top of the stack first. It gives the word that it pushes, if it does.
func (i Instruction) Execute(f *Frame, immediate []byte, words []Word) (Word, error) {
	if len(immediate) < i.Immediate {
		return Word{}, ErrImmediate
	}
	if len(words) < i.Pops {
		return Word{}, ErrStack
	}
	return i.run(f, immediate[:i.Immediate], words)
}

// elementBytes of the active context; without one it does not matter.
func (f *Frame) elementBytes() uint64 {
	if f.active == nil {
		return 0
	}
	return f.active.elementBytes()
}

func quiet(run func(f *Frame, immediate []byte, words []Word) error) func(*Frame, []byte, []Word) (Word, error) {
	return func(f *Frame, immediate []byte, words []Word) (Word, error) { return Word{}, run(f, immediate, words) }
}

func lanes(prices [limbsMax]uint64, apply operation) func(*Frame, []byte, []Word) (Word, error) {
	return quiet(func(f *Frame, immediate []byte, _ []Word) error { return f.arithmetic(immediate, prices, apply) })
}
