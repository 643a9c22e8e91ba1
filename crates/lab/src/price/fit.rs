//! Times by width of the modulus as a polynomial: a line for addition and subtraction, a square for multiplication, as the
//! tables of EIP-6690 were made.

/// Coefficients of 1, w, w², … with what the fit leaves over.
#[derive(Debug, Clone, PartialEq)]
pub struct Fit {
    /// The coefficients.
    pub coefficients: Vec<f64>,
    /// The share of the variance that the fit explains.
    pub r_squared: f64,
    /// Greatest excess of a time over the fit: the width, and the nanoseconds.
    pub worst: (f64, f64),
}

impl Fit {
    /// The polynomial at a width.
    pub fn at(&self, width: f64) -> f64 {
        self.coefficients.iter().rev().fold(0.0, |sum, coefficient| sum * width + coefficient)
    }
}

/// Least squares over (width, time) pairs. None with fewer pairs than coefficients, or if widths repeat too much.
pub fn fit(points: &[(f64, f64)], degree: usize) -> Option<Fit> {
    let size = degree + 1;
    if points.len() < size {
        return None;
    }
    // The normal equations: Σ xⁱ⁺ʲ · cⱼ = Σ xⁱ · y.
    let power = |x: f64, exponent: usize| (0..exponent).fold(1.0, |product, _| product * x);
    let mut rows: Vec<Vec<f64>> = (0..size)
        .map(|i| {
            let left = (0..size).map(|j| points.iter().map(|&(x, _)| power(x, i + j)).sum());
            let right = points.iter().map(|&(x, y)| power(x, i) * y).sum();
            left.chain([right]).collect()
        })
        .collect();
    let coefficients = solved(&mut rows)?;
    let mut fit = Fit { coefficients, r_squared: 1.0, worst: (0.0, f64::NEG_INFINITY) };
    let mean = points.iter().map(|&(_, y)| y).sum::<f64>() / points.len() as f64; // A handful.
    let (mut left_over, mut variance) = (0.0, 0.0);
    for &(x, y) in points {
        let residual = y - fit.at(x);
        left_over += residual * residual;
        variance += (y - mean) * (y - mean);
        if residual > fit.worst.1 {
            fit.worst = (x, residual);
        }
    }
    if variance > 0.0 {
        fit.r_squared = 1.0 - left_over / variance;
    }
    Some(fit)
}

/// Gauss–Jordan elimination with the largest pivot; None if the rows depend on each other.
fn solved(rows: &mut [Vec<f64>]) -> Option<Vec<f64>> {
    let size = rows.len();
    for column in 0..size {
        let largest = (column..size).max_by(|&a, &b| rows[a][column].abs().total_cmp(&rows[b][column].abs()))?;
        rows.swap(column, largest);
        let pivot = rows[column].clone();
        if pivot[column].abs() < 1e-9 {
            return None;
        }
        for (number, row) in rows.iter_mut().enumerate() {
            if number == column {
                continue;
            }
            let factor = row[column] / pivot[column];
            row.iter_mut().zip(&pivot).for_each(|(entry, pivot)| *entry -= factor * pivot);
        }
    }
    Some((0..size).map(|i| rows[i][size] / rows[i][i]).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn polynomials_are_found_again() {
        for coefficients in [vec![2.0, 0.5], vec![3.0, 1.0, 0.25]] {
            let known = Fit { coefficients, r_squared: 1.0, worst: (0.0, 0.0) };
            let points: Vec<(f64, f64)> = (1..=12).map(|w| (f64::from(w), known.at(f64::from(w)))).collect();
            let found = fit(&points, known.coefficients.len() - 1).unwrap();
            for (a, b) in found.coefficients.iter().zip(&known.coefficients) {
                assert!((a - b).abs() < 1e-6, "{found:?}");
            }
            assert!(found.r_squared > 0.999_999 && found.worst.1.abs() < 1e-6, "{found:?}");
        }
    }

    #[test]
    fn what_is_above_the_line_is_named() {
        let found = fit(&[(1.0, 1.0), (2.0, 2.0), (3.0, 3.0), (4.0, 9.0)], 1).unwrap();
        assert!(found.worst.0 == 4.0 && found.r_squared < 0.9, "{found:?}");
        assert_eq!(fit(&[(1.0, 1.0)], 1), None);
        assert_eq!(fit(&[(2.0, 1.0), (2.0, 3.0)], 1), None);
    }
}
