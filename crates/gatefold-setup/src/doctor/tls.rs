//! The certificate and the key of the endpoint: whether they can be used, and for how long.

use gatefold::config::Config;
use gatefold::{TlsWarning, examine_tls};

use super::{Finding, Level, Section};

pub(super) fn look(config: &Config) -> Vec<Finding> {
    let (Some(files), Some(examined)) = (&config.server.tls, examine_tls(config)) else {
        return Vec::new();
    };
    let found = |level, what: String| {
        Finding::new(Section::Configuration, level, what).at(files.cert.display())
    };
    match examined {
        Ok(warnings) if warnings.is_empty() => {
            vec![found(Level::Ok, "the endpoint's certificate and key can be used".to_owned())]
        }
        Ok(warnings) => {
            let warned = |TlsWarning { what, fix }| found(Level::Warning, what).fix(fix);
            warnings.into_iter().map(warned).collect()
        }
        Err(error) => vec![found(Level::Fault, error.to_string()).fix(error.fix())],
    }
}
