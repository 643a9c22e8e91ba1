//! Products in Fp6 = Fp2[v] with v³ = ξ, over Fp2 = Fp[u] with u² = −1, that an interface makes with one instruction: found in blocks, and brought together.
//!
//! A product is six sums of six products each, without other readers: those of the coefficient of v² are of the twelve
//! coefficients of x and y, and tell which belongs to which; the others have ξ times coefficients in some places. Each
//! sum is expanded to a form in the twelve values and compared with the product's, so the way in which ξ times a value
//! is computed does not matter. After [`gather`] its operations are contiguous, at the place of the first of its sums,
//! as in [`crate::fp2`].

use crate::Slot;
use crate::fused::{self, Fused};
use crate::sums::{Sum, readings, sums};
use foldhash::{HashMap, HashMapExt};
use residue_ir::program::{Block, FieldOp, Function, Op, Operand, Program, Value};
use std::collections::{BTreeMap, BTreeSet};

/// Values of ξ = a + b·u to look for: that of BLS12-381; for BN254 that of most libraries and that of our tower.
const NONRESIDUES: [[u8; 2]; 3] = [[1, 1], [9, 1], [3, 0]];
/// Products of each sum.
const PRODUCTS: usize = 6;

/// A product in Fp6 of elements in slots, with the coefficients of 1, u, v, uv, v², uv².
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SlotFp6 {
    /// Slots written.
    pub out: [Slot; 6],
    /// The first factor.
    pub x: [Slot; 6],
    /// The second factor.
    pub y: [Slot; 6],
    /// a and b of v³ = a + b·u.
    pub xi: [u8; 2],
}

/// A product in Fp6 in a block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fp6 {
    /// Positions of its operations in the block.
    members: BTreeSet<usize>,
    /// The operations that define its coefficients.
    pub roots: [usize; 6],
    /// The first factor.
    pub x: [Operand; 6],
    /// The second factor.
    pub y: [Operand; 6],
    /// a and b of v³ = a + b·u.
    pub xi: [u8; 2],
}

impl Fused for Fp6 {
    fn members(&self) -> &BTreeSet<usize> {
        &self.members
    }

    fn first_root(&self) -> usize {
        self.roots.into_iter().fold(usize::MAX, usize::min)
    }
}

/// The products in Fp6 of a block, in the order of the first of their sums.
pub fn products(block: &Block, readings: &HashMap<Value, usize>) -> Vec<Fp6> {
    let mut search = Search::new(block, readings);
    let mut by_values: BTreeMap<Vec<Operand>, Vec<usize>> = BTreeMap::new();
    for (number, sum) in search.sums.iter().enumerate() {
        let values: BTreeSet<Operand> = sum.products.iter().flat_map(|&(_, product)| product).collect();
        if values.len() == 2 * PRODUCTS {
            by_values.entry(values.into_iter().collect()).or_default().push(number);
        }
    }
    let mut found = Vec::new();
    for (values, sums) in by_values {
        for real in search.with_subtracted(&sums, PRODUCTS / 2) {
            for imaginary in search.with_subtracted(&sums, 0) {
                found.extend(search.product([real, imaginary], &values));
            }
        }
    }
    found.sort_by_key(Fp6::first_root);
    found
}

/// A form of degree two in values: the multiples of their products.
type Form = BTreeMap<[Operand; 2], i64>;
/// An element of Fp2, its coefficient of 1 first.
type Pair = [Operand; 2];

struct Search<'a> {
    block: &'a Block,
    readings: &'a HashMap<Value, usize>,
    places: HashMap<Value, usize>,
    /// Those of six products.
    sums: Vec<Sum>,
    taken: BTreeSet<usize>,
}

impl<'a> Search<'a> {
    fn new(block: &'a Block, readings: &'a HashMap<Value, usize>) -> Self {
        let places = block.ops.iter().zip(0..).map(|(&(value, _), place)| (value, place)).collect();
        let mut sums = sums(block, readings, PRODUCTS);
        sums.retain(|sum| sum.products.len() == PRODUCTS);
        Self { block, readings, places, sums, taken: BTreeSet::new() }
    }

    /// Those of `sums` with `count` subtracted products.
    fn with_subtracted(&self, sums: &[usize], count: usize) -> Vec<usize> {
        let subtracted = |sum: &Sum| sum.products.iter().filter(|(is_subtracted, _)| *is_subtracted).count();
        sums.iter().copied().filter(|&number| subtracted(&self.sums[number]) == count).collect()
    }

    /// The product whose coefficient of v² two sums over the same values are, if it is there.
    fn product(&mut self, of_vv: [usize; 2], values: &[Operand]) -> Option<Fp6> {
        if of_vv.iter().any(|number| self.taken.contains(number)) {
            return None;
        }
        let pairs = pairs(&self.sums[of_vv[0]], &self.sums[of_vv[1]])?;
        let mut forms: HashMap<Form, usize> = HashMap::new();
        for number in (0..self.sums.len()).filter(|number| !self.taken.contains(number)) {
            forms.extend(self.form(&self.sums[number], values).map(|form| (form, number)));
        }
        let (x, y, xi, sums) = arrangements(pairs).find_map(|(x, y)| {
            NONRESIDUES.into_iter().find_map(|xi| {
                let found = coefficients(x, y, xi).map(|form| forms.get(&form).copied());
                let mut sums = [0; 6];
                for (sum, found) in sums.iter_mut().zip(found) {
                    *sum = found?;
                }
                Some((x, y, xi, sums))
            })
        })?;
        let roots = sums.map(|number| self.sums[number].root());
        let first_root = roots.into_iter().fold(usize::MAX, usize::min);
        let members = self.members(sums, values);
        // What it reads, but for its own, must be there where it will stand.
        let is_there = |operand: Operand| {
            let place = operand.value().and_then(|value| self.places.get(&value).copied());
            place.is_none_or(|place| place < first_root || members.contains(&place))
        };
        let reads = members.iter().flat_map(|&place| [self.block.ops[place].1.x, self.block.ops[place].1.y]);
        if !reads.chain(values.iter().copied()).all(is_there) {
            return None;
        }
        self.taken.extend(sums);
        let flat = |[c0, c1, c2]: [Pair; 3]| [c0[0], c0[1], c1[0], c1[1], c2[0], c2[1]];
        Some(Fp6 { members, roots, x: flat(x), y: flat(y), xi })
    }

    /// Form of a sum in `values`; `None` if it is no form, up to the search depth.
    fn form(&self, sum: &Sum, values: &[Operand]) -> Option<Form> {
        let is_one = |operand: &Operand| values.binary_search(operand).is_ok();
        let direct = sum.products.iter().flat_map(|(_, product)| product).filter(|operand| is_one(operand)).count();
        if direct < PRODUCTS {
            return None;
        }
        let mut form = Form::new();
        for &(is_subtracted, [x, y]) in &sum.products {
            let sign = if is_subtracted { -1 } else { 1 };
            let ys = self.linear(y, values)?;
            for (a, times_a) in self.linear(x, values)? {
                for &(b, times_b) in &ys {
                    add(&mut form, [a, b], sign * times_a * times_b);
                }
            }
        }
        Some(form)
    }

    /// An operand as a small multiple of one of `values`, or as a sum or difference of those of two.
    fn linear(&self, operand: Operand, values: &[Operand]) -> Option<Vec<(Operand, i64)>> {
        if let Some(multiple) = self.multiple(operand, values) {
            return Some(vec![multiple]);
        }
        let (_, Op { kind, x, y }) = self.block.ops[*self.places.get(&operand.value()?)?];
        let sign = match kind {
            FieldOp::Add => 1,
            FieldOp::Sub => -1,
            FieldOp::Mul => return None,
        };
        let ((x, times_x), (y, times_y)) = (self.multiple(x, values)?, self.multiple(y, values)?);
        Some(vec![(x, times_x), (y, sign * times_y)])
    }

    /// An operand as a multiple of one of `values`, made by additions.
    fn multiple(&self, operand: Operand, values: &[Operand]) -> Option<(Operand, i64)> {
        if values.binary_search(&operand).is_ok() {
            return Some((operand, 1));
        }
        let (_, Op { kind, x, y }) = self.block.ops[*self.places.get(&operand.value()?)?];
        if kind != FieldOp::Add {
            return None;
        }
        let ((x, times_x), (y, times_y)) = (self.multiple(x, values)?, self.multiple(y, values)?);
        (x == y && times_x + times_y < 256).then_some((x, times_x + times_y))
    }

    /// The operations of sums, and those that make multiples of `values` for them alone.
    fn members(&self, sums: [usize; 6], values: &[Operand]) -> BTreeSet<usize> {
        let mut members: BTreeSet<usize> =
            sums.iter().flat_map(|&number| self.sums[number].members().iter().copied()).collect();
        let mut makers = BTreeSet::new();
        let mut waiting: Vec<Operand> =
            sums.iter().flat_map(|&number| &self.sums[number].products).flat_map(|&(_, product)| product).collect();
        while let Some(operand) = waiting.pop() {
            let place = operand.value().and_then(|value| self.places.get(&value).copied());
            let Some(place) = place.filter(|_| values.binary_search(&operand).is_err()) else { continue };
            if makers.insert(place) {
                waiting.extend([self.block.ops[place].1.x, self.block.ops[place].1.y]);
            }
        }
        for &place in makers.iter().rev() {
            let (value, _) = self.block.ops[place];
            let reads = members.iter().flat_map(|&place| [self.block.ops[place].1.x, self.block.ops[place].1.y]);
            let own = reads.filter(|operand| operand.value() == Some(value)).count();
            if self.readings.get(&value) == Some(&own) {
                members.insert(place);
            }
        }
        members
    }
}

fn add(form: &mut Form, [a, b]: [Operand; 2], times: i64) {
    let product = [a.min(b), a.max(b)];
    let entry = form.entry(product).or_default();
    *entry += times;
    if *entry == 0 {
        form.remove(&product);
    }
}

/// The three products in Fp2 that two sums are together: p·q − s·r of one and p·r + s·q of the other are (p + s·u)(q + r·u).
fn pairs(real: &Sum, imaginary: &Sum) -> Option<[[Pair; 2]; 3]> {
    let partners: HashMap<Operand, Operand> =
        imaginary.products.iter().flat_map(|&(_, [a, b])| [(a, b), (b, a)]).collect();
    let mut found = Vec::new();
    for &(_, [p, q]) in real.products.iter().filter(|(is_subtracted, _)| !is_subtracted) {
        let (r, s) = (*partners.get(&p)?, *partners.get(&q)?);
        let is_other =
            |&(is_subtracted, [a, b]): &(bool, Pair)| is_subtracted && ([a, b] == [r, s] || [a, b] == [s, r]);
        if !real.products.iter().any(is_other) {
            return None;
        }
        found.push([[p, s], [q, r]]);
    }
    found.try_into().ok()
}

/// The elements x and y whose coefficient of v² may be the sum of three products, x₀·y₂ + x₁·y₁ + x₂·y₀: each order, and either factor as that of x, but that of the
/// first.
fn arrangements(pairs: [[Pair; 2]; 3]) -> impl Iterator<Item = ([Pair; 3], [Pair; 3])> {
    let orders = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
    orders.into_iter().flat_map(move |order| {
        (0..4_usize).map(move |turned| {
            let turns = [false, turned & 1 == 1, turned >> 1 == 1];
            let of = |place: usize, factor: usize| pairs[place][factor ^ usize::from(turns[place])];
            let [first, second, third] = order;
            ([of(first, 0), of(second, 0), of(third, 0)], [of(third, 1), of(second, 1), of(first, 1)])
        })
    })
}

/// The coefficients of x·y with v³ = a + b·u.
fn coefficients(x: [Pair; 3], y: [Pair; 3], [a, b]: [u8; 2]) -> [Form; 6] {
    let (a, b) = (i64::from(a), i64::from(b));
    let mut forms: [Form; 6] = Default::default();
    for (i, [x0, x1]) in x.into_iter().enumerate() {
        for (j, [y0, y1]) in y.into_iter().enumerate() {
            let (real, imaginary) = ([([x0, y0], 1), ([x1, y1], -1)], [([x0, y1], 1), ([x1, y0], 1)]);
            let at = 2 * ((i + j) % 3);
            // (re + im·u)(a + b·u) = a·re − b·im + (b·re + a·im)·u
            let [re, im] = if i + j < 3 { [[1, 0], [0, 1]] } else { [[a, b], [-b, a]] };
            for (part, times) in real.map(|part| (part, re)).into_iter().chain(imaginary.map(|part| (part, im))) {
                let (product, sign) = part;
                add(&mut forms[at], product, sign * times[0]);
                add(&mut forms[at + 1], product, sign * times[1]);
            }
        }
    }
    forms
}

/// Moves the operations of each product in Fp6 to where the first of its sums is defined. The products stay the same.
pub fn gather(program: &mut Program) {
    fused::gather(program, products);
}

/// The slots of a product, as a function's values have them.
pub fn placed(product: &Fp6, block: &Block, slot: impl Fn(Operand) -> Slot) -> SlotFp6 {
    let out = product.roots.map(|root| slot(Operand::Value(block.ops[root].0)));
    SlotFp6 { out, x: product.x.map(&slot), y: product.y.map(&slot), xi: product.xi }
}

/// The products in Fp6 of a block of a function.
pub fn products_of(function: &Function, block: &Block) -> Vec<Fp6> {
    products(block, &readings(function))
}

#[cfg(test)]
mod tests {
    use super::*;
    use residue_ir::text;
    use std::fmt::Write;

    /// A block that is being written: values 0 to 11 are those of x and y.
    #[derive(Default)]
    struct Ops {
        text: String,
        next: usize,
    }

    impl Ops {
        fn op(&mut self, kind: &str, x: usize, y: usize) -> usize {
            let value = self.next;
            self.next += 1;
            write!(self.text, "v{value} = {kind} v{x} v{y} ").unwrap();
            value
        }

        /// `factor` times a value.
        fn times(&mut self, value: usize, factor: u8) -> usize {
            (1..factor).fold(value, |multiple, _| self.op("add", multiple, value))
        }

        /// A sum of products, each with whether it is subtracted, the first not.
        fn sum(&mut self, products: &[(bool, [usize; 2])]) -> usize {
            let values: Vec<(bool, usize)> =
                products.iter().map(|&(is_subtracted, [x, y])| (is_subtracted, self.op("mul", x, y))).collect();
            values[1..].iter().fold(values[0].1, |sum, &(is_subtracted, value)| {
                self.op(if is_subtracted { "sub" } else { "add" }, sum, value)
            })
        }

        /// The six sums of a product of (x₀ … x₅) and (y₀ … y₅) with v³ = a + b·u.
        fn product(&mut self, x: [usize; 6], y: [usize; 6], [a, b]: [u8; 2]) -> [usize; 6] {
            let pair = |element: [usize; 6], place: usize| [element[2 * place], element[2 * place + 1]];
            let round = [1, 2].map(|place| {
                let [re, im] = pair(y, place);
                if b == 0 {
                    return [self.times(re, a), self.times(im, a)];
                }
                let (a_re, a_im) = (self.times(re, a), self.times(im, a));
                [self.op("sub", a_re, im), self.op("add", a_im, re)]
            });
            let mut results = Vec::new();
            for k in 0..3 {
                let (mut real, mut imaginary) = (Vec::new(), Vec::new());
                for i in 0..3 {
                    let [x0, x1] = pair(x, i);
                    let [y0, y1] = if i <= k { pair(y, k - i) } else { round[k + 2 - i] };
                    real.extend([(false, [x0, y0]), (true, [x1, y1])]);
                    imaginary.extend([(false, [x0, y1]), (false, [x1, y0])]);
                }
                results.extend([self.sum(&real), self.sum(&imaginary)]);
            }
            results.try_into().unwrap()
        }
    }

    /// Match of a product: true if its operations are contiguous, its factors, and a and b.
    type Found = (bool, [u32; 6], [u32; 6], [u8; 2]);

    /// The products of a block after gathering.
    fn found(ops: &Ops, results: &[usize]) -> Vec<Found> {
        let parses: String = (0..12).map(|value| format!("parse w0 bytes 0 -> v{value}\n")).collect();
        let results: Vec<String> = results.iter().map(|value| format!("v{value}")).collect();
        let text = format!(
            "program \"fp6\" modulus 0x61\nfunction f0 \"start\" () -> () values {} {{\n  word w0 = 0x0\n{parses}\
             block {{ {}}}\n  return_elements ({}) bytes 1\n}}\n",
            ops.next,
            ops.text,
            results.join(" ")
        );
        let mut program = text::parse(&text).unwrap();
        gather(&mut program);
        residue_ir::verify(&program).unwrap();
        let readings = readings(program.entry());
        let mut found = Vec::new();
        program.entry().body.for_each_block(&mut |block| {
            for product in products(block, &readings) {
                let numbers = |element: [Operand; 6]| element.map(|operand| operand.value().unwrap().0);
                let range = product.range();
                assert!(range.as_ref().is_none_or(|range| product.roots.iter().all(|root| range.contains(root))));
                found.push((range.is_some(), numbers(product.x), numbers(product.y), product.xi));
            }
        });
        found
    }

    fn ops() -> Ops {
        Ops { text: String::new(), next: 12 }
    }

    const X: [usize; 6] = [0, 1, 2, 3, 4, 5];
    const Y: [usize; 6] = [6, 7, 8, 9, 10, 11];

    #[test]
    fn six_sums_are_a_product() {
        for xi in NONRESIDUES {
            let mut ops = ops();
            let results = ops.product(X, Y, xi);
            let found = found(&ops, &results);
            let [(true, x, y, found_xi)] = found[..] else { panic!("{xi:?}: {found:?}") };
            let either = [(X, Y), (Y, X)].map(|(x, y)| (x.map(|value| value as u32), y.map(|value| value as u32)));
            assert!(either.contains(&(x, y)) && found_xi == xi, "{xi:?}: {x:?} {y:?}");
        }
    }

    #[test]
    fn products_of_products_and_beside_each_other_are_found() {
        let mut ops = ops();
        let first = ops.product(X, Y, [1, 1]);
        let second = ops.product(first, Y, [1, 1]);
        let sum = [0, 1, 2, 3, 4, 5].map(|place| ops.op("add", X[place], second[place]));
        let third = ops.product(sum, first, [1, 1]);
        let found = found(&ops, &[second, third].concat());
        assert!(found.len() == 3 && found.iter().all(|(is_together, ..)| *is_together), "{found:?}");
    }

    #[test]
    fn what_is_no_product_is_not_found() {
        // Another ξ.
        let mut other = ops();
        let results = other.product(X, Y, [2, 1]);
        assert_eq!(found(&other, &results), []);
        // A product or a sum within that something else reads.
        let mut shared = ops();
        let results = shared.product(X, Y, [1, 1]);
        assert_eq!(found(&shared, &[&results[..], &[results[0] - 1]].concat()), []);
        // One sum with another sign, or another value.
        let changes = [
            ("v22 = sub v16 v17", "v22 = add v16 v17"),
            ("v43 = mul v5 v15", "v43 = mul v5 v14"),
            ("v71 = mul v0 v11", "v71 = mul v0 v10"),
            ("v12 = sub v8 v9", "v12 = sub v9 v8"),
        ];
        for (from, to) in changes {
            let mut changed = ops();
            let results = changed.product(X, Y, [1, 1]);
            assert!(changed.text.contains(from), "{}", changed.text);
            changed.text = changed.text.replace(from, to);
            assert_eq!(found(&changed, &results), [], "{from}");
        }
        // A square reads each product twice.
        let mut square = ops();
        let results = square.product(X, X, [1, 1]);
        assert_eq!(found(&square, &results), []);
    }
}
