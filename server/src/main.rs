//! The `atoll` command.

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: server::heap::Counted<mimalloc::MiMalloc> =
    server::heap::Counted(mimalloc::MiMalloc);

fn main() -> ExitCode {
    server::heap::keep_to_small_pages();
    server::cli::main()
}
