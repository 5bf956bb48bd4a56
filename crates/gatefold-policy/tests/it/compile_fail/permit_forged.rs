//! Only policy makes a permit.

use gatefold_core::RuleId;
use gatefold_policy::{Permit, ResolvedCall};

fn forge(call: ResolvedCall) -> Permit {
    Permit { call, rule: RuleId::new("mine") }
}

fn make(call: ResolvedCall) -> Permit {
    Permit::new(call, RuleId::new("mine"))
}

fn main() {}
