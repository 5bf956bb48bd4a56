//! What leads out of a folder: paths, things planted in it, and a second process that swaps them while
//! the tools run. Nothing outside is read or written.
#![expect(clippy::unwrap_used, reason = "a panic fails the test")]

mod nothing;
mod paths;
mod planted;
mod racing;
mod yard;

use gatefold_builtin::{BUILTIN_TASK, PathResolution};
use gatefold_worker::Task;
use libtest_mimic::{Arguments, Trial};

/// The tools' workers are this program too.
const TASKS: &[Task] = &[BUILTIN_TASK];

fn main() {
    gatefold_worker::run_if_asked(TASKS);
    let mut arguments = std::env::args().skip(1);
    if arguments.next().as_deref() == Some(racing::RACER) {
        racing::race(&arguments.next().unwrap(), &arguments.next().unwrap());
    }
    let mut trials = Vec::new();
    for resolution in [PathResolution::Kernel, PathResolution::Stepwise] {
        let mut add = |name: &str, claim: fn(PathResolution)| {
            let name = format!("{name} ({resolution:?})");
            trials.push(Trial::test(name, move || {
                claim(resolution);
                Ok(())
            }));
        };
        add("no_path_leads_out", paths::no_path_leads_out);
        add("nothing_planted_leads_out", planted::nothing_planted_leads_out);
        add("no_folder_that_is_swapped_for_a_link_leads_out", racing::folder_for_link);
        add("no_file_that_is_swapped_for_a_link_leads_out", racing::file_for_link);
        add("no_file_that_is_swapped_for_a_hard_link_leads_out", racing::file_for_hard_link);
        add("no_file_that_is_swapped_for_a_pipe_holds_a_call", racing::file_for_pipe);
        add("no_file_that_is_swapped_for_a_folder_is_lost", racing::file_for_folder);
    }
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}
