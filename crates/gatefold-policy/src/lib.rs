//! Who may see and call what: rules, and the permit that proves a decision.
//!
//! Policy is a function of its input. It knows no source, no storage and no clock: dispatch gathers
//! facts that change (approvals given, quotas used, the time) and passes them in. The only crate of
//! ours that it depends on is `gatefold-core`.

mod admission;
mod rules;
mod uri;

pub use admission::{
    Admission, Approval, ApprovalRequest, Denial, Facts, Obligations, Permit, ResolvedCall,
};
pub use gatefold_core::Glob;
pub use rules::{
    ApplicableRules, Effect, Entries, ObligationRule, Policy, PrincipalFilter, Rule, Scope,
};
pub use uri::normal_uri;
