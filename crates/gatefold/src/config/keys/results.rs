use gatefold_exchange::ResultFormat;

use super::super::key::{Key, Kind};
use super::FixedSection;

pub(super) const RESULTS: FixedSection = FixedSection {
    path: "results",
    summary: "How results are given to models.",
    details: "How large they may be stands in `[limits]`.",
    keys: &[Key {
        details: "With \"compact\", a list of objects with the same members is given as \
                  `{\"columns\": [...], \"rows\": [[...]]}` where that saves tokens. No value is changed. \
                  It is for results that pass through `execute_tool`; a tool that a model sees with its full \
                  schema gives what its source gave.",
        value: |config| {
            let format = match config.results.format {
                ResultFormat::Json => "json",
                ResultFormat::Compact => "compact",
            };
            Some(format.into())
        },
        example: "\"compact\"",
        ..Key::new("format", Kind::Choice(&["json", "compact"]), "How lists of objects are given.")
    }],
};
