//! A permit is spent by the call it was given for.

use gatefold_policy::Permit;

fn invoke(_permit: Permit) {}

fn twice(permit: Permit) {
    invoke(permit);
    invoke(permit);
}

fn copied(permit: &Permit) -> Permit {
    permit.clone()
}

fn main() {}
