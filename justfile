# Short names for the commands of CONTRIBUTING.md.

run:
    cargo run --release

quick:
    tests/run quick

test:
    tests/run

golden:
    cargo build -p server
    UPDATE_GOLDEN=1 cargo test -p tests --test sql_answers files
    UPDATE_GOLDEN=1 cargo test -p tests --test isolation files

bench:
    cargo build --release -p server -p bench
    cargo run --release -p bench -- pgbench
