//! A permit carries its call; nobody can put another into it.

use std::sync::Arc;

use gatefold_core::ToolTarget;
use gatefold_policy::{Permit, ResolvedCall};

fn swap(permit: &mut Permit, other: ResolvedCall) {
    permit.call = other;
}

fn retarget(permit: &mut Permit, other: Arc<ToolTarget>) {
    *permit.target() = other;
}

fn main() {}
