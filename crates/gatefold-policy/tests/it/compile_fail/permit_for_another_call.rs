//! A permit contains its call; nobody can replace it with another.

use std::sync::Arc;

use gatefold_core::Target;
use gatefold_policy::{Permit, ResolvedCall};

fn swap(permit: &mut Permit, other: ResolvedCall) {
    permit.call = other;
}

fn retarget(permit: &mut Permit, other: Arc<Target>) {
    *permit.target() = other;
}

fn main() {}
