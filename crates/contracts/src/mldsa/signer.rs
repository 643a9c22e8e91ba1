//! A second text of verification, over bytes and coefficients, and a signer.

use super::{DEGREE, DROPPED_BITS, Hash, MODULUS, Scheme, TR_BYTES};
use crate::ntt::DILITHIUM;
use crate::ntt::residues::WORDS;
use sha3::digest::{ExtendableOutput, Update, XofReader};
use sha3::{Shake128, Shake256};
use std::sync::LazyLock;

/// A polynomial: coefficients below q, or values at the roots in the order of FIPS 204, algorithm 41.
pub type Polynomial = Vec<u64>;

/// Bytes of output.
type Bytes = Box<dyn Iterator<Item = u8>>;

fn read(mut reader: impl XofReader + 'static) -> Bytes {
    Box::new(std::iter::repeat_with(move || {
        let mut byte = [0];
        reader.read(&mut byte);
        byte[0]
    }))
}

impl Hash {
    /// H of FIPS 204, §3.7.
    fn output(self, input: &[u8]) -> Bytes {
        match self {
            Self::Keccak => {
                let keccak = |parts: &[&[u8]]| residue_ir::hash::keccak256_of(&parts.concat()).to_be_bytes::<32>();
                let state = keccak(&[input]);
                Box::new((0u64..).flat_map(move |count| keccak(&[&state, &count.to_be_bytes()])))
            }
            Self::Shake => read(Shake256::default().chain(input).finalize_xof()),
        }
    }

    /// G of FIPS 204, §3.7.
    fn matrix_output(self, input: &[u8]) -> Bytes {
        match self {
            Self::Keccak => self.output(input),
            Self::Shake => read(Shake128::default().chain(input).finalize_xof()),
        }
    }

    /// The first bytes of output.
    pub fn bytes(self, input: &[u8], count: usize) -> Vec<u8> {
        self.output(input).take(count).collect()
    }
}

fn residue(value: i64) -> u64 {
    u64::try_from(value.rem_euclid(MODULUS.cast_signed())).expect("it is not negative")
}

/// The number of the least size that is congruent.
fn centred(value: u64) -> i64 {
    let value = value.cast_signed();
    if value > MODULUS.cast_signed() / 2 { value - MODULUS.cast_signed() } else { value }
}

/// Twiddles of all nodes, and their inverses.
static TWIDDLES: LazyLock<[Vec<u64>; 2]> = LazyLock::new(|| {
    let of = |twiddle: &dyn Fn(usize) -> u64| (0..DEGREE).map(twiddle).collect();
    [of(&|node| DILITHIUM.twiddle(node)), of(&|node| DILITHIUM.inverse_twiddle(node))]
});

/// Values at the roots.
pub fn values(polynomial: &[u64]) -> Polynomial {
    let (mut values, mut half, mut node) = (polynomial.to_vec(), DEGREE / 2, 0);
    while half > 0 {
        for first in (0..DEGREE).step_by(2 * half) {
            node += 1;
            let twiddle = TWIDDLES[0][node];
            for low in first..first + half {
                let product = values[low + half] * twiddle % MODULUS;
                values[low + half] = (values[low] + MODULUS - product) % MODULUS;
                values[low] = (values[low] + product) % MODULUS;
            }
        }
        half /= 2;
    }
    values
}

/// The polynomial with these values.
pub fn coefficients(values: &[u64]) -> Polynomial {
    let (mut out, mut half, mut node) = (values.to_vec(), 1, DEGREE);
    while half < DEGREE {
        for first in (0..DEGREE).step_by(2 * half).collect::<Vec<_>>().into_iter().rev() {
            node -= 1;
            let twiddle = TWIDDLES[1][node];
            for low in first..first + half {
                let (a, b) = (out[low], out[low + half]);
                out[low] = (a + b) % MODULUS;
                out[low + half] = (a + MODULUS - b) * twiddle % MODULUS;
            }
        }
        half *= 2;
    }
    let scale = power(DEGREE as u64, MODULUS - 2); // usize to u64 widens
    out.iter().map(|value| value * scale % MODULUS).collect()
}

fn power(base: u64, exponent: u64) -> u64 {
    let square = |half: u64| half * half % MODULUS;
    match exponent {
        0 => 1,
        _ => square(power(base, exponent / 2)) * if exponent % 2 == 1 { base } else { 1 } % MODULUS,
    }
}

/// Numbers of so many bits, the lowest bits first. FIPS 204, algorithms 16 to 19.
pub fn packed(numbers: &[u64], bits: u32) -> Vec<u8> {
    let mut bytes = vec![0; (numbers.len() * bits as usize).div_ceil(8)]; // u32 to usize widens
    for (place, number) in numbers.iter().enumerate() {
        for bit in 0..bits {
            let at = place * bits as usize + bit as usize; // likewise
            bytes[at / 8] |= u8::from(number >> bit & 1 == 1) << (at % 8);
        }
    }
    bytes
}

/// The numbers of bytes.
pub fn unpacked(bytes: &[u8], bits: u32) -> Vec<u64> {
    let bit = |at: usize| u64::from(bytes[at / 8] >> (at % 8) & 1);
    let number = |first: usize| (0..bits as usize).fold(0, |sum, at| sum | bit(first + at) << at); // u32 to usize widens
    (0..bytes.len() * 8).step_by(bits as usize).map(number).collect() // likewise
}

/// A matrix or vector of polynomials by rows.
type Rows = Vec<Vec<Polynomial>>;

/// Â by its values. FIPS 204, algorithms 30 and 32.
pub fn matrix(scheme: Scheme, hash: Hash, rho: &[u8]) -> Rows {
    let entry = |row: usize, column: usize| {
        let ends = [column, row].map(|number| u8::try_from(number).expect("a matrix is small"));
        let mut bytes = hash.matrix_output(&[rho, &ends].concat()).map(u64::from);
        let mut number = || bytes.next().zip(bytes.next()).zip(bytes.next());
        let numbers = std::iter::from_fn(|| number().map(|((a, b), c)| a | b << 8 | (c & 0x7f) << 16));
        numbers.filter(|&number| number < MODULUS).take(DEGREE).collect()
    };
    (0..scheme.rows).map(|row| (0..scheme.columns).map(|column| entry(row, column)).collect()).collect()
}

/// c. FIPS 204, algorithm 29.
fn challenge(scheme: Scheme, hash: Hash, seed: &[u8]) -> Vec<i64> {
    let mut bytes = hash.output(seed);
    let signs = (0..8).fold(0u64, |sum, at| sum | u64::from(bytes.next().unwrap_or(0)) << (8 * at));
    let mut c = vec![0; DEGREE];
    for (number, place) in (DEGREE - scheme.weight..DEGREE).enumerate() {
        let other = bytes.by_ref().map(usize::from).find(|&byte| byte <= place).expect("output has no end");
        c[place] = c[other];
        c[other] = 1 - 2 * i64::from(signs >> number & 1 == 1);
    }
    c
}

impl Scheme {
    /// Decompose. FIPS 204, algorithm 36.
    pub fn decomposed(self, value: u64) -> (u64, i64) {
        let step = 2 * self.low_range.cast_signed();
        let value = value.cast_signed();
        let low = value.rem_euclid(step);
        let low = if low > step / 2 { low - step } else { low };
        match value - low {
            top if top == MODULUS.cast_signed() - 1 => (0, low - 1),
            high => (u64::try_from(high / step).expect("it is not negative"), low),
        }
    }

    /// UseHint. FIPS 204, algorithm 40.
    pub fn hinted(self, value: u64, is_hint: bool) -> u64 {
        let count = (MODULUS - 1) / (2 * self.low_range);
        match self.decomposed(value) {
            (high, _) if !is_hint => high,
            (high, low) if low > 0 => (high + 1) % count,
            (high, _) => (high + count - 1) % count,
        }
    }

    /// Places of hints, row by row. None for bytes that encoding does not make. FIPS 204, algorithm 21.
    pub fn hints(self, bytes: &[u8]) -> Option<Vec<Vec<usize>>> {
        let (places, counts) = bytes.split_at(self.hints_max);
        let mut first = 0;
        let mut rows = Vec::new();
        for &count in counts {
            let row = places.get(first..usize::from(count))?;
            if row.windows(2).any(|pair| pair[0] >= pair[1]) {
                return None;
            }
            rows.push(row.iter().copied().map(usize::from).collect());
            first = count.into();
        }
        places[first..].iter().all(|&byte| byte == 0).then_some(rows)
    }

    /// Places of hints in bytes; none if there are too many. FIPS 204, algorithm 20.
    fn hints_encoded(self, rows: &[Vec<usize>]) -> Option<Vec<u8>> {
        let byte = |number: usize| u8::try_from(number).expect("there are 256 places");
        let mut bytes: Vec<u8> = rows.iter().flatten().map(|&place| byte(place)).collect();
        let mut count = 0;
        let counts: Vec<u8> = rows
            .iter()
            .map(|row| {
                count += row.len();
                byte(count.min(255))
            })
            .collect();
        bytes.resize(self.hints_max.max(count), 0);
        bytes.extend(counts);
        (count <= self.hints_max).then_some(bytes)
    }

    /// w₁ in bytes. FIPS 204, algorithm 28.
    fn high_encoded(self, rows: &[Polynomial]) -> Vec<u8> {
        rows.iter().flat_map(|row| packed(row, self.high_bits())).collect()
    }

    /// z in bytes.
    fn mask_encoded(self, z: &[Vec<i64>]) -> Vec<u8> {
        let below = self.mask_range().cast_signed();
        let number = |&value: &i64| u64::try_from(below - value).expect("a mask is below its range");
        z.iter().flat_map(|row| packed(&row.iter().map(number).collect::<Vec<_>>(), self.mask_bits)).collect()
    }

    fn vector(self, rows: &[Vec<i64>]) -> Vec<Polynomial> {
        rows.iter().map(|row| values(&row.iter().copied().map(residue).collect::<Vec<_>>())).collect()
    }
}

/// Σ of products of values, as coefficients.
fn product(row: &[Polynomial], vector: &[Polynomial]) -> Polynomial {
    let terms = |at: usize| row.iter().zip(vector).fold(0, |sum, (a, b)| (sum + a[at] * b[at]) % MODULUS);
    coefficients(&(0..DEGREE).map(terms).collect::<Vec<_>>())
}

/// −c·t₁·2ᵈ by c's values, added to w.
fn less_product(w: &[u64], c: &Polynomial, t1: &[u64]) -> Polynomial {
    let shifted: Vec<u64> = t1.iter().map(|value| (MODULUS - (value << DROPPED_BITS) % MODULUS) % MODULUS).collect();
    let product = product(&[values(&shifted)], std::slice::from_ref(c));
    w.iter().zip(product).map(|(a, b)| (a + b) % MODULUS).collect()
}

/// t₁ of a published key.
fn high_of_key(key: &[u8]) -> Vec<Polynomial> {
    key[32..].chunks(DEGREE * 10 / 8).map(|row| unpacked(row, 10)).collect()
}

/// The answer for a published key, a message after its context and the two bytes before that, and a signature. FIPS 204, algorithm 8.
pub fn verify(scheme: Scheme, hash: Hash, key: &[u8], message: &[u8], signature: &[u8]) -> bool {
    let has_header = matches!(message, [0, size, rest @ ..] if usize::from(*size) <= rest.len());
    if !has_header || signature.len() != scheme.signature_bytes() {
        return false;
    }
    let (seed, rest) = signature.split_at(scheme.challenge_bytes);
    let (z, hints) = rest.split_at(scheme.columns * scheme.polynomial_bytes());
    let Some(hints) = scheme.hints(hints) else { return false };
    let number = |value: u64| scheme.mask_range().cast_signed() - value.cast_signed();
    let z: Vec<Vec<i64>> = z
        .chunks(scheme.polynomial_bytes())
        .map(|row| unpacked(row, scheme.mask_bits).into_iter().map(number).collect())
        .collect();
    if z.iter().flatten().any(|value| value.unsigned_abs() >= scheme.mask_range() - scheme.slack) {
        return false;
    }
    let z = scheme.vector(&z);
    let c = &scheme.vector(&[challenge(scheme, hash, seed)])[0];
    let high: Vec<Polynomial> = matrix(scheme, hash, &key[..32])
        .iter()
        .zip(high_of_key(key))
        .zip(&hints)
        .map(|((row, t1), hints)| {
            let w = less_product(&product(row, &z), c, &t1);
            w.iter().enumerate().map(|(place, &value)| scheme.hinted(value, hints.contains(&place))).collect()
        })
        .collect();
    let mu = hash.bytes(&[&hash.bytes(key, TR_BYTES), message].concat(), 64);
    hash.bytes(&[mu, scheme.high_encoded(&high)].concat(), scheme.challenge_bytes) == seed
}

/// A published key as verification takes it: residues of polynomials by Horner's rule.
pub fn transformed(scheme: Scheme, hash: Hash, key: &[u8]) -> Vec<u8> {
    let scale = power(WORDS as u64, MODULUS - 2); // usize to u64 widens
    let shift = residue(-(1 << DROPPED_BITS));
    let rows = matrix(scheme, hash, &key[..32]).into_iter().zip(high_of_key(key));
    let polynomials: Vec<Polynomial> = rows
        .flat_map(|(row, t1)| {
            let last = t1.iter().map(|value| value * shift % MODULUS).collect();
            row.iter().map(|entry| coefficients(entry)).chain([last]).collect::<Vec<_>>()
        })
        .collect();
    let lanes = DEGREE / WORDS;
    let roots: Vec<u64> = (0..WORDS).map(|word| DILITHIUM.residue_root(word)).collect();
    let residue = |polynomial: &Polynomial, word: usize, lane: usize| {
        let terms = (0..WORDS).rev().map(|at| polynomial[lanes * at + lane]);
        terms.fold(0, |sum, term| (sum * roots[word] + term) % MODULUS) * scale % MODULUS
    };
    let pair = |pair: &[Polynomial]| {
        let lane = |word, lane| residue(&pair[1], word, lane) << 32 | residue(&pair[0], word, lane);
        let words = (0..WORDS).flat_map(|word| (0..lanes).rev().map(move |at| (word, at)));
        words.flat_map(|(word, at)| lane(word, at).to_be_bytes()).collect::<Vec<u8>>()
    };
    let mut bytes: Vec<u8> = polynomials.chunks(2).flat_map(pair).collect();
    bytes.extend(hash.bytes(key, TR_BYTES));
    bytes
}

/// A secret key.
#[derive(Debug, Clone)]
pub struct Signer {
    scheme: Scheme,
    hash: Hash,
    /// ρ and t₁.
    pub key: Vec<u8>,
    matrix: Rows,
    secrets: [Vec<Vec<i64>>; 2],
    /// t₀.
    low: Vec<Vec<i64>>,
    seed: Vec<u8>,
}

impl Signer {
    /// That of a seed. FIPS 204, algorithm 6, but for how bytes become secrets: by remainders.
    pub fn new(scheme: Scheme, hash: Hash, seed: &[u8]) -> Self {
        let seed = hash.bytes(seed, 128);
        let rho = &seed[..32];
        let matrix = matrix(scheme, hash, rho);
        let most = scheme.secret_max.cast_signed();
        let mut bytes = hash.output(&seed[32..96]);
        let mut secret = |rows: usize| -> Vec<Vec<i64>> {
            let mut small = || i64::from(bytes.next().unwrap_or(0)) % (2 * most + 1) - most;
            (0..rows).map(|_| (0..DEGREE).map(|_| small()).collect()).collect()
        };
        let secrets = [secret(scheme.columns), secret(scheme.rows)];
        let s1 = scheme.vector(&secrets[0]);
        let (mut high, mut low) = (Vec::new(), Vec::new());
        for (row, s2) in matrix.iter().zip(&secrets[1]) {
            let t: Vec<u64> = product(row, &s1).iter().zip(s2).map(|(a, b)| residue(a.cast_signed() + b)).collect();
            let half = 1 << (DROPPED_BITS - 1);
            let of = |&value: &u64| (value + half - 1) >> DROPPED_BITS;
            low.push(t.iter().map(|value| value.cast_signed() - (of(value) << DROPPED_BITS).cast_signed()).collect());
            high.extend(packed(&t.iter().map(of).collect::<Vec<_>>(), 10));
        }
        let key = [rho, &high].concat();
        let seed = seed[96..].to_vec();
        Self { scheme, hash, key, matrix, secrets, low, seed }
    }

    /// The signature of a message after its header. FIPS 204, algorithm 7.
    pub fn sign(&self, message: &[u8]) -> Vec<u8> {
        let bound = self.scheme.mask_range() - self.scheme.slack;
        self.sign_if(message, |_, mask| mask, |z| z.iter().flatten().all(|value| value.unsigned_abs() < bound))
    }

    /// A signature for masks that are changed as is said, given their number, whose z is accepted, whatever its norm.
    pub fn sign_if(
        &self,
        message: &[u8],
        change: impl Fn(usize, Vec<Vec<i64>>) -> Vec<Vec<i64>>,
        accept: impl Fn(&[Vec<i64>]) -> bool,
    ) -> Vec<u8> {
        let Self { scheme, hash, .. } = *self;
        let mu = hash.bytes(&[&hash.bytes(&self.key, TR_BYTES), message].concat(), 64);
        let range = scheme.mask_range().cast_signed();
        for number in 0u64.. {
            let mut bytes = hash.output(&[&self.seed[..], &mu, &number.to_be_bytes()].concat()).map(u64::from);
            let mut any = || (0..3).fold(0, |sum, _| sum << 8 | bytes.next().unwrap_or(0)) % (1 << scheme.mask_bits);
            let mut row = || (0..DEGREE).map(|_| range - any().cast_signed()).collect();
            let mask = change(number as usize, (0..scheme.columns).map(|_| row()).collect()); // attempts are few
            let y = scheme.vector(&mask);
            let w: Vec<Polynomial> = self.matrix.iter().map(|row| product(row, &y)).collect();
            let high = |w: &[Polynomial]| -> Vec<Polynomial> {
                w.iter().map(|row| row.iter().map(|&value| scheme.decomposed(value).0).collect()).collect()
            };
            let seed = hash.bytes(&[&mu[..], &scheme.high_encoded(&high(&w))].concat(), scheme.challenge_bytes);
            let c = scheme.vector(&[challenge(scheme, hash, &seed)]);
            let times = |rows: &[Vec<i64>]| -> Vec<Polynomial> {
                scheme.vector(rows).iter().map(|row| product(std::slice::from_ref(row), &c)).collect()
            };
            let z: Vec<Vec<i64>> = times(&self.secrets[0])
                .iter()
                .zip(&mask)
                .map(|(row, y)| row.iter().zip(y).map(|(&a, b)| centred(a) + b).collect())
                .collect();
            let fits = z.iter().flatten().all(|&value| -range < value && value <= range);
            if !fits || !accept(&z) {
                continue;
            }
            let [less, more] = [&self.secrets[1], &self.low].map(|rows| times(rows));
            let mut hints = Vec::new();
            let mut is_low = true;
            for ((w, less), more) in w.iter().zip(&less).zip(&more) {
                let mut row = Vec::new();
                for place in 0..DEGREE {
                    let near = residue(w[place].cast_signed() - less[place].cast_signed());
                    is_low &= scheme.decomposed(near).1.unsigned_abs() < scheme.low_range - scheme.slack;
                    is_low &= centred(more[place]).unsigned_abs() < scheme.low_range;
                    let moved = (near + more[place]) % MODULUS;
                    if scheme.decomposed(moved).0 != scheme.decomposed(near).0 {
                        row.push(place);
                    }
                }
                hints.push(row);
            }
            if let Some(hints) = scheme.hints_encoded(&hints).filter(|_| is_low) {
                return [seed, scheme.mask_encoded(&z), hints].concat();
            }
        }
        unreachable!("attempts have no end")
    }
}

/// A signature with its key.
#[derive(Debug, Clone)]
pub struct Signed {
    /// The set of parameters.
    pub scheme: Scheme,
    /// H and G.
    pub hash: Hash,
    /// The published key.
    pub key: Vec<u8>,
    /// 0, the length of the context, the context and the message.
    pub message: Vec<u8>,
    /// The signature.
    pub signature: Vec<u8>,
}

impl Signed {
    /// That of a contract's example.
    pub fn example(scheme: Scheme, hash: Hash) -> Self {
        let signer = Signer::new(scheme, hash, b"mldsa");
        let message = [&[0, 0][..], &hash.bytes(b"message", 32)].concat();
        let signature = signer.sign(&message);
        Self { scheme, hash, key: signer.key, message, signature }
    }

    /// A signature for a key whose t₁ is 0, for which any z and hints are one: w' is A·z.
    pub fn of_zero_key(
        (scheme, hash): (Scheme, Hash),
        (rho, message): (&[u8], Vec<u8>),
        (z, hints): (&[Vec<i64>], &[Vec<usize>]),
    ) -> Self {
        let key = [rho, &vec![0; scheme.key_bytes() - 32]].concat();
        let (rows, tr) = (matrix(scheme, hash, rho), hash.bytes(&key, TR_BYTES));
        Self { key, ..Self::of_values((scheme, hash), (&rows, &tr), message, (z, hints)) }
    }

    /// [`of_zero_key`](Self::of_zero_key) for the values of a matrix and tr that need not be those of a key; without a key.
    pub fn of_values(
        (scheme, hash): (Scheme, Hash),
        (rows, tr): (&[Vec<Polynomial>], &[u8]),
        message: Vec<u8>,
        (z, hints): (&[Vec<i64>], &[Vec<usize>]),
    ) -> Self {
        let mu = hash.bytes(&[tr, &message[..]].concat(), 64);
        let vector = scheme.vector(z);
        let high: Vec<Polynomial> = rows
            .iter()
            .zip(hints)
            .map(|(row, hints)| {
                let w = product(row, &vector);
                w.iter().enumerate().map(|(place, &value)| scheme.hinted(value, hints.contains(&place))).collect()
            })
            .collect();
        let seed = hash.bytes(&[mu, scheme.high_encoded(&high)].concat(), scheme.challenge_bytes);
        let hints = scheme.hints_encoded(hints).expect("hints are few");
        let signature = [seed, scheme.mask_encoded(z), hints].concat();
        Self { scheme, hash, key: Vec::new(), message, signature }
    }

    /// Calldata of the contract.
    pub fn calldata(&self) -> Vec<u8> {
        self.calldata_for(&transformed(self.scheme, self.hash, &self.key))
    }

    /// [`calldata`](Self::calldata) with this transformed key, by its own hash.
    pub fn calldata_for(&self, key: &[u8]) -> Vec<u8> {
        let key_hash = residue_ir::hash::keccak256_of(key).to_be_bytes::<32>();
        [&key_hash, key, &self.message, &self.signature].concat()
    }

    /// The answer of the second text.
    pub fn is_valid(&self) -> bool {
        verify(self.scheme, self.hash, &self.key, &self.message, &self.signature)
    }
}
