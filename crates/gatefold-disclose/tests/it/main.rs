//! The disclosures over the real catalogue: the `tools/list` answers of 56 servers, in the directory
//! that `GATEFOLD_CATALOGS` names. Without it these tests are listed as ignored; what a generated
//! catalogue can show is tested always.

#![expect(clippy::unwrap_used, reason = "these are tests without the standard harness")]

use std::path::PathBuf;
use std::process::ExitCode;

use libtest_mimic::{Arguments, Trial};

mod catalogue;
mod chance;
mod claims;
mod kinds;
mod lines;
mod named_tools;
mod rebuilds;
mod topics;

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    #[expect(clippy::disallowed_methods, reason = "the path of an external data set")]
    let directory = std::env::var_os("GATEFOLD_CATALOGS").map(PathBuf::from);
    let trial = |(name, claim): &(&'static str, fn(&catalogue::Catalogue))| {
        let (claim, directory) = (*claim, directory.clone());
        let ignored = directory.is_none();
        let run = move || {
            claim(catalogue::of(&directory.unwrap_or_default()));
            Ok(())
        };
        Trial::test(*name, run).with_ignored_flag(ignored)
    };
    let always = Trial::test("every_surface_of_a_shuffled_generated_catalogue_is_the_same", || {
        let sources = rebuilds::generated();
        rebuilds::every_surface_is_the_same(&sources, sources.len());
        Ok(())
    });
    let names = Trial::test("no_text_names_a_tool_that_its_surface_lacks", || {
        named_tools::no_text_names_a_tool_that_its_surface_lacks();
        Ok(())
    });
    let suggested = Trial::test("a_suggested_call_leads_to_its_tool", || {
        named_tools::a_suggested_call_leads_to_its_tool();
        Ok(())
    });
    let about_topics: [(&str, fn()); 5] = [
        (
            "a_search_goes_to_the_named_one_or_to_all",
            topics::a_search_goes_to_the_named_one_or_to_all,
        ),
        (
            "what_is_searched_is_named_and_nothing_else_is_needed",
            topics::what_is_searched_is_named_and_nothing_else_is_needed,
        ),
        (
            "a_tool_beside_the_topics_is_called_by_its_name",
            topics::a_tool_beside_the_topics_is_called_by_its_name,
        ),
        (
            "one_that_is_called_as_all_are_is_one_of_them",
            topics::one_that_is_called_as_all_are_is_one_of_them,
        ),
        (
            "whoever_sees_one_base_cannot_tell_that_there_are_more",
            topics::whoever_sees_one_base_cannot_tell_that_there_are_more,
        ),
    ];
    let about_topics = about_topics.into_iter().map(|(name, claim)| {
        Trial::test(name, move || {
            claim();
            Ok(())
        })
    });
    let all = claims::ALL.iter().map(trial).chain([always, names, suggested]);
    let trials = all.chain(about_topics).collect();
    libtest_mimic::run(&arguments, trials).exit_code()
}
