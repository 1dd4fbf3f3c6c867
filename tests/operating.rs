//! `docs/operating.md`: each of its commands is run, in order, in a directory of its own. `sudo`, `useradd` and `systemctl`
//! stand for what they would do there: the unit is started by the line that the page gives it.

use std::path::{Path, PathBuf};
use std::process::Command;
use tests::atoll::program;
use tests::oracle::programs;
use tests::process::{TemporaryDirectory, free_port};

/// What stands for the machine: users are not made, and a service is a process whose number is in a file.
const MACHINE: &str = r#"
set -eu -o pipefail
sudo() { if [ "$1" = -u ]; then shift 2; fi; "$@"; }
useradd() { :; }
install() {
    local kept=()
    while [ $# -gt 0 ]; do case "$1" in -o|-g) shift 2 ;; *) kept+=("$1"); shift ;; esac; done
    command install "${kept[@]}"
}
systemctl() {
    local unit="$ROOT/etc/systemd/system/atoll.service" file="$ROOT/pid" command
    case "$1" in
        daemon-reload) ;;
        enable|start)
            command=$(sed -n 's/^ExecStart=//p' "$unit")
            # Programs run as whoever the server is, and the tests may be root.
            env ATOLL_ATOLL.RUN_PROGRAMS_AS_ROOT=on $command -c "port=$PORT" -c "unix_socket_directories=$ROOT" \
                >> "$ROOT/journal" 2>&1 &
            echo $! > "$file"
            for _ in $(seq 300); do
                if (exec 3<> "/dev/tcp/127.0.0.1/$PORT") 2> /dev/null; then return 0; fi
                sleep 0.1
            done
            cat "$ROOT/journal" >&2
            return 1 ;;
        stop)
            kill -TERM "$(cat "$file")"
            while kill -0 "$(cat "$file")" 2> /dev/null; do sleep 0.1; done
            rm "$file" ;;
        reload)
            command=$(sed -n 's/^ExecReload=//p' "$unit")
            eval "${command/\$MAINPID/$(cat "$file")}" ;;
        restart) systemctl stop; systemctl start ;;
        *) echo "systemctl $1?" >&2; return 1 ;;
    esac
}
"#;

/// The page's blocks of a language, in order.
fn blocks<'p>(page: &'p str, language: &str) -> Vec<&'p str> {
    let begin = format!("```{language}\n");
    let parts = page.split(&*begin).skip(1);
    parts.map(|part| part.split("\n```").next().unwrap_or(part)).collect()
}

/// Ends the server that the page's commands have left, if any.
struct Ends(PathBuf);

impl Drop for Ends {
    fn drop(&mut self) {
        if let Ok(number) = std::fs::read_to_string(&self.0) {
            let _ = Command::new("kill").args(["-KILL", number.trim()]).status();
        }
    }
}

#[test]
fn every_command_of_the_page_works() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/operating.md");
    let page = std::fs::read_to_string(path).expect("the page is there");
    let place = TemporaryDirectory::new("operating");
    let root = place.path();
    let _ends = Ends(root.join("pid"));
    for folder in ["etc/systemd/system", "usr/local/bin", "var/lib"] {
        std::fs::create_dir_all(root.join(folder)).expect("the directory is ours");
    }
    let link = root.join("usr/local/bin/atoll");
    std::os::unix::fs::symlink(program(), &link).expect("the directory is ours");
    // The page's paths and ports are this machine's below the directory.
    let (port, metrics) = (free_port().to_string(), free_port().to_string());
    let here = |text: &str| {
        let mut text = text.replace("5432", &port).replace("9187", &metrics);
        for folder in ["/var/lib/", "/etc/systemd/", "/usr/local/bin/"] {
            text = text.replace(folder, &format!("{}{folder}", root.display()));
        }
        text
    };
    let unit = blocks(&page, "ini");
    assert_eq!(unit.len(), 1, "the page has one unit");
    std::fs::write(root.join("etc/systemd/system/atoll.service"), here(unit[0]))
        .expect("the directory is ours");
    let commands = blocks(&page, "sh");
    assert!(commands.len() > 10, "{}", commands.len());
    let script = format!(
        "{MACHINE}\nset -x\n{}",
        commands.iter().map(|it| here(it)).collect::<Vec<_>>().join("\n")
    );
    let search = format!(
        "{}:{}:{}",
        link.parent().expect("it is in a folder").display(),
        programs().display(),
        std::env::var("PATH").unwrap_or_default()
    );
    let output = Command::new("bash")
        .args(["-c", &script])
        .current_dir(root)
        .env("PATH", search)
        .env("ROOT", root)
        .env("PORT", &port)
        .output()
        .expect("bash is a program");
    let said = String::from_utf8_lossy(&output.stderr);
    let journal = std::fs::read_to_string(root.join("journal")).unwrap_or_default();
    assert!(output.status.success(), "{said}\n--- the journal\n{journal}");
    let answers = String::from_utf8_lossy(&output.stdout);
    for part in ["(Atoll", "TLSv1.3", "shop", "atoll_transactions_total", "1|lamp", "pg_log/"] {
        assert!(answers.contains(part), "{part}: {answers}\n{said}");
    }
}
