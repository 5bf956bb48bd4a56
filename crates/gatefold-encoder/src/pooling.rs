//! How the states of a text's tokens become one vector, as the model's own folder says.

use std::io;
use std::path::Path;

use serde_json::{Map, Value};

use crate::{EncoderError, Vector, files};

/// Where published sentence encoders keep it, beside the network.
const POOLING_FILE: &str = "1_Pooling/config.json";
const POOLING_BYTES: u64 = 64 * 1024;
/// A key that begins like this and is `true` names a pooling by the rest of its name.
const FLAG: &str = "pooling_mode_";

/// Which token states make up a text's vector (Reimers and Gurevych 2019).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pooling {
    /// The mean of all.
    Mean,
    /// The state of the first token, which stands for the whole.
    First,
}

impl Pooling {
    /// Reads the pooling from a model's folder; the mean if it says nothing.
    pub(crate) fn read(folder: &Path) -> Result<Self, EncoderError> {
        let path = folder.join(POOLING_FILE);
        let text = match files::read(&path, POOLING_BYTES) {
            Err(EncoderError::Read { source, .. }) if is_absent(&source) => return Ok(Self::Mean),
            text => text?,
        };
        Self::parse(&text).map_err(|fault| EncoderError::Pooling { path, fault })
    }

    /// The pooling for a published name. Means divided by something else have the same direction.
    fn named(name: &str) -> Option<Self> {
        match name {
            "mean" | "mean_tokens" | "mean_sqrt_len_tokens" => Some(Self::Mean),
            "cls" | "cls_token" => Some(Self::First),
            _ => None,
        }
    }

    /// Keeps vectors of the same network apart that were pooled differently.
    pub(crate) fn mark(self) -> &'static str {
        match self {
            Self::Mean => "",
            Self::First => "cls",
        }
    }

    fn parse(text: &[u8]) -> Result<Self, String> {
        let stated: Map<String, Value> =
            serde_json::from_slice(text).map_err(|fault| format!("is not as expected: {fault}"))?;
        let is_set = |(name, value): (&String, &Value)| {
            let name = name.strip_prefix(FLAG).filter(|_| *value == Value::Bool(true))?;
            Some(name.to_owned())
        };
        let mut named: Vec<String> = stated.iter().filter_map(is_set).collect();
        named.extend(stated.get("pooling_mode").and_then(Value::as_str).map(str::to_owned));
        let pooling = named.first().and_then(|name| Self::named(name));
        match pooling {
            _ if named.is_empty() => Err("names no pooling".to_owned()),
            Some(pooling) if named.iter().all(|name| Self::named(name) == Some(pooling)) => {
                Ok(pooling)
            }
            _ => Err(format!("says to pool by `{}`", named.join("` and `"))),
        }
    }

    /// The direction of a text, from states that lie one after the other.
    pub(crate) fn of(self, states: &[f32], dimensions: usize) -> Result<Vector, EncoderError> {
        let read = match self {
            Self::Mean => states,
            Self::First => states.get(..dimensions).unwrap_or_default(),
        };
        let mut sum = vec![0.0; dimensions];
        for state in read.chunks_exact(dimensions) {
            for (sum, value) in sum.iter_mut().zip(state) {
                *sum += value;
            }
        }
        Vector::unit(sum)
            .ok_or_else(|| EncoderError::Output { fault: "a vector without direction".to_owned() })
    }
}

/// Also true where what should be the folder is a file.
fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Result<Pooling, &str>) {
        assert_eq!(Pooling::parse(text.as_bytes()), expected.map_err(str::to_owned), "{text}");
    }

    #[test]
    fn both_ways_to_state_a_pooling_are_understood() {
        check(r#"{"pooling_mode_cls_token": true}"#, Ok(Pooling::First));
        check(
            r#"{"word_embedding_dimension": 384, "pooling_mode_cls_token": false,
                "pooling_mode_mean_tokens": true, "include_prompt": true}"#,
            Ok(Pooling::Mean),
        );
        check(r#"{"pooling_mode": "mean"}"#, Ok(Pooling::Mean));
        check(r#"{"pooling_mode": "cls"}"#, Ok(Pooling::First));
        check(r#"{"pooling_mode_mean_tokens": true, "pooling_mode": "mean"}"#, Ok(Pooling::Mean));
    }

    #[test]
    fn a_pooling_that_cannot_be_run_is_named() {
        check(r#"{"pooling_mode": "lasttoken"}"#, Err("says to pool by `lasttoken`"));
        check(
            r#"{"pooling_mode_cls_token": true, "pooling_mode_mean_tokens": true}"#,
            Err("says to pool by `cls_token` and `mean_tokens`"),
        );
        check("{}", Err("names no pooling"));
        let told = Pooling::parse(b"[]").unwrap_err();
        assert!(told.starts_with("is not as expected: "), "{told}");
    }

    #[test]
    fn a_folder_says_it_or_the_mean_is_taken() {
        let folder = tempfile::tempdir().unwrap();
        let read = || Pooling::read(folder.path());
        assert_eq!(read().unwrap(), Pooling::Mean);
        std::fs::create_dir(folder.path().join("1_Pooling")).unwrap();
        let file = folder.path().join(POOLING_FILE);
        std::fs::write(&file, r#"{"pooling_mode": "cls"}"#).unwrap();
        assert_eq!(read().unwrap(), Pooling::First);
        std::fs::write(&file, "{}").unwrap();
        let told = read().unwrap_err().to_string();
        assert!(told.contains(POOLING_FILE) && told.contains("names no pooling"), "{told}");
    }

    #[test]
    fn a_text_is_its_first_state_or_the_mean_of_all() {
        let states = [3.0, 0.0, 0.0, 3.0];
        let like = |pooling: Pooling, other: [f32; 2]| {
            let other = Vector::unit(other.to_vec()).unwrap();
            pooling.of(&states, 2).unwrap().cosine(&other)
        };
        assert!(like(Pooling::First, [1.0, 0.0]) > 0.999);
        assert!(like(Pooling::Mean, [1.0, 1.0]) > 0.999);
        assert!(Pooling::First.of(&[0.0, 0.0], 2).is_err());
    }
}
