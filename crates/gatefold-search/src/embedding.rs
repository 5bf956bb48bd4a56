//! Meaning as vectors: a static table of words, word pieces and pairs of words whose rows are
//! summed (as in Arora et al. 2017, "A simple but tough-to-beat baseline for sentence embeddings").

mod table;

use std::sync::Arc;

pub(crate) use table::Table;
pub use table::TableError;

/// A tool's vector. It is shared: an index reads it where its analysis lies.
#[derive(Debug, Clone)]
pub(crate) struct Embedding {
    values: Arc<[i8]>,
    /// One over the vector's length; zero when the table knows nothing of the text.
    scale: f32,
}

impl Embedding {
    pub(crate) fn of(vector: &[f32]) -> Self {
        let (values, scale) = quantised(vector);
        Self { values: values.into(), scale }
    }

    pub(crate) fn values(&self) -> &[i8] {
        &self.values
    }
}

/// A vector in bytes, and one over its length.
#[expect(clippy::cast_possible_truncation, reason = "the largest value is that of the type")]
fn quantised(vector: &[f32]) -> (Vec<i8>, f32) {
    let largest = vector.iter().fold(0.0_f32, |largest, value| largest.max(value.abs()));
    let step = if largest > 0.0 { f32::from(i8::MAX) / largest } else { 0.0 };
    let values: Vec<i8> = vector.iter().map(|value| (value * step).round() as i8).collect();
    let square: f32 = values.iter().map(|value| f32::from(*value).powi(2)).sum();
    (values, if square > 0.0 { square.sqrt().recip() } else { 0.0 })
}

/// A vector scaled to length 1; one of zeros stays as it is.
pub(crate) fn unit(mut vector: Vec<f32>) -> Vec<f32> {
    let square: f32 = vector.iter().map(|value| value * value).sum();
    if square > 0.0 {
        let length = square.sqrt();
        for value in &mut vector {
            *value /= length;
        }
    }
    vector
}

/// A request's vector.
#[derive(Debug)]
pub(crate) struct RequestVector {
    values: Vec<i8>,
    scale: f32,
}

impl RequestVector {
    pub(crate) fn of(text: &str) -> Self {
        let (values, scale) = quantised(&Table::built_in().embed(text));
        Self { values, scale }
    }
}

/// The most tools that are all compared exactly with a request. Of more, only those whose vectors'
/// signs are most like the request's.
const COMPARED: usize = 16_384;

/// How many tools are compared exactly when there are more.
const LIKELIEST: usize = 4096;

/// The vectors of all tools of an index.
#[derive(Debug)]
pub(crate) struct Vectors {
    dims: usize,
    tools: Box<[Embedding]>,
    /// One bit a value, set when it is above zero, tool by tool; empty for few tools.
    signs: Box<[u64]>,
}

impl Vectors {
    pub(crate) fn of(tools: Box<[Embedding]>) -> Self {
        let many = tools.len() > COMPARED;
        let signs = tools.iter().filter(|_| many).flat_map(|tool| signs(&tool.values));
        let dims = tools.first().map_or(0, |first| first.values.len());
        Self { dims, signs: signs.collect(), tools }
    }

    /// How similar a request and the tool at a place are: the cosine of the angle between their
    /// vectors; zero where the table knows nothing of either.
    #[expect(clippy::cast_precision_loss, reason = "the sum is scaled down")]
    pub(crate) fn similarity(&self, place: usize, request: &RequestVector) -> f32 {
        let Embedding { values, scale } = &self.tools[place];
        product(values, &request.values) as f32 * request.scale * scale
    }

    /// The similarities of all tools. Where there are many, those of the likeliest and those that
    /// `exact` names are exact and the others estimates.
    pub(crate) fn similarities(
        &self,
        request: &RequestVector,
        exact: impl Fn(usize) -> bool,
    ) -> Vec<f32> {
        let places = 0..self.tools.len();
        if self.signs.is_empty() {
            return places.map(|place| self.similarity(place, request)).collect();
        }
        let asked = signs(&request.values);
        let tools = self.signs.chunks_exact(asked.len());
        let differing: Vec<u16> = tools.map(|own| differing(own, &asked)).collect();
        let estimates = self.estimates();
        let nearest = nearest(&differing, estimates.len());
        let known = if request.scale > 0.0 { 1.0 } else { 0.0 };
        let similarity = |(place, differing): (usize, &u16)| {
            if *differing <= nearest || exact(place) {
                self.similarity(place, request)
            } else {
                known * estimates[usize::from(*differing)]
            }
        };
        differing.iter().enumerate().map(similarity).collect()
    }

    /// The similarity to expect of vectors that differ in a number of signs: the share of signs
    /// that differ equals the angle's share of a half turn (Goemans and Williamson 1995; Charikar
    /// 2002, "Similarity estimation techniques from rounding algorithms").
    #[expect(clippy::cast_precision_loss, reason = "counts of dimensions are small")]
    fn estimates(&self) -> Vec<f32> {
        let angle = |count| std::f32::consts::PI * count as f32 / self.dims as f32;
        (0..=self.dims).map(|count| angle(count).cos()).collect()
    }

    pub(crate) fn memory(&self) -> usize {
        size_of_val(&*self.tools) + size_of_val(&*self.signs)
    }
}

fn signs(values: &[i8]) -> Vec<u64> {
    let bits = |values: &[i8]| {
        values.iter().rev().fold(0, |bits, value| bits << 1 | u64::from(*value > 0))
    };
    values.chunks(64).map(bits).collect()
}

#[expect(clippy::cast_possible_truncation, reason = "there are few dimensions")]
fn differing(signs: &[u64], others: &[u64]) -> u16 {
    signs.iter().zip(others).map(|(a, b)| (a ^ b).count_ones() as u16).sum()
}

/// The largest number of differing signs with which a tool is among the likeliest.
fn nearest(differing: &[u16], counts: usize) -> u16 {
    let mut tools = vec![0_usize; counts];
    for count in differing {
        tools[usize::from(*count)] += 1;
    }
    let mut all = 0;
    let within = |(_, tools): &(u16, usize)| {
        all += tools;
        all <= LIKELIEST
    };
    (0..).zip(tools).take_while(within).last().map_or(0, |(count, _)| count)
}

/// The dot product, in steps that compilers turn into vector instructions of any x86-64: two
/// products of bytes fit into 16 bits, and are then widened.
fn product(values: &[i8], request: &[i8]) -> i32 {
    let (values, values_rest) = values.as_chunks::<32>();
    let (request, request_rest) = request.as_chunks::<32>();
    let mut sum = 0;
    for (values, request) in values.iter().zip(request) {
        let mut products = [0_i16; 32];
        for at in 0..32 {
            products[at] = i16::from(values[at]) * i16::from(request[at]);
        }
        for at in 0..16 {
            sum += i32::from(products[at]) + i32::from(products[16 + at]);
        }
    }
    let rest = values_rest.iter().zip(request_rest);
    sum + rest.map(|(a, b)| i32::from(*a) * i32::from(*b)).sum::<i32>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn similarity_is_the_cosine() {
        let tools = [[3.0, 4.0], [-3.0, -4.0], [4.0, -3.0], [0.0, 0.0]];
        let tools: Vec<_> = tools.iter().map(|vector| Embedding::of(vector)).collect();
        let vectors = Vectors::of(tools.into());
        let (values, scale) = quantised(&[0.3, 0.4]);
        let request = RequestVector { values, scale };
        let found = vectors.similarities(&request, |_| true);
        for (found, expected) in found.iter().zip([1.0, -1.0, 0.0, 0.0]) {
            assert!((found - expected).abs() < 0.01, "{found} is not {expected}");
        }
    }

    #[test]
    fn of_many_tools_the_likeliest_are_found_by_their_signs() {
        let mut state = 1_u32;
        let mut value = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            f32::from((state >> 16) as u16) / 65_536.0 - 0.5
        };
        let request: Vec<f32> = (0..128).map(|_| value()).collect();
        let mut tool = |place: usize| {
            let near = if place.is_multiple_of(5000) { 1.0 } else { 0.0 };
            Embedding::of(&request.iter().map(|own| near * own + value()).collect::<Vec<_>>())
        };
        let tools: Vec<_> = (0..=COMPARED).map(&mut tool).collect();
        let vectors = Vectors::of(tools.into());
        let (values, scale) = quantised(&request);
        let request = RequestVector { values, scale };
        let found = vectors.similarities(&request, |place| place == 1);
        let exact = |place: usize| vectors.similarity(place, &request);
        for place in [0, 1, 5000, 10_000, 15_000] {
            assert_eq!(found[place].to_bits(), exact(place).to_bits());
        }
        let off: f32 = (0..1000).map(|place| (found[place] - exact(place)).abs()).sum();
        assert!(off / 1000.0 < 0.12, "estimates are off by {off} in a thousand");
    }
}
