//! Only policy makes a permit.

use gatefold_core::RuleId;
use gatefold_policy::{Obligations, Permit, ResolvedCall};

fn forge(call: ResolvedCall) -> Permit {
    Permit { call, rule: RuleId::new("mine"), obligations: Obligations::default() }
}

fn make(call: ResolvedCall) -> Permit {
    Permit::new(call, RuleId::new("mine"), Obligations::default())
}

fn main() {}
