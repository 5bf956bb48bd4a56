//! The attacks, each beside the way that works.

mod authorizations;
mod pages;
mod people;
mod providers;
mod tokens;
