//! What people and agents write short, and the words that tools have for it. Names of services are
//! in [`crate::services`], single words that mean the same in [`crate::synonyms`].

use std::sync::LazyLock;

use rustc_hash::FxHashMap;

use crate::words;

/// Each line is an abbreviation and what it stands for. Our own selection.
const LIST: &str = "\
acl access control list
appt appointment
cal calendar
cd continuous deployment
cert certificate
cfg configuration
chan channel
ci continuous integration build pipeline
cli command line
cmd command
conf configuration
convo conversation
cr change request
creds credentials
del delete
deps dependencies
desc description
dev development developer
dl download
dlq dead letter queue
dm direct message
err error
etl extract transform load
eta arrival time
fk foreign key
fs filesystem
func function
fw firewall
fx foreign exchange currency
idx index
infra infrastructure
kb knowledge base
kv key value
lang language
lb load balancer
mins minutes
mgr manager
mr merge request
mrs merge requests
msg message
msgs messages
mtg meeting
ns namespace
ocr text recognition
ooo out of office
org organization
orgs organizations
param parameter
params parameters
perf performance
perms permissions
pic picture
pics pictures
pk primary key
pkg package
po purchase order
pr pull request
prs pull requests
prefs preferences
prod production
pwd password
qty quantity
rbac role access
sched schedule
screencap screenshot
sla service level
slo service level objective
spec specification
src source
srv server
ssl certificate
stt speech text
svc service
tbl table
tix tickets
tkt ticket
tmpl template
tls certificate
tts text speech
tz timezone
usr user
vars variables
var variable
vc video call
vcs version control
ver version
vid video
vids videos
vm virtual machine
vms virtual machines
vnet virtual network
vpc virtual network
vpn private network
wf workflow
ws workspace
";

/// The words that an abbreviation, in lower case, stands for, as stems. Empty for most words.
pub(crate) fn of(word: &str) -> &'static [&'static str] {
    static TABLE: LazyLock<FxHashMap<&str, Vec<&str>>> = LazyLock::new(|| {
        let line = |line: &'static str| {
            let (short, long) = line.split_once(' ')?;
            let stems = long.split(' ').filter(|word| !words::is_stop_word(word)).map(words::stem);
            Some((words::stem(short), stems.collect()))
        };
        LIST.lines().filter_map(line).collect()
    });
    TABLE.get(word).map_or(&[], Vec::as_slice)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_abbreviation_stands_for_its_words() {
        assert_eq!(of("pr"), ["pull", "request"]);
        assert_eq!(of("vm"), ["virtual", "machin"]);
        assert!(of("pull").is_empty());
    }

    #[test]
    fn every_abbreviation_is_one_word_and_stands_for_others() {
        for line in LIST.lines() {
            let (short, long) = line.split_once(' ').unwrap();
            assert!(!of(words::stem(short)).contains(&words::stem(short)), "{line}");
            assert!(!long.trim().is_empty(), "{line}");
        }
    }
}
