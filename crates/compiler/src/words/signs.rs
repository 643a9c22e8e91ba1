//! Signs: the results of a block that are held as their negatives, to save subtractions of words.
//!
//! A sum of words that are all added costs one ADD a word. One with subtractions needs a multiple of p besides, from
//! which they are subtracted: a push and an operation more, 6 gas. But −a·b is a·(−b): the sign of a product is that of
//! either operand, so it is often free to hold the negative of a word that is subtracted later. Doubling a point whose
//! −X is given takes no subtraction at all. The signs are found by simulated annealing (Kirkpatrick, Gelatt, Vecchi,
//! "Optimization by simulated annealing", 1983) on the cost of such multiples, with fixed random numbers;
//! [`super::terms`] takes the signs with the cheapest words, and [`super::read`] checks the result.

use super::block::Block;
use residue_ir::FieldOp;
use std::ops::Range;
use std::rc::Rc;

/// Number of times that each sign is reconsidered.
const SWEEPS: u32 = 60;

/// A summand: its atom, and true if it is subtracted. Results of operations are identified by their numbers, other
/// values by slots after these.
#[derive(Debug, Clone, Copy)]
struct Summand {
    atom: usize,
    is_taken: bool,
}

/// A sum with signs.
#[derive(Debug, Clone)]
enum Form {
    /// A number of more than a byte: its negative is a number too.
    Long,
    /// A sum of others.
    Of(Vec<Summand>),
}

/// Words that an operation makes.
#[derive(Debug)]
enum Site {
    /// Nothing by itself: it is part of the one that reads it.
    Part,
    /// A word that several read, or that a slot holds.
    Word(Form),
    /// The operands of a product; one that is squared comes once.
    Product(Form, Option<Form>),
}

/// Counting of multiples of p.
#[derive(Debug, Clone, Copy)]
struct Model {
    /// Maximum number of subtracted summands counted in a sum: if words have room, one multiple of p serves all of
    /// them.
    taken_max: usize,
    /// True if each subtracted summand is negated by itself, p minus it, once for all its readers.
    is_shared: bool,
}

/// Each is best for some blocks.
const MODELS: [Model; 3] = [
    Model { taken_max: 1, is_shared: false },
    Model { taken_max: 3, is_shared: false },
    Model { taken_max: usize::MAX, is_shared: true },
];

/// A sum as the search reads it.
#[derive(Debug)]
struct Counted {
    summands: Range<usize>,
    /// The number of those that are taken away, given the signs.
    taken: usize,
}

/// [`Site`] with sums by their numbers.
#[derive(Debug, Clone, Copy)]
enum Words {
    None,
    One(usize),
    Square(usize),
    Product(usize, usize),
}

#[derive(Debug)]
struct Signs {
    sites: Vec<Words>,
    sums: Vec<Counted>,
    summands: Vec<Summand>,
    /// For each operation the sums that have it, and whether they take it away; one that has it twice comes twice.
    readers: Vec<Vec<(usize, bool)>>,
    /// For each operation those whose words have it in them, itself first.
    affected: Vec<Vec<usize>>,
    /// Initial signs, and the fixed signs of results that are not free.
    given: Vec<bool>,
    /// For each atom; only results of operations may be.
    is_negative: Vec<bool>,
    model: Model,
    /// Number of words that read the negative of an atom by itself: it is made once.
    negatives: Vec<u32>,
    /// For each operation how many multiples of p its words need, where each word has its own.
    own: Vec<u32>,
    /// Number of words and negatives that need a multiple of p.
    cost: u32,
}

/// For each operation of a block, true if its result is held as its negative: candidates that may save gas.
pub fn signs(block: &Block) -> Vec<Vec<bool>> {
    let (sites, free) = sites(block);
    let mut signs = Signs::new(&sites, block.plain_signs());
    MODELS.iter().filter_map(|&model| signs.anneal(&free, model)).collect()
}

/// The operations whose sign is free.
#[cfg(test)]
pub fn free(block: &Block) -> Vec<usize> {
    sites(block).1
}

/// The sites of a block, and the operations whose sign is free.
fn sites(block: &Block) -> (Vec<Site>, Vec<usize>) {
    let mut forms: Vec<Rc<Form>> = Vec::new();
    let (mut sites, mut free) = (Vec::new(), Vec::new());
    for (number, op) in block.ops.iter().enumerate() {
        let operand = |place: usize| {
            let slot = [op.x, op.y][place];
            match (block.sources[number][place], block.constant(slot)) {
                (Some(from), _) => forms[from].clone(),
                (None, Some(value)) if value.bits() > 8 => Rc::new(Form::Long),
                (None, Some(_)) => Rc::new(Form::Of(vec![])),
                (None, None) => {
                    let is_taken = block.held(slot).is_some_and(|(_, form)| form.is_negative);
                    let atom = block.ops.len() + slot as usize; // u32 to usize widens
                    Rc::new(Form::Of(vec![Summand { atom, is_taken }]))
                }
            }
        };
        let (x, y) = (operand(0), operand(1));
        let stays = block.stays(number) || block.left(number).is_some();
        let (site, form) = match op.operation {
            FieldOp::Mul => {
                let other = (op.x != op.y).then(|| (*y).clone());
                (Site::Product((*x).clone(), other), Form::atom(number))
            }
            FieldOp::Add | FieldOp::Sub => {
                let sum = x.plus(&y, op.operation == FieldOp::Sub);
                match stays || block.reads[number] > 1 {
                    true => (Site::Word(sum), Form::atom(number)),
                    false => (Site::Part, sum),
                }
            }
        };
        if !stays && !matches!(site, Site::Part) {
            free.push(number);
        }
        forms.push(Rc::new(form));
        sites.push(site);
    }
    (sites, free)
}

impl Form {
    fn atom(atom: usize) -> Self {
        Form::Of(vec![Summand { atom, is_taken: false }])
    }

    fn summands(&self) -> &[Summand] {
        match self {
            Form::Long => &[],
            Form::Of(summands) => summands,
        }
    }

    /// x ± y.
    fn plus(&self, other: &Form, is_taken: bool) -> Form {
        let turned = other.summands().iter();
        let turned = turned.map(|summand| Summand { is_taken: summand.is_taken != is_taken, ..*summand });
        Form::Of(self.summands().iter().copied().chain(turned).collect())
    }
}

impl Signs {
    fn new(sites: &[Site], given: Vec<bool>) -> Self {
        let mut affected: Vec<Vec<usize>> = (0..sites.len()).map(|number| vec![number]).collect();
        let mut readers = vec![Vec::new(); sites.len()];
        let (mut sums, mut summands) = (Vec::new(), Vec::new());
        let mut counted = |number: usize, form: &Form| {
            for summand in form.summands() {
                if let Some(affected) = affected.get_mut(summand.atom) {
                    if affected.last() != Some(&number) {
                        affected.push(number);
                    }
                    readers[summand.atom].push((sums.len(), summand.is_taken));
                }
            }
            let from = summands.len();
            summands.extend_from_slice(form.summands());
            sums.push(Counted { summands: from..summands.len(), taken: 0 });
            sums.len() - 1
        };
        let words = sites.iter().enumerate().map(|(number, site)| match site {
            Site::Part => Words::None,
            Site::Word(form) => Words::One(counted(number, form)),
            Site::Product(x, None) => Words::Square(counted(number, x)),
            Site::Product(x, Some(y)) => Words::Product(counted(number, x), counted(number, y)),
        });
        let sites: Vec<Words> = words.collect();
        let atoms = summands.iter().map(|summand| summand.atom + 1).max().unwrap_or(0).max(sites.len());
        let (is_negative, negatives, own) = (vec![false; atoms], vec![0; atoms], vec![0; sites.len()]);
        Self { sites, sums, summands, readers, affected, given, is_negative, model: MODELS[0], negatives, own, cost: 0 }
    }

    /// True if a sum, or its negative, takes a summand away.
    fn is_taken(&self, summand: Summand, is_negative: bool) -> bool {
        summand.is_taken ^ self.is_negative[summand.atom] ^ is_negative
    }

    /// Number of multiples of p in the word of a sum, if no other word has them.
    fn takes(&self, sum: usize, is_negative: bool) -> usize {
        let Counted { summands, taken } = &self.sums[sum];
        let taken = if is_negative { summands.len() - taken } else { *taken };
        taken.min(self.model.taken_max)
    }

    /// The words that an operation makes: sums, and whether it is their negatives.
    fn words(&self, number: usize) -> [Option<(usize, bool)>; 2] {
        let is_negative = self.is_negative[number];
        match self.sites[number] {
            Words::None => [None, None],
            Words::One(sum) => [Some((sum, is_negative)), None],
            Words::Product(x, y) => {
                let way = |turned: bool| self.takes(x, turned) + self.takes(y, turned ^ is_negative);
                let turned = way(true) < way(false);
                [Some((x, turned)), Some((y, turned ^ is_negative))]
            }
            Words::Square(x) if is_negative => [Some((x, false)), Some((x, true))],
            Words::Square(x) => [Some((x, self.takes(x, true) < self.takes(x, false))), None],
        }
    }

    /// Adds or subtracts the needs of an operation's words.
    fn count(&mut self, number: usize, is_back: bool) {
        if !self.model.is_shared {
            if is_back {
                self.cost -= std::mem::take(&mut self.own[number]);
                return;
            }
            let takes = |word: Option<(usize, bool)>| word.map_or(0, |(sum, is_negative)| self.takes(sum, is_negative));
            let [first, second] = self.words(number);
            self.own[number] = u32::try_from(takes(first) + takes(second)).expect("few are counted");
            self.cost += self.own[number];
            return;
        }
        for (sum, is_negative) in self.words(number).into_iter().flatten() {
            for at in self.sums[sum].summands.clone() {
                let summand = self.summands[at];
                if !self.is_taken(summand, is_negative) {
                    continue;
                }
                let readers = &mut self.negatives[summand.atom];
                if is_back {
                    *readers -= 1;
                    self.cost -= u32::from(*readers == 0);
                } else {
                    self.cost += u32::from(*readers == 0);
                    *readers += 1;
                }
            }
        }
    }

    fn turn(&mut self, number: usize) {
        let affected = std::mem::take(&mut self.affected[number]);
        affected.iter().for_each(|&number| self.count(number, true));
        self.is_negative[number] ^= true;
        for &(sum, is_taken) in &self.readers[number] {
            let taken = &mut self.sums[sum].taken;
            *taken = if is_taken == self.is_negative[number] { *taken - 1 } else { *taken + 1 };
        }
        affected.iter().for_each(|&number| self.count(number, false));
        self.affected[number] = affected;
    }

    /// Sets the signs that a search begins with.
    fn begin(&mut self, model: Model) {
        self.model = model;
        self.is_negative[..self.given.len()].copy_from_slice(&self.given);
        self.count_anew();
    }

    /// Counts the needs of all words.
    fn count_anew(&mut self) {
        for at in 0..self.sums.len() {
            let summands = &self.summands[self.sums[at].summands.clone()];
            self.sums[at].taken = summands.iter().filter(|&&summand| self.is_taken(summand, false)).count();
        }
        self.negatives.fill(0);
        self.cost = 0;
        (0..self.sites.len()).for_each(|number| self.count(number, false));
    }

    fn anneal(&mut self, free: &[usize], model: Model) -> Option<Vec<bool>> {
        self.begin(model);
        let mut least = self.cost;
        let mut best = None;
        let mut random = 0x9e37_79b9_7f4a_7c15u64;
        for sweep in (0..SWEEPS).rev() {
            // Of 2¹⁶ turns that cost one multiple more, so many are made: two fifths at first, none in the last fifth.
            let bold = u64::from(sweep.saturating_sub(SWEEPS / 5)) * 26_214 / u64::from(SWEEPS);
            for &number in free {
                let before = self.cost;
                self.turn(number);
                random ^= random << 13;
                random ^= random >> 7;
                random ^= random << 17;
                let chance = match self.cost.checked_sub(before) {
                    None => 1 << 16,
                    Some(0) => 1 << 15,
                    Some(more) => (0..more).fold(1 << 16, |chance: u64, _| (chance * bold) >> 16),
                };
                if random >> 48 >= chance {
                    self.turn(number);
                } else if self.cost < least {
                    least = self.cost;
                    best = Some(self.is_negative[..self.given.len()].to_vec());
                }
            }
        }
        best
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use num_bigint::BigUint;
    use residue_passes::SlotOp;
    use std::collections::BTreeSet;

    #[test]
    fn what_is_counted_turn_by_turn_is_as_if_it_were_counted_anew() {
        let mut random = 0x9e37_79b9_7f4a_7c15u64;
        let mut below = |limit: u64| {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            (random >> 20) % limit
        };
        let constants = [BigUint::from(3u8), BigUint::from(1u32 << 20)];
        let mut turns = 0;
        for count in 1..60u32 {
            let operations = [FieldOp::Mul, FieldOp::Add, FieldOp::Add, FieldOp::Sub];
            let mut slot = |number: u32| match below(8) {
                0 => 1000 + u32::try_from(below(2)).unwrap(),
                _ => u32::try_from(below(u64::from(8 + number))).unwrap(),
            };
            let reads: Vec<[u32; 2]> = (0..count).map(|number| [slot(number), slot(number)]).collect();
            let op = |(number, [x, y]): (u32, [u32; 2])| {
                let operation = operations[usize::try_from(below(4)).unwrap()];
                SlotOp { operation, out: 8 + number, x, y }
            };
            let ops: Vec<SlotOp> = (0..).zip(reads).map(op).collect();
            let kept = BTreeSet::from([7 + count]);
            let block = Block::new(&ops, &kept, (1000, &constants), None);
            let (sites, free) = sites(&block);
            let mut signs = Signs::new(&sites, block.plain_signs());
            for model in MODELS {
                signs.begin(model);
                for _ in 0..2 * free.len() {
                    signs.turn(free[usize::try_from(below(free.len() as u64)).unwrap()]);
                    let taken = |signs: &Signs| signs.sums.iter().map(|sum| sum.taken).collect::<Vec<_>>();
                    let before = (signs.cost, signs.negatives.clone(), taken(&signs));
                    signs.count_anew();
                    assert_eq!(before, (signs.cost, signs.negatives.clone(), taken(&signs)), "{ops:?}");
                    turns += 1;
                }
            }
        }
        assert!(turns > 1000, "{turns}");
    }
}
