//! The person's browser.

use std::process::Stdio;

use gatefold::Environment;

/// Opens an address in the person's browser. Returns false if there is no sign of one.
pub(super) fn open(url: &str, environment: &Environment) -> bool {
    let has_display = ["DISPLAY", "WAYLAND_DISPLAY", "BROWSER", "WSL_DISTRO_NAME"]
        .into_iter()
        .any(|name| environment.get_filled(name).is_some());
    // Without a display, what opens is a browser for terminals, which would take this one.
    if cfg!(target_os = "linux") && !has_display {
        return false;
    }
    open::commands(url).into_iter().any(|command| {
        let mut command = tokio::process::Command::from(command);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command.spawn().is_ok()
    })
}
