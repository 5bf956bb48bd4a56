//! Policy's claims as tables, and what the compiler must reject.

#![expect(clippy::unwrap_used, reason = "a panic fails the test")]

mod narrowing;
mod rules;
mod uris;

#[test]
fn a_permit_cannot_be_made_copied_or_used_twice() {
    trybuild::TestCases::new().compile_fail("tests/it/compile_fail/*.rs");
}
