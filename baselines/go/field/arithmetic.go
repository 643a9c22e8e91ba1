// Package field is a reference for clients in Go: the arithmetic of EIP-6690 and of the draft evmmax-next, its bounds and its gas, with
// math/bits alone. docs/eip/evmmax-next.md says what an instruction does; nothing here is faster than plain loops are.
package field

import (
	"encoding/binary"
	"math/bits"
)

// limbsMax is the width of the widest modulus, in limbs of 64 bits.
const limbsMax = 12

// Modulus has what is computed once for a field context. Values have as many limbs as it has, the lowest first. Modulo an odd number they are
// kept in Montgomery form, x·2^(64·limbs); modulo a power of two as they are.
type Modulus struct {
	m       []uint64
	isPower bool
	// −1/m modulo 2⁶⁴.
	negative uint64
	// 2^(128·limbs) and 2^(192·limbs) modulo m: they bring a value into Montgomery form, and an inverse back to it.
	square, cube []uint64
}

// NewModulus of big-endian bytes, 1 to 96 of them. Its width follows from their number, leading zeros included. None for a number below 3, and
// for an even one that is no power of two.
func NewModulus(bytes []byte) (*Modulus, bool) {
	if len(bytes) == 0 || len(bytes) > 8*limbsMax {
		return nil, false
	}
	m := make([]uint64, (len(bytes)+7)/8)
	parse(m, bytes)
	ones := 0
	for _, limb := range m {
		ones += bits.OnesCount64(limb)
	}
	isPower := ones == 1
	if m[0]&1 == 0 && !isPower || ones == 0 || length(m) == 1 || isPower && length(m) == 2 {
		return nil, false
	}
	modulus := &Modulus{m: m, isPower: isPower}
	if !isPower {
		modulus.prepare()
	}
	return modulus, true
}

// prepare computes the constants of an odd modulus: R modulo m by doublings, 2^limbs·R by as many, and from there squares alone.
func (f *Modulus) prepare() {
	inverse := f.m[0]
	for range 5 {
		inverse *= 2 - f.m[0]*inverse
	}
	f.negative = -inverse
	width := length(f.m)
	power := make([]uint64, len(f.m))
	power[(width-1)/64] = 1 << ((width - 1) % 64)
	for range 64*len(f.m) - width + 1 + len(f.m) {
		f.add(power, power, power)
	}
	for range 6 {
		f.mul(power, power, power)
	}
	f.square = power
	f.cube = make([]uint64, len(f.m))
	f.mul(f.cube, power, power)
}

// Limbs of a value.
func (f *Modulus) Limbs() int { return len(f.m) }

// Parse brings big-endian bytes into a value: false, and nothing is written, if the number is not below the modulus.
func (f *Modulus) Parse(out []uint64, bytes []byte) bool {
	extra := max(len(bytes)-8*len(f.m), 0)
	for _, high := range bytes[:extra] {
		if high != 0 {
			return false
		}
	}
	var plain [limbsMax]uint64
	value := plain[:len(f.m)]
	parse(value, bytes[extra:])
	if !isBelow(value, f.m) {
		return false
	}
	if !f.isPower {
		f.mul(value, value, f.square)
	}
	copy(out, value)
	return true
}

// Bytes writes a value big-endian, zeros first, over all of out, which has room for it.
func (f *Modulus) Bytes(out []byte, x []uint64) {
	var plain [limbsMax]uint64
	value := plain[:len(f.m)]
	copy(value, x)
	if !f.isPower {
		one := [limbsMax]uint64{1}
		f.mul(value, x, one[:len(f.m)])
	}
	clear(out)
	for i, limb := range value {
		binary.BigEndian.PutUint64(out[len(out)-8*(i+1):], limb)
	}
}

// Add sets out to x + y.
func (f *Modulus) Add(out, x, y []uint64) { f.add(out, x, y) }

// Sub sets out to x − y.
func (f *Modulus) Sub(out, x, y []uint64) {
	var borrow uint64
	for i := range f.m {
		out[i], borrow = bits.Sub64(x[i], y[i], borrow)
	}
	if borrow != 0 {
		var carry uint64
		for i, limb := range f.m {
			out[i], carry = bits.Add64(out[i], limb, carry)
		}
	}
}

// Mul sets out to x·y.
func (f *Modulus) Mul(out, x, y []uint64) {
	if f.isPower {
		f.Sum(out, 0, x, y)
		return
	}
	f.mul(out, x, y)
}

// Sum sets out to the sum of the products of operands 0 and 1, 2 and 3 and so on, of which product i is subtracted if bit i of signs is set. There are at most six products,
// so their sum is below 6·m², and what one reduction leaves below 7·m.
func (f *Modulus) Sum(out []uint64, signs byte, operands ...[]uint64) {
	var wide [2*limbsMax + 1]uint64
	n := len(f.m)
	for product := 0; 2*product < len(operands); product++ {
		x, y := operands[2*product], operands[2*product+1]
		var opposite [limbsMax]uint64
		if signs>>product&1 == 1 {
			subtract(opposite[:n], f.m, y)
			y = opposite[:n]
		}
		accumulate(wide[:2*n+1], x, y)
	}
	if f.isPower {
		copy(out, wide[:n])
		f.cut(out)
		return
	}
	for i := range n {
		factor := wide[i] * f.negative
		var carry uint64
		for j, limb := range f.m {
			carry, wide[i+j] = multiplyAdd(factor, limb, wide[i+j], carry)
		}
		for j := i + n; carry != 0; j++ {
			wide[j], carry = bits.Add64(wide[j], carry, 0)
		}
	}
	rest := wide[n : 2*n+1]
	for rest[n] != 0 || !isBelow(rest[:n], f.m) {
		rest[n] -= subtract(rest[:n], rest[:n], f.m)
	}
	copy(out, rest[:n])
}

// Inverse sets out to 1/x, or to 0 if there is none.
func (f *Modulus) Inverse(out, x []uint64) {
	if f.isPower {
		f.inverseOfPower(out, x)
		return
	}
	n := len(f.m)
	var memory [4][limbsMax]uint64
	u, v, a, c := memory[0][:n], memory[1][:n], memory[2][:n], memory[3][:n]
	copy(u, x)
	copy(v, f.m)
	a[0] = 1
	// Right shifts (Handbook of Applied Cryptography, 14.61, for an odd modulus): a·x = u and c·x = v modulo m throughout, v odd.
	for !isZero(u) {
		for u[0]&1 == 0 {
			half(u, 0)
			f.halve(a)
		}
		if isBelow(u, v) {
			u, v, a, c = v, u, c, a
		}
		subtract(u, u, v)
		f.Sub(a, a, c)
	}
	if v[0] != 1 || length(v) != 1 {
		clear(out)
		return
	}
	f.mul(out, c, f.cube)
}

// inverseOfPower doubles the bits that are right, from three on.
func (f *Modulus) inverseOfPower(out, x []uint64) {
	n := len(f.m)
	var memory [3][limbsMax]uint64
	inverse, product, two := memory[0][:n], memory[1][:n], memory[2][:n]
	if x[0]&1 == 0 {
		clear(out)
		return
	}
	copy(inverse, x)
	two[0] = 2
	for right := 3; right < 64*n; right *= 2 {
		f.Mul(product, x, inverse)
		f.Sub(product, two, product)
		f.Mul(inverse, inverse, product)
	}
	f.cut(inverse)
	copy(out, inverse)
}

func (f *Modulus) add(out, x, y []uint64) {
	var sum [limbsMax]uint64
	var carry uint64
	for i := range f.m {
		sum[i], carry = bits.Add64(x[i], y[i], carry)
	}
	f.reduceOnce(out, sum[:len(f.m)], carry)
}

// mul is Montgomery's product, limb by limb of y (Koç, Acar and Kaliski 1996, CIOS).
func (f *Modulus) mul(out, x, y []uint64) {
	n := len(f.m)
	m := f.m[:n]
	x, y = x[:n], y[:n]
	var memory [limbsMax + 1]uint64
	t := memory[:n]
	var top uint64
	for _, factor := range y {
		var carry, carry2, overflow uint64
		for j := range t {
			carry, t[j] = multiplyAdd(x[j], factor, t[j], carry)
		}
		top, overflow = bits.Add64(top, carry, 0)
		quotient := t[0] * f.negative
		carry, _ = multiplyAdd(quotient, m[0], t[0], 0)
		for j := 1; j < n; j++ {
			carry, t[j-1] = multiplyAdd(quotient, m[j], t[j], carry)
		}
		t[n-1], carry2 = bits.Add64(top, carry, 0)
		top = overflow + carry2
	}
	f.reduceOnce(out, t, top)
}

// reduceOnce takes the modulus from a number below 2·m, which has another limb.
func (f *Modulus) reduceOnce(out, x []uint64, top uint64) {
	var less [limbsMax]uint64
	var borrow uint64
	for i, limb := range f.m {
		less[i], borrow = bits.Sub64(x[i], limb, borrow)
	}
	if top >= borrow {
		x = less[:]
	}
	copy(out[:len(f.m)], x)
}

// halve sets a value to half of it modulo an odd m.
func (f *Modulus) halve(x []uint64) {
	var carry uint64
	if x[0]&1 == 1 {
		for i, limb := range f.m {
			x[i], carry = bits.Add64(x[i], limb, carry)
		}
	}
	half(x, carry)
}

// cut takes a number modulo a power of two.
func (f *Modulus) cut(x []uint64) {
	bit := length(f.m) - 1
	for i := range f.m {
		switch {
		case i > bit/64:
			x[i] = 0
		case i == bit/64:
			x[i] &= 1<<(bit%64) - 1
		}
	}
}

// accumulate adds x·y to a number of one limb more than the product has.
func accumulate(sum, x, y []uint64) {
	for i, factor := range y {
		var carry uint64
		for j, limb := range x {
			carry, sum[i+j] = multiplyAdd(limb, factor, sum[i+j], carry)
		}
		for j := i + len(x); carry != 0; j++ {
			sum[j], carry = bits.Add64(sum[j], carry, 0)
		}
	}
}

// multiplyAdd is a·b + c + d, which has two limbs.
func multiplyAdd(a, b, c, d uint64) (high, low uint64) {
	high, low = bits.Mul64(a, b)
	var carry uint64
	low, carry = bits.Add64(low, c, 0)
	high += carry
	low, carry = bits.Add64(low, d, 0)
	return high + carry, low
}

func subtract(out, x, y []uint64) (borrow uint64) {
	for i := range out {
		out[i], borrow = bits.Sub64(x[i], y[i], borrow)
	}
	return
}

// half of a number with a bit above its limbs.
func half(x []uint64, top uint64) {
	for i := len(x) - 1; i >= 0; i-- {
		x[i], top = x[i]>>1|top<<63, x[i]&1
	}
}

func isZero(x []uint64) bool { return length(x) == 0 }

func isBelow(x, y []uint64) bool {
	for i := len(x) - 1; i >= 0; i-- {
		if x[i] != y[i] {
			return x[i] < y[i]
		}
	}
	return false
}

// length in bits.
func length(x []uint64) int {
	for i := len(x) - 1; i >= 0; i-- {
		if x[i] != 0 {
			return 64*i + bits.Len64(x[i])
		}
	}
	return 0
}

// parse big-endian bytes, which the limbs have room for.
func parse(out []uint64, bytes []byte) {
	clear(out)
	for i, digit := range bytes {
		place := len(bytes) - 1 - i
		out[place/8] |= uint64(digit) << (8 * (place % 8))
	}
}
