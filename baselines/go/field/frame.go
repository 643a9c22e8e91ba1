package field

import "errors"

// Limits of EIP-6690.
const (
	idMax        = 256
	slotsMax     = 256
	slotBytesMax = 24576
	elementsMax  = 65536
)

// Halts of field instructions. Each takes all gas of the frame, so consensus does not tell them apart.
var (
	ErrGas       = errors.New("out of gas")
	ErrContext   = errors.New("no field context")
	ErrModulus   = errors.New("no modulus")
	ErrSlot      = errors.New("no such slot")
	ErrLanes     = errors.New("no lanes, or all results in one slot")
	ErrRange     = errors.New("outside memory or code")
	ErrValue     = errors.New("a value that is not below the modulus")
	ErrImmediate = errors.New("code ends within the immediate")
	ErrStack     = errors.New("too few words on the stack")
)

// Prices of EIP-6690 and evmmax-next by limbs, from 1 to 12.
var (
	gasNew     = [...]uint64{23, 26, 29, 32, 36, 39, 42, 45, 48, 51, 54, 58}
	gasAdd     = [...]uint64{1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2}
	gasMul     = [...]uint64{1, 1, 1, 2, 2, 3, 4, 5, 7, 8, 10, 12}
	gasInverse = [...]uint64{40, 70, 100, 140, 170, 215, 270, 300, 345, 405, 465, 505}
	// Tenths of gas.
	gasCopy = [...]uint64{2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7}
)

// Hundredths of the price of MULMODX for a product of a sum and for its reduction, and other prices.
const (
	sumProduct   = 54
	sumReduction = 46
	gasBase      = 1
	gasIsZero    = 3
	gasWord      = 3
)

// Context is a modulus with its slots and its array.
type Context struct {
	modulus *Modulus
	// Limbs of all slots, and of all elements of the array.
	slots, array []uint64
}

// Frame is what field instructions see of a frame of the EVM. Contexts begin empty in every frame and go with it.
type Frame struct {
	Code, Memory []byte
	Gas          uint64
	contexts     map[uint64]*Context
	active       *Context
}

// Word of the EVM's stack, its lowest limb first.
type Word = [4]uint64

// small is the word as a number, or one that is above all bounds here and stays so when something of 32 bits is added.
func small(word Word) uint64 {
	if word[1]|word[2]|word[3] != 0 || word[0] > 1<<40 {
		return 1 << 40
	}
	return word[0]
}

// Charge takes gas.
func (f *Frame) Charge(gas uint64) error {
	if gas > f.Gas {
		f.Gas = 0
		return ErrGas
	}
	f.Gas -= gas
	return nil
}

// Words of memory and of what counts as memory, for the price of its growth by so many bytes.
func (f *Frame) words(more uint64) uint64 {
	return (uint64(len(f.Memory)) + f.bytes(true) + more + 31) / 32
}

// bytes of all slots, and of arrays.
func (f *Frame) bytes(withArrays bool) (sum uint64) {
	for _, context := range f.contexts {
		sum += 8 * uint64(len(context.slots))
		if withArrays {
			sum += 8 * uint64(len(context.array))
		}
	}
	return
}

// ChargeGrowth takes the gas for so many bytes more, of memory, slots or arrays.
func (f *Frame) ChargeGrowth(bytes uint64) error {
	cost := func(words uint64) uint64 { return 3*words + words*words/512 }
	return f.Charge(cost(f.words(bytes)) - cost(f.words(0)))
}

// limbs of slots from one on.
func (c *Context) limbs(slot, count uint64) []uint64 {
	n := uint64(c.modulus.Limbs())
	return c.slots[n*slot : n*(slot+count)]
}

func (c *Context) count() uint64 { return uint64(len(c.slots) / c.modulus.Limbs()) }

func (c *Context) elementBytes() uint64 { return 8 * uint64(c.modulus.Limbs()) }

// price of the width.
func (c *Context) price(table [limbsMax]uint64) uint64 { return table[c.modulus.Limbs()-1] }

// lanes that are all slots: the bound is on the last one.
func (c *Context) lanes(first, stride, count byte) bool {
	return uint64(first)+uint64(stride)*(uint64(count)-1) < c.count()
}

// setModulus is SETMODX and SETMODCX: the source is memory or code.
func (f *Frame) setModulus(source []byte, words []Word) error {
	id, offset, size, count := small(words[0]), small(words[1]), small(words[2]), small(words[3])
	if err := f.Charge(gasBase); err != nil {
		return err
	}
	if id > idMax {
		return ErrContext
	}
	if known := f.contexts[id]; known != nil {
		f.active = known
		return nil
	}
	if count == 0 || count > slotsMax {
		return ErrSlot
	}
	if size == 0 || size > 8*limbsMax {
		return ErrModulus
	}
	added := (size + 7) / 8 * 8 * count
	if f.bytes(false)+added > slotBytesMax {
		return ErrSlot
	}
	if offset+size > uint64(len(source)) {
		return ErrRange
	}
	modulus, ok := NewModulus(source[offset : offset+size])
	if !ok {
		return ErrModulus
	}
	if err := f.ChargeGrowth(added); err != nil {
		return err
	}
	context := &Context{modulus: modulus, slots: make([]uint64, added/8)}
	if !modulus.isPower {
		if err := f.Charge(context.price(gasNew)); err != nil {
			return err
		}
	}
	if f.contexts == nil {
		f.contexts = map[uint64]*Context{}
	}
	f.contexts[id], f.active = context, context
	return nil
}

// transfer is what loads and stores have in common: bounds, and gas. The range is empty if there are no values.
func (f *Frame) transfer(length int, slot, offset, count Word, bytes uint64) (from, to uint64, err error) {
	if err := f.Charge(gasBase); err != nil {
		return 0, 0, err
	}
	c, first, start, values := f.active, small(slot), small(offset), small(count)
	switch {
	case c == nil:
		return 0, 0, ErrContext
	case values == 0:
		return 0, 0, nil
	case bytes < c.elementBytes():
		return 0, 0, ErrValue
	case first+values > c.count():
		return 0, 0, ErrSlot
	case start+values*bytes > uint64(length):
		return 0, 0, ErrRange
	}
	gas := values * c.price(gasMul)
	if c.modulus.isPower {
		gas = gasWord * ((values*bytes + 31) / 32)
	}
	return start, start + values*bytes, f.Charge(gas)
}

// load is LOADX and LOADPX.
func (f *Frame) load(words []Word, bytes uint64) error {
	from, to, err := f.transfer(len(f.Memory), words[1], words[0], words[2], bytes)
	if err != nil || from == to {
		return err
	}
	for slot := small(words[1]); from < to; slot, from = slot+1, from+bytes {
		f.active.modulus.Bytes(f.Memory[from:from+bytes], f.active.limbs(slot, 1))
	}
	return nil
}

// store is STOREX, STOREPX and STORECX: the source is memory or code.
func (f *Frame) store(source []byte, words []Word, bytes uint64) error {
	from, to, err := f.transfer(len(source), words[0], words[1], words[2], bytes)
	if err != nil || from == to {
		return err
	}
	for slot := small(words[0]); from < to; slot, from = slot+1, from+bytes {
		// A frame that halts is gone, so slots that were written before a value is refused do not show.
		if !f.active.modulus.Parse(f.active.limbs(slot, 1), source[from:from+bytes]) {
			return ErrValue
		}
	}
	return nil
}

// operation of two values.
type operation func(m *Modulus, out, x, y []uint64)

// arithmetic is ADDMODX, SUBMODX, MULMODX and INVMODX, whose second operand is its first. All lanes are read before any is written.
func (f *Frame) arithmetic(immediate []byte, prices [limbsMax]uint64, apply operation) error {
	out, outStride, x, xStride, y, yStride, count := immediate[0], immediate[1], immediate[2], immediate[3],
		immediate[len(immediate)-3], immediate[len(immediate)-2], immediate[len(immediate)-1]
	c := f.active
	switch {
	case c == nil:
		return ErrContext
	case outStride == 0 || count == 0:
		return ErrLanes
	case !c.lanes(out, outStride, count) || !c.lanes(x, xStride, count) || !c.lanes(y, yStride, count):
		return ErrSlot
	}
	if err := f.Charge(uint64(count) * c.price(prices)); err != nil {
		return err
	}
	slot := func(first, stride byte, lane int) []uint64 {
		return c.limbs(uint64(first)+uint64(stride)*uint64(lane), 1)
	}
	n := c.modulus.Limbs()
	results := make([]uint64, n*int(count))
	for lane := range int(count) {
		apply(c.modulus, results[n*lane:n*(lane+1)], slot(x, xStride, lane), slot(y, yStride, lane))
	}
	for lane := range int(count) {
		copy(slot(out, outStride, lane), results[n*lane:])
	}
	return nil
}

// isZero is ISZEROX.
func (f *Frame) isZero(slot byte) (bool, error) {
	if err := f.Charge(gasIsZero); err != nil {
		return false, err
	}
	if f.active == nil {
		return false, ErrContext
	}
	if uint64(slot) >= f.active.count() {
		return false, ErrSlot
	}
	return isZero(f.active.limbs(uint64(slot), 1)), nil
}

// sum is SUM2X to SUM6X.
func (f *Frame) sum(immediate []byte) error {
	c, out, signs, slots := f.active, immediate[0], immediate[1], immediate[2:]
	if c == nil {
		return ErrContext
	}
	operands := make([][]uint64, len(slots))
	if uint64(out) >= c.count() {
		return ErrSlot
	}
	for i, slot := range slots {
		if uint64(slot) >= c.count() {
			return ErrSlot
		}
		operands[i] = c.limbs(uint64(slot), 1)
	}
	products := uint64(len(slots) / 2)
	if err := f.Charge(((products*sumProduct+sumReduction)*c.price(gasMul) + 99) / 100); err != nil {
		return err
	}
	c.modulus.Sum(c.limbs(uint64(out), 1), signs, operands...)
	return nil
}

// array is GETX and PUTX.
func (f *Frame) array(immediate []byte, word Word, isGet bool) error {
	slot, count, index := uint64(immediate[0]), uint64(immediate[1]), word[0]%elementsMax
	if err := f.Charge(gasBase); err != nil {
		return err
	}
	c := f.active
	switch {
	case c == nil:
		return ErrContext
	case count == 0:
		return ErrLanes
	case index+count > elementsMax || slot+count > c.count():
		return ErrSlot
	}
	n := uint64(c.modulus.Limbs())
	if missing := int(n*(index+count)) - len(c.array); missing > 0 {
		if err := f.ChargeGrowth(8 * uint64(missing)); err != nil {
			return err
		}
		c.array = append(c.array, make([]uint64, missing)...)
	}
	if err := f.Charge((count*c.price(gasCopy) + 9) / 10); err != nil {
		return err
	}
	slots, elements := c.limbs(slot, count), c.array[n*index:n*(index+count)]
	if isGet {
		copy(slots, elements)
	} else {
		copy(elements, slots)
	}
	return nil
}
