//! Unit vectors, and quantized ones at a quarter of the size.

/// Independent partial sums of a dot product. Floating-point addition may not be reordered, so a
/// single running sum would keep the compiler from using vector registers.
const LANES: usize = 16;

/// A vector of length one.
#[derive(Debug, Clone, PartialEq)]
pub struct Vector(Box<[f32]>);

impl Vector {
    /// The direction of `values`; `None` where they have none: empty, all zero or not finite.
    pub fn unit(mut values: Vec<f32>) -> Option<Self> {
        let length = product(&values, &values).sqrt();
        if !length.is_finite() || length <= f32::MIN_POSITIVE {
            return None;
        }
        for value in &mut values {
            *value /= length;
        }
        Some(Self(values.into_boxed_slice()))
    }

    pub fn values(&self) -> &[f32] {
        &self.0
    }

    /// Between -1 and 1; 0 for vectors of different dimensions.
    pub fn cosine(&self, other: &Self) -> f32 {
        if self.0.len() == other.0.len() { product(&self.0, &other.0) } else { 0.0 }
    }

    /// Rounds to int8, the largest component to 127. Cosines move by less than 0.01, usually by
    /// less than 0.001.
    pub fn quantize(&self) -> QuantizedVector {
        let largest = self.0.iter().fold(0.0_f32, |largest, value| largest.max(value.abs()));
        #[expect(clippy::cast_possible_truncation, reason = "between -127 and 127 by the division")]
        let values: Box<[i8]> =
            self.0.iter().map(|value| (value / largest * 127.0).round() as i8).collect();
        let squares: f32 = values.iter().map(|&value| f32::from(value).powi(2)).sum();
        QuantizedVector { scale: squares.sqrt().recip(), values }
    }
}

fn product(left: &[f32], right: &[f32]) -> f32 {
    let (left, left_rest) = left.as_chunks::<LANES>();
    let (right, right_rest) = right.as_chunks::<LANES>();
    let mut sums = [0.0_f32; LANES];
    for (left, right) in left.iter().zip(right) {
        for lane in 0..LANES {
            sums[lane] += left[lane] * right[lane];
        }
    }
    let rest: f32 = left_rest.iter().zip(right_rest).map(|(left, right)| left * right).sum();
    sums.iter().sum::<f32>() + rest
}

/// A vector of length one as int8 with one scale: a quarter of the memory.
///
/// The scale is one over the length of the rounded values, so rounding turns the vector a little
/// and does not stretch it.
#[derive(Debug, Clone, PartialEq)]
pub struct QuantizedVector {
    scale: f32,
    values: Box<[i8]>,
}

impl QuantizedVector {
    /// Restores a stored vector; `None` for a scale that no vector has.
    pub(crate) fn stored(scale: f32, values: Box<[i8]>) -> Option<Self> {
        (scale.is_finite() && scale > 0.0).then_some(Self { scale, values })
    }

    pub fn dimensions(&self) -> usize {
        self.values.len()
    }

    pub(crate) fn scale(&self) -> f32 {
        self.scale
    }

    pub(crate) fn values(&self) -> &[i8] {
        &self.values
    }

    /// Between -1 and 1, up to rounding; 0 for vectors of different dimensions.
    pub fn cosine(&self, other: &Vector) -> f32 {
        if self.values.len() != other.0.len() {
            return 0.0;
        }
        let (left, left_rest) = self.values.as_chunks::<LANES>();
        let (right, right_rest) = other.0.as_chunks::<LANES>();
        let mut sums = [0.0_f32; LANES];
        for (left, right) in left.iter().zip(right) {
            for lane in 0..LANES {
                sums[lane] += f32::from(left[lane]) * right[lane];
            }
        }
        let rest = left_rest.iter().zip(right_rest);
        let rest: f32 = rest.map(|(&left, right)| f32::from(left) * right).sum();
        self.scale * (sums.iter().sum::<f32>() + rest)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn vector(values: &[f32]) -> Vector {
        Vector::unit(values.to_vec()).unwrap()
    }

    #[test]
    fn what_has_no_direction_is_no_vector() {
        for values in [vec![], vec![0.0; 3], vec![f32::NAN, 1.0], vec![f32::INFINITY], vec![1e-30]]
        {
            assert_eq!(Vector::unit(values.clone()), None, "{values:?}");
        }
    }

    #[test]
    fn vectors_of_different_dimensions_have_nothing_in_common() {
        let (short, long) = (vector(&[1.0]), vector(&[1.0, 0.0]));
        for cosine in [short.cosine(&long), short.quantize().cosine(&long)] {
            assert!(cosine.abs() < f32::EPSILON);
        }
    }

    proptest! {
        #[test]
        fn a_quantized_vector_keeps_its_cosines(
            left in prop::collection::vec(-1.0_f32..1.0, 40),
            right in prop::collection::vec(-1.0_f32..1.0, 40),
        ) {
            let (Some(left), Some(right)) = (Vector::unit(left), Vector::unit(right)) else {
                return Ok(());
            };
            let quantized = left.quantize();
            prop_assert!((left.cosine(&left) - 1.0).abs() < 1e-5);
            prop_assert!((quantized.cosine(&left) - 1.0).abs() < 1e-3);
            prop_assert!((quantized.cosine(&right) - left.cosine(&right)).abs() < 0.02);
        }
    }
}
