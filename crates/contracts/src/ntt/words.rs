//! The transform in words of lanes, where no instruction does arithmetic of the field.
//!
//! With y = x^L for L lanes, a word has the coefficients of one power of y. The six outer layers are butterflies of [`WORDS`] words, and leave in each
//! word the residue modulo x^L − ζ for a ζ of its own. Its values at the roots of that are the last layers: products with L powers of a root, summed.

use super::{LIMB_BYTES, Ring};
use residue_ir::{LaneStep, Lanes, Machine, WordOp};

/// Words of lanes.
const WORDS: usize = 64;
/// Words that three layers go through together.
const TOGETHER: usize = 8;
/// Coefficients in a word of calldata.
const NUMBERS: usize = 4;

/// The transform of calldata with 8 bytes for each coefficient.
pub(super) fn transform<M: Machine>(machine: &M, ring: Ring) {
    let bytes = narrow(ring.degree) * LIMB_BYTES;
    let size = machine.small(bytes.into());
    machine.require(machine.word_op(WordOp::Eq, machine.calldata_size(), size));
    machine.scratch(bytes);
    machine.lanes(&lanes(ring));
    machine.return_scratch(machine.small(0), size);
}

fn narrow(number: usize) -> u32 {
    u32::try_from(number).expect("polynomials are short")
}

/// The transform as steps. Words have their places at the end of what is returned, so that no value is put where a word is still needed.
fn lanes(ring: Ring) -> Lanes {
    let count = ring.degree / WORDS;
    let sources = count / NUMBERS;
    let mut steps = Vec::new();
    for column in 0..WORDS / TOGETHER {
        let words: Vec<usize> = (column..WORDS).step_by(WORDS / TOGETHER).collect();
        let from = |word: usize| (0..sources).map(|source| 32 * narrow(word * sources + source)).collect();
        steps.extend(words.iter().map(|&word| LaneStep::Take { word: narrow(word), from: from(word) }));
        layers(ring, &words, 1, &mut steps);
    }
    for block in 0..WORDS / TOGETHER {
        let words: Vec<usize> = (block * TOGETHER..(block + 1) * TOGETHER).collect();
        layers(ring, &words, TOGETHER, &mut steps);
        for word in words {
            let rows = (word * count..(word + 1) * count).map(|place| row(ring, count, place)).collect();
            let to = narrow(word * count) * LIMB_BYTES;
            steps.push(LaneStep::Put { word: narrow(word), to, rows });
        }
    }
    let home = narrow(ring.degree) * LIMB_BYTES - 32 * narrow(WORDS);
    let modulus = u32::try_from(ring.modulus).expect("moduli of lanes are short");
    Lanes { bits: narrow(256 / count), modulus, words: narrow(WORDS), home, steps }
}

/// Three layers of these words, the first of them with so many nodes.
fn layers(ring: Ring, words: &[usize], first_nodes: usize, steps: &mut Vec<LaneStep>) {
    let mut half = TOGETHER / 2;
    let mut nodes = first_nodes;
    while half > 0 {
        for low in (0..TOGETHER).filter(|place| place & half == 0) {
            let (low, high) = (words[low], words[low + half]);
            let by = ring.twiddle(nodes + high * nodes / WORDS);
            let by = u32::try_from(by).expect("moduli of lanes are short");
            steps.push(LaneStep::Butterfly { low: narrow(low), high: narrow(high), by });
        }
        (half, nodes) = (half / 2, nodes * 2);
    }
}

/// Powers of the root of output `place`, as lanes have them: lane i is coefficient i / k of source i mod k.
fn row(ring: Ring, count: usize, place: usize) -> Vec<u32> {
    let (sources, root) = (count / NUMBERS, ring.root_of(place));
    let mut powers = vec![1];
    while powers.len() < count {
        powers.push(powers[powers.len() - 1] * root % ring.modulus);
    }
    let power = |lane: usize| powers[lane % sources * NUMBERS + lane / sources];
    (0..count).map(|lane| u32::try_from(power(lane)).expect("moduli of lanes are short")).collect()
}
