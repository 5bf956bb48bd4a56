/// The longest URL that is sent, in bytes. Servers take 8 to 64 KiB.
pub const MAX_URL_BYTES: usize = 16 * 1024;

/// The longest value of a header that is sent, in bytes. Most servers take 8 KiB of headers in all.
pub const MAX_HEADER_BYTES: usize = 8 * 1024;
