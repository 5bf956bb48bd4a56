//! Words that tools and the people who ask for them use interchangeably.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::words;

/// Each line is a group; a word may be in several. Our own selection of words that are common in
/// the names of tools and in requests.
const GROUPS: &str = "\
add create make new insert
generate create make build
delete remove erase drop destroy clear purge trash
update edit modify change set patch alter revise
get fetch retrieve read show view obtain load
list enumerate all browse
search find query lookup locate discover seek
send post submit deliver publish
run execute invoke trigger launch perform
start begin launch enable activate resume
stop halt cancel abort terminate end kill disable pause
upload import attach
download export save
copy duplicate clone replicate
move transfer relocate migrate
convert exchange transform
calculate compute count evaluate estimate
compare diff difference
check verify validate confirm inspect
analyze analyse analysis examine assess evaluate
summarize summary digest abstract overview
book reserve reservation booking
schedule plan appointment
merge combine unite join
split divide separate
buy purchase order shop shopping
pay payment charge bill invoice
reply respond answer
share invite grant permission access
login authenticate auth authentication signin
recommend suggest recommendation suggestion advice
details info information metadata
repository repo codebase
directory folder dir path
file document doc
image picture photo screenshot
movie film cinema
video clip footage
song track music audio
email mail inbox gmail
message chat sms dm
user account member person people profile
company business organization organisation firm enterprise
team group organization
issue ticket bug
task todo reminder
event meeting calendar appointment
database db sql
spreadsheet sheet excel workbook
row record entry
column field attribute property
website site webpage page
url link address
weather forecast temperature climate
stock share equity ticker
price cost fare quote rate
currency money forex
crypto cryptocurrency bitcoin
location place address position
coordinates geocode latitude longitude
map route direction navigation
hotel lodging accommodation stay
flight plane airline airport
restaurant food meal dining
recipe cook ingredient dish
news article headline
job vacancy career employment
product item goods
customer client
log trace
metric statistic stats statistics
chart graph plot diagram visualize visualization
config configuration setting preference option
server host machine instance vm
environment env
version release
tag label
category type kind genre
team club squad
game match fixture
actor cast crew star
language translate translation
definition dictionary meaning
book author novel
vote rating review score
near nearby around close
latest recent newest current
popular trending top best
similar related like
";

/// The stems that may replace a stem, without itself. Empty for most.
pub(crate) fn of(stem: &str) -> &'static [&'static str] {
    static TABLE: LazyLock<HashMap<&str, Vec<&str>>> = LazyLock::new(|| {
        let mut table: HashMap<&str, Vec<&str>> = HashMap::new();
        for group in GROUPS.lines() {
            let stems: Vec<&str> = group.split(' ').map(words::stem).collect();
            for stem in &stems {
                let others = table.entry(stem).or_default();
                others.extend(stems.iter().filter(|other| *other != stem));
            }
        }
        for others in table.values_mut() {
            others.sort_unstable();
            others.dedup();
        }
        table
    });
    TABLE.get(stem).map_or(&[], Vec::as_slice)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn synonyms_go_both_ways_and_no_stem_is_its_own() {
        for (one, other) in [("repo", "repositor"), ("delet", "remov"), ("film", "movi")] {
            assert!(of(one).contains(&other), "{one}: {:?}", of(one));
            assert!(of(other).contains(&one), "{other}: {:?}", of(other));
            assert!(!of(one).contains(&one));
        }
        assert!(of("unheard-of").is_empty());
    }
}
