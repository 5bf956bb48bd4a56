use super::super::Durability;
use super::super::key::{ApplyMode, Key, Kind, duration};
use super::FixedSection;

pub(super) const AUDIT: FixedSection = FixedSection {
    path: "audit",
    summary: "How records of calls are kept.",
    details: "",
    keys: &[
        Key {
            details: "With \"process\" it survives a crash of Gatefold, with \"disk\" a power cut too, \
                      which makes every call wait some milliseconds for the disk.",
            value: |config| {
                let durability = match config.audit.durability {
                    Durability::Process => "process",
                    Durability::Disk => "disk",
                };
                Some(durability.into())
            },
            example: "\"disk\"",
            applies: ApplyMode::Restart,
            ..Key::new(
                "durability",
                Kind::Choice(&["process", "disk"]),
                "What the record of a call survives once it is open.",
            )
        },
        Key {
            details: "Older ones are deleted every ten minutes. If the system's date jumps ahead, records \
                      grow old by a day for each hour that Gatefold then runs, so a clock that is wrong \
                      for a while erases nothing. Of several gateways on one state directory, the shortest \
                      time counts.",
            value: |config| Some(duration(config.audit.retention.age)),
            example: "\"90d\"",
            applies: ApplyMode::Restart,
            ..Key::new("retention", Kind::Duration, "How long records are kept.")
        },
        Key {
            details: "So many of calls, and as many of searches; the oldest beyond that are deleted.",
            value: |config| Some(config.audit.retention.rows.into()),
            example: "100000",
            applies: ApplyMode::Restart,
            ..Key::new(
                "records",
                Kind::Count { max: u32::MAX as u64 },
                "How many records are kept.",
            )
        },
    ],
};
