//! The `gatefold` command.

mod cli;

fn main() -> std::process::ExitCode {
    gatefold::worker::run_if_asked();
    cli::run()
}
