//! Which results of a block are held as their negatives, so that fewer words are subtracted.
//!
//! A sum of words that are all added costs one ADD a word. One that takes words away needs a multiple of p besides, from which they are taken: a push and
//! an operation more, 6 gas. But −a·b is a·(−b): the sign of a product is that of either operand, so it is often free to hold the negative of
//! what is taken away later. Doubling a point whose −X is given takes no subtraction at all. The signs are found by simulated annealing
//! (Kirkpatrick, Gelatt, Vecchi, "Optimization by simulated annealing", 1983) on what such multiples cost, with fixed random numbers; [`super::terms`]
//! takes the one whose words are cheapest, and [`super::read`] judges what comes of them.

use super::block::Block;
use residue_ir::FieldOp;
use std::rc::Rc;

/// How often each sign is looked at.
const SWEEPS: u32 = 60;

/// A summand: what it is, and whether it is taken away. Results of operations are known by their numbers, other values by slots after these.
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

/// What an operation makes into words.
#[derive(Debug)]
enum Site {
    /// Nothing by itself: it is part of the one that reads it.
    Part,
    /// A word that several read, or that a slot holds.
    Word(Form),
    /// The operands of a product; one that is squared comes once.
    Product(Form, Option<Form>),
}

/// How multiples of p are counted.
#[derive(Debug, Clone, Copy)]
struct Model {
    /// How many summands that are taken away are counted in a sum: one multiple serves all of them where words have room for it.
    taken_max: usize,
    /// Whether each summand that is taken away is taken from p by itself, and once for all that read it.
    is_shared: bool,
}

/// Each is best for some blocks.
const MODELS: [Model; 3] = [
    Model { taken_max: 1, is_shared: false },
    Model { taken_max: 3, is_shared: false },
    Model { taken_max: usize::MAX, is_shared: true },
];

#[derive(Debug)]
struct Signs {
    sites: Vec<Site>,
    /// For each operation those whose words have it in them, itself first.
    affected: Vec<Vec<usize>>,
    /// What the search begins with, and what those have whose sign is not free.
    given: Vec<bool>,
    is_negative: Vec<bool>,
    model: Model,
    /// How many words read the negative of an atom by itself: it is made once.
    negatives: Vec<u32>,
    /// How many words and negatives need a multiple of p.
    cost: u32,
}

/// For each operation of a block whether its result is held as its negative: what may save something.
pub fn signs(block: &Block) -> Vec<Vec<bool>> {
    let (sites, free) = sites(block);
    let mut affected: Vec<Vec<usize>> = (0..sites.len()).map(|number| vec![number]).collect();
    let mut atoms = sites.len();
    for (number, site) in sites.iter().enumerate() {
        for summand in site.forms().flat_map(Form::summands) {
            match affected.get_mut(summand.atom) {
                Some(affected) if !affected.contains(&number) => affected.push(number),
                Some(_) => {}
                None => atoms = atoms.max(summand.atom + 1),
            }
        }
    }
    let given = block.plain_signs();
    let is_negative = given.clone();
    let mut signs = Signs { sites, affected, given, is_negative, model: MODELS[0], negatives: vec![0; atoms], cost: 0 };
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

impl Site {
    fn forms(&self) -> impl Iterator<Item = &Form> {
        let (x, y) = match self {
            Site::Part => (None, None),
            Site::Word(form) => (Some(form), None),
            Site::Product(x, y) => (Some(x), y.as_ref()),
        };
        x.into_iter().chain(y)
    }
}

impl Signs {
    /// What a sum, or its negative, takes away.
    fn taken<'a>(&'a self, form: &'a Form, is_negative: bool) -> impl Iterator<Item = usize> + 'a {
        let is_taken = move |summand: &&Summand| {
            let held = self.is_negative.get(summand.atom).is_some_and(|&held| held);
            summand.is_taken ^ held ^ is_negative
        };
        form.summands().iter().filter(is_taken).map(|summand| summand.atom)
    }

    /// How many multiples of p the word of a sum needs if no other word has them.
    fn takes(&self, form: &Form, is_negative: bool) -> usize {
        self.taken(form, is_negative).take(self.model.taken_max).count()
    }

    /// The words that an operation makes: sums, and whether it is their negatives.
    fn words(&self, number: usize) -> [Option<(&Form, bool)>; 2] {
        let is_negative = self.is_negative[number];
        match &self.sites[number] {
            Site::Part => [None, None],
            Site::Word(form) => [Some((form, is_negative)), None],
            Site::Product(x, Some(y)) => {
                let way = |turned: bool| self.takes(x, turned) + self.takes(y, turned ^ is_negative);
                let turned = way(true) < way(false);
                [Some((x, turned)), Some((y, turned ^ is_negative))]
            }
            Site::Product(x, None) if is_negative => [Some((x, false)), Some((x, true))],
            Site::Product(x, None) => [Some((x, self.takes(x, true) < self.takes(x, false))), None],
        }
    }

    /// Counts what an operation's words need, or takes it back.
    fn count(&mut self, number: usize, is_back: bool) {
        let (mut sums, mut atoms) = (0, Vec::new());
        for (form, is_negative) in self.words(number).into_iter().flatten() {
            if self.model.is_shared {
                atoms.extend(self.taken(form, is_negative));
            } else {
                sums += u32::try_from(self.takes(form, is_negative)).expect("few are counted");
            }
        }
        self.cost = if is_back { self.cost - sums } else { self.cost + sums };
        for atom in atoms {
            let readers = &mut self.negatives[atom];
            if is_back {
                *readers -= 1;
                self.cost -= u32::from(*readers == 0);
            } else {
                self.cost += u32::from(*readers == 0);
                *readers += 1;
            }
        }
    }

    fn turn(&mut self, number: usize) {
        let affected = std::mem::take(&mut self.affected[number]);
        affected.iter().for_each(|&number| self.count(number, true));
        self.is_negative[number] ^= true;
        affected.iter().for_each(|&number| self.count(number, false));
        self.affected[number] = affected;
    }

    fn anneal(&mut self, free: &[usize], model: Model) -> Option<Vec<bool>> {
        self.model = model;
        self.is_negative.clone_from(&self.given);
        self.negatives.fill(0);
        self.cost = 0;
        (0..self.sites.len()).for_each(|number| self.count(number, false));
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
                    best = Some(self.is_negative.clone());
                }
            }
        }
        best
    }
}
