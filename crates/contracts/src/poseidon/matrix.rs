//! Small matrices of numbers, for constants.

use residue_formula::Number;

/// A square matrix by its rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Matrix<F>(pub Vec<Vec<F>>);

impl<F: Number> Matrix<F> {
    /// The matrix with these entries.
    pub fn of(size: usize, entry: impl Fn(usize, usize) -> F) -> Self {
        Self((0..size).map(|row| (0..size).map(|column| entry(row, column)).collect()).collect())
    }

    /// M·x.
    pub fn times(&self, x: &[F]) -> Vec<F> {
        self.0.iter().map(|row| dot(row, x)).collect()
    }

    /// xᵀ·M.
    pub fn times_left(&self, x: &[F]) -> Vec<F> {
        (0..x.len()).map(|column| dot(x, &self.0.iter().map(|row| row[column]).collect::<Vec<_>>())).collect()
    }

    /// self·other.
    pub fn product(&self, other: &Self) -> Self {
        Self(self.0.iter().map(|row| other.times_left(row)).collect())
    }

    /// The inverse by elimination; none if there is none.
    pub fn inverse(&self) -> Option<Self> {
        let size = self.0.len();
        let mut left = self.0.clone();
        let mut right = Self::of(size, |row, column| if row == column { F::ONE } else { F::ZERO }).0;
        for column in 0..size {
            let pivot = (column..size).find(|&row| left[row][column] != F::ZERO)?;
            left.swap(column, pivot);
            right.swap(column, pivot);
            let inverse = left[column][column].inverse()?;
            for rows in [&mut left, &mut right] {
                for entry in &mut rows[column] {
                    *entry = *entry * inverse;
                }
            }
            for row in (0..size).filter(|&row| row != column) {
                let factor = left[row][column];
                for rows in [&mut left, &mut right] {
                    let of_pivot = rows[column].clone();
                    for (entry, pivot) in rows[row].iter_mut().zip(of_pivot) {
                        *entry = *entry - factor * pivot;
                    }
                }
            }
        }
        Some(Self(right))
    }

    /// a₁ … aₙ of the characteristic polynomial λⁿ + a₁·λⁿ⁻¹ + … + aₙ. Faddeev and LeVerrier; n must be below the characteristic.
    pub fn characteristic(&self) -> Vec<F> {
        let size = self.0.len();
        let (mut number, mut k) = (F::ZERO, Self::of(size, |_, _| F::ZERO));
        let mut coefficients: Vec<F> = Vec::new();
        let mut last = F::ONE;
        for _ in 0..size {
            number = number + F::ONE;
            // M ← A·M + a·1, a ← −tr(A·M)/k.
            let identity = Self::of(size, |row, column| if row == column { last } else { F::ZERO });
            let moved = self.product(&k);
            k = Self::of(size, |row, column| moved.0[row][column] + identity.0[row][column]);
            let product = self.product(&k);
            let trace = (0..size).fold(F::ZERO, |sum, at| sum + product.0[at][at]);
            last = -(trace * number.inverse().expect("the size is below the characteristic"));
            coefficients.push(last);
        }
        coefficients
    }
}

/// Σ aᵢ·bᵢ.
pub fn dot<F: Number>(a: &[F], b: &[F]) -> F {
    a.iter().zip(b).fold(F::ZERO, |sum, (&a, &b)| sum + a * b)
}
