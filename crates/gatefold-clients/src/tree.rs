//! The content of a text, independent of how it is written: to find out what is there, and to prove
//! that an edit changed only what it should.

use crate::{EditError, NESTING};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Tree {
    Table(Vec<(String, Tree)>),
    List(Vec<Tree>),
    /// A literal value, as the format writes it.
    Leaf(String),
    /// A missing value: an empty file, a YAML key without a value.
    Nothing,
}

impl Tree {
    /// The names in the table at `path`, in order; none when there is no table yet.
    pub(crate) fn names(&self, path: &[String]) -> Result<Vec<String>, EditError> {
        let mut here = self;
        for (depth, key) in path.iter().enumerate() {
            match here {
                Self::Table(members) => match members.iter().find(|(name, _)| name == key) {
                    Some((_, value)) => here = value,
                    None => return Ok(Vec::new()),
                },
                Self::Nothing => return Ok(Vec::new()),
                _ => return Err(EditError::NotATable { path: path[..depth].to_vec() }),
            }
        }
        match here {
            Self::Table(members) => Ok(members.iter().map(|(name, _)| name.clone()).collect()),
            Self::Nothing => Ok(Vec::new()),
            _ => Err(EditError::NotATable { path: path.to_vec() }),
        }
    }

    /// What is at `path`.
    pub(crate) fn at(&self, path: &[String]) -> Option<&Self> {
        let Some((key, rest)) = path.split_first() else { return Some(self) };
        let Self::Table(members) = self else { return None };
        members.iter().find(|(name, _)| name == key)?.1.at(rest)
    }

    /// Whether it is empty.
    pub(crate) fn is_empty(&self) -> bool {
        match self {
            Self::Table(members) => members.is_empty(),
            Self::Nothing => true,
            Self::List(_) | Self::Leaf(_) => false,
        }
    }

    /// The content in a fixed order, without the members `gone` of the table at `path` and without
    /// tables on the way to it that become empty. An edit must leave exactly this.
    pub(crate) fn rest(self, path: &[String], gone: &[&str]) -> Self {
        let Self::Table(mut members) = self else { return self };
        match path.split_first() {
            None => members.retain(|(name, _)| !gone.contains(&name.as_str())),
            Some((key, path)) => {
                for (name, value) in &mut members {
                    if name == key {
                        *value = std::mem::replace(value, Self::Nothing).rest(path, gone);
                    }
                }
                members.retain(|(name, value)| name != key || *value != Self::Nothing);
            }
        }
        members.sort_by(|(left, _), (right, _)| left.cmp(right));
        if members.is_empty() { Self::Nothing } else { Self::Table(members) }
    }

    pub(crate) fn bounded(self) -> Result<Self, EditError> {
        if self.depth() > NESTING { Err(EditError::TooDeep) } else { Ok(self) }
    }

    fn depth(&self) -> usize {
        match self {
            Self::Table(members) => {
                1 + members.iter().map(|(_, value)| value.depth()).max().unwrap_or(0)
            }
            Self::List(items) => 1 + items.iter().map(Self::depth).max().unwrap_or(0),
            Self::Leaf(_) | Self::Nothing => 0,
        }
    }
}
