//! Products in Fp6 = Fp2[v] with v³ = ξ, over Fp2 = Fp[u] with u² = −1, that an interface makes with one instruction: found in blocks, and brought together.
//!
//! A product is six sums of six products each, which nothing else reads: those of the coefficient of v² are of the twelve coefficients of x and y, and tell which belongs
//! to which; the others have ξ times coefficients in some places. What each sum is as a form in the twelve values is compared with what the product has, so nothing is
//! believed of how ξ times a value was made. After [`gather`] its operations stand one after the other where the first of its sums was, as in [`crate::fp2`].

use crate::Slot;
use crate::sums::{Sum, readings, sums};
use residue_ir::program::{Block, FieldOp, Function, Op, Operand, Program, Rewritten, Statement, Value};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;

/// What ξ = a + b·u is looked for: that of BLS12-381 and that of BN254.
const NONRESIDUES: [[u8; 2]; 2] = [[1, 1], [9, 1]];
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
    /// Where its operations are in the block.
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

impl Fp6 {
    /// Whether the operation at a place is one of its own.
    pub fn has(&self, place: usize) -> bool {
        self.members.contains(&place)
    }

    /// Where its operations are, which [`gather`] has brought together.
    pub fn range(&self) -> Option<Range<usize>> {
        let range = *self.members.first()?..*self.members.last()? + 1;
        (range.len() == self.members.len()).then_some(range)
    }

    /// The first of its sums.
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

    /// Those of some sums of which so many products are subtracted.
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

    /// What a sum is as a form in values; none if it is not one, as far as it is looked.
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

    /// An operand as one of `values`, or as a sum or difference of small multiples of two.
    fn linear(&self, operand: Operand, values: &[Operand]) -> Option<Vec<(Operand, i64)>> {
        if values.binary_search(&operand).is_ok() {
            return Some(vec![(operand, 1)]);
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

    /// An operand as so many times one of `values`, made by additions.
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
        let mut members: BTreeSet<usize> = sums.iter().flat_map(|&number| self.sums[number].members()).collect();
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
        let is_other = |&(is_subtracted, [a, b]): &(bool, Pair)| is_subtracted && ([a, b] == [r, s] || [a, b] == [s, r]);
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
    for function in &mut program.functions {
        let readings = readings(function);
        function.body.rewrite(&mut |statement| {
            if let Statement::Block(block) = statement {
                gather_block(block, &readings);
            }
            Rewritten::Kept
        });
    }
}

fn gather_block(block: &mut Block, readings: &HashMap<Value, usize>) {
    let products = products(block, readings);
    let roots: HashMap<usize, &Fp6> = products.iter().map(|product| (product.first_root(), product)).collect();
    let moved: BTreeSet<usize> = products.iter().flat_map(|product| product.members.iter().copied()).collect();
    let places = (0..block.ops.len()).flat_map(|place| match roots.get(&place) {
        Some(product) => product.members.iter().copied().collect(),
        None if moved.contains(&place) => Vec::new(),
        None => vec![place],
    });
    block.ops = places.map(|place| block.ops[place]).collect();
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
