//! Vectors of chunks, a byte for each number.

use rusqlite::{Connection, OptionalExtension as _, params};

use crate::KnowledgeError;
use crate::limits::DIMENSIONS;

/// A vector as it is kept. One without numbers is of a chunk that the encoder cannot read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StoredVector(Vec<u8>);

impl StoredVector {
    /// Rounds a vector, so that its largest number becomes 127. Its length is lost, its direction stays.
    pub(crate) fn new(vector: Option<&[f32]>) -> Self {
        let values = vector.unwrap_or_default();
        let largest = values.iter().fold(0.0_f32, |largest, value| largest.max(value.abs()));
        if values.len() > DIMENSIONS || !largest.is_finite() || largest <= f32::MIN_POSITIVE {
            return Self(Vec::new());
        }
        #[expect(clippy::cast_possible_truncation, reason = "between -127 and 127 by the division")]
        let round = |value: &f32| ((value / largest * 127.0).round() as i8).cast_unsigned();
        Self(values.iter().map(round).collect())
    }

    /// The cosine with a vector; `None` where one has no direction or they are of different models.
    pub(crate) fn cosine(&self, other: &[f32]) -> Option<f32> {
        if self.0.len() != other.len() || other.is_empty() {
            return None;
        }
        let (mut product, mut own, mut others) = (0.0, 0.0, 0.0);
        for (byte, other) in self.0.iter().zip(other) {
            let value = f32::from(byte.cast_signed());
            product += value * other;
            own += value * value;
            others += other * other;
        }
        let cosine = product / (own * others).sqrt();
        cosine.is_finite().then_some(cosine)
    }
}

pub(crate) fn find(
    connection: &Connection,
    digest: u64,
) -> Result<Option<StoredVector>, KnowledgeError> {
    let mut statement =
        connection.prepare_cached("SELECT vector FROM vectors WHERE digest = ?1")?;
    let bytes = statement.query_row([digest.cast_signed()], |row| row.get(0)).optional()?;
    Ok(bytes.map(StoredVector))
}

pub(crate) fn set(
    connection: &Connection,
    digest: u64,
    vector: &StoredVector,
) -> Result<(), KnowledgeError> {
    connection
        .prepare_cached("INSERT OR REPLACE INTO vectors (digest, vector) VALUES (?1, ?2)")?
        .execute(params![digest.cast_signed(), vector.0])?;
    Ok(())
}

pub(crate) fn delete(connection: &Connection, digest: u64) -> Result<(), KnowledgeError> {
    connection
        .prepare_cached("DELETE FROM vectors WHERE digest = ?1")?
        .execute([digest.cast_signed()])?;
    Ok(())
}

/// Forgets the vectors of another encoder.
pub(crate) fn set_encoder(connection: &Connection, name: &str) -> Result<(), KnowledgeError> {
    connection.execute_batch("DELETE FROM vectors; UPDATE documents SET is_encoded = 0;")?;
    connection.execute("UPDATE base SET encoder = ?1", [name])?;
    Ok(())
}

/// Documents that are not encoded to their end.
pub(crate) fn next_documents(
    connection: &Connection,
    most: usize,
) -> Result<Vec<i64>, KnowledgeError> {
    let mut statement = connection
        .prepare_cached("SELECT id FROM documents WHERE is_encoded = 0 AND chunks > 0 LIMIT ?1")?;
    let most = u32::try_from(most).unwrap_or(u32::MAX);
    let documents = statement.query_map([most], |row| row.get(0))?.collect::<Result<_, _>>()?;
    Ok(documents)
}

/// Says that every chunk of a document has its vector, if the document is still the same.
pub(crate) fn finish_document(
    connection: &Connection,
    id: i64,
    generation: i64,
) -> Result<(), KnowledgeError> {
    connection
        .prepare_cached("UPDATE documents SET is_encoded = 1 WHERE id = ?1 AND generation = ?2")?
        .execute([id, generation])?;
    Ok(())
}

pub(crate) fn generation(connection: &Connection, id: i64) -> Result<i64, KnowledgeError> {
    let mut statement =
        connection.prepare_cached("SELECT generation FROM documents WHERE id = ?1")?;
    Ok(statement.query_row([id], |row| row.get(0)).optional()?.unwrap_or(-1))
}

/// How many chunks are in documents that are not encoded to their end.
pub(crate) fn chunks_left(connection: &Connection) -> Result<usize, KnowledgeError> {
    let mut statement = connection
        .prepare_cached("SELECT coalesce(sum(chunks), 0) FROM documents WHERE is_encoded = 0")?;
    let left: i64 = statement.query_row([], |row| row.get(0))?;
    Ok(usize::try_from(left).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rounded_vector_keeps_its_direction() {
        let vector = [0.3_f32, -0.2, 0.9, 0.01];
        let stored = StoredVector::new(Some(&vector));
        assert!(stored.cosine(&vector).is_some_and(|cosine| cosine > 0.999));
        assert!(
            stored.cosine(&vector.map(|value| -2.0 * value)).is_some_and(|cosine| cosine < -0.999)
        );
    }

    #[test]
    fn what_has_no_direction_has_no_cosine() {
        for vector in [None, Some(&[][..]), Some(&[0.0; 2][..]), Some(&[f32::NAN, 1.0][..])] {
            let cosine = StoredVector::new(vector).cosine(&[1.0, 0.0]);
            assert!(cosine.is_none_or(f32::is_finite), "{vector:?}");
        }
        assert_eq!(StoredVector::new(Some(&[1.0])).cosine(&[1.0, 0.0]), None);
        assert_eq!(StoredVector::new(Some(&[1.0])).cosine(&[0.0]), None);
    }
}
