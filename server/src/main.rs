//! The `atoll` command.

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: server::heap::Counted<sql::environment::Heap> =
    server::heap::Counted(sql::environment::Heap);

unsafe extern "C" {
    /// mimalloc's own: looks through what the thread has, and gives what is free back.
    safe fn mi_collect(force: bool);
}

fn main() -> ExitCode {
    server::heap::keep_to_small_pages();
    server::heap::give_back_by(|| mi_collect(true));
    server::cli::main()
}
