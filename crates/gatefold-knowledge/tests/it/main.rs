//! Knowledge bases as a user of the crate meets them.
