//! Names that the values and their reader agree on.

/// The most entries of a list or table that is [`LimitedItems`](crate::LimitedItems).
pub const ITEM_LIMIT: usize = 1024;

// Names of newtype structs that a document reads specially.

/// A number or a boolean is read as its text.
pub(crate) const LOOSE_TEXT: &str = "$gatefold_config::LooseText";
/// A path, resolved against the file that names it.
pub(crate) const FILE_PATH: &str = "$gatefold_config::FilePath";
/// A list or a table of a bounded length.
pub(crate) const LIMITED: &str = "$gatefold_config::Limited";
