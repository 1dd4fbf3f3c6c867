//! Who the system says a client is: of a Unix socket the owner of the process at its other end (`peer`), of a TCP
//! connection whom the client's machine names (`ident`, RFC 1413).
//!
//! Both may be slow, and are asked on a thread that may wait.

use rustix::fd::BorrowedFd;
use rustix::net::sockopt::socket_peercred;
use std::ffi::CStr;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// The port of the identification service.
const IDENT_PORT: u16 = 113;
/// How long an answer of that service may be (RFC 1413), and how long is waited for it.
const ANSWER_BYTES: u64 = 1000;
const PATIENCE: Duration = Duration::from_secs(10);
/// How long an entry of the system's list of users may be.
const ENTRY_BYTES: usize = 16 << 10;

/// The name of the user whose process has the other end of a Unix socket.
///
/// # Errors
/// Why nobody knows, for the server's log.
pub fn peer(socket: BorrowedFd<'_>) -> Result<String, String> {
    let user = socket_peercred(socket)
        .map_err(|error| format!("could not get peer credentials: {}", io::Error::from(error)))?;
    let number = user.uid.as_raw();
    name_of(number).map_err(|why| format!("could not look up local user ID {number}: {why}"))
}

/// The name of a user by number.
fn name_of(number: u32) -> Result<String, String> {
    let mut buffer = vec![0; ENTRY_BYTES];
    // SAFETY: a `passwd` is numbers and pointers, for which all zeros is a value.
    let mut entry: libc::passwd = unsafe { std::mem::zeroed() };
    let mut found = std::ptr::null_mut();
    // SAFETY: the entry and the buffer are ours for the call, and the length is the buffer's. What it leaves in the entry
    // points into the buffer.
    let code = unsafe {
        libc::getpwuid_r(
            number,
            &raw mut entry,
            buffer.as_mut_ptr().cast(),
            buffer.len(),
            &raw mut found,
        )
    };
    if found.is_null() {
        return Err(match code {
            0 => "user does not exist".to_owned(),
            code => io::Error::from_raw_os_error(code).to_string(),
        });
    }
    // SAFETY: an entry was found, so its name is a terminated text in the buffer, which is still there.
    let name = unsafe { CStr::from_ptr(entry.pw_name) };
    Ok(name.to_string_lossy().into_owned())
}

/// Asks the machine of a client who has the other end of the connection.
///
/// # Errors
/// Why nobody knows, for the server's log.
pub async fn ident(server: SocketAddr, client: SocketAddr) -> Result<String, String> {
    let asked = tokio::task::spawn_blocking(move || {
        let at = SocketAddr::new(client.ip(), IDENT_PORT);
        ask(at, server, client)
    });
    asked.await.unwrap_or_else(|error| Err(format!("the Ident server was not asked: {error}")))
}

fn ask(at: SocketAddr, server: SocketAddr, client: SocketAddr) -> Result<String, String> {
    let socket = socket2::Socket::new(
        socket2::Domain::for_address(at),
        socket2::Type::STREAM,
        Some(socket2::Protocol::TCP),
    );
    // From the address that the client has reached: an answer is about a pair of addresses.
    let connected = socket.and_then(|socket| {
        socket.bind(&SocketAddr::new(server.ip(), 0).into())?;
        socket.connect_timeout(&at.into(), PATIENCE)?;
        socket.set_read_timeout(Some(PATIENCE))?;
        Ok(TcpStream::from(socket))
    });
    let mut stream = connected.map_err(|error| {
        format!("could not connect to Ident server at address \"{}\": {error}", at.ip())
    })?;
    let question = format!("{},{}\r\n", client.port(), server.port());
    stream.write_all(question.as_bytes()).map_err(|error| {
        format!("could not send query to Ident server at address \"{}\": {error}", at.ip())
    })?;
    let mut answer = Vec::new();
    let mut byte = [0];
    while answer.len() < ANSWER_BYTES as usize && answer.last() != Some(&b'\n') {
        match stream.read(&mut byte) {
            Ok(0) => break,
            Ok(_) => answer.push(byte[0]),
            Err(error) => {
                return Err(format!(
                    "could not receive response from Ident server at address \"{}\": {error}",
                    at.ip()
                ));
            }
        }
    }
    let answer = String::from_utf8_lossy(&answer);
    user_of(&answer).ok_or_else(|| {
        format!("invalidly formatted response from Ident server: \"{}\"", answer.trim_end())
    })
}

/// The user of an answer: `ports : USERID : system : user` (`interpret_ident_response`).
fn user_of(answer: &str) -> Option<String> {
    let line = answer.strip_suffix("\r\n")?;
    let mut parts = line.splitn(4, ':');
    let (_ports, kind, _system) = (parts.next()?, parts.next()?, parts.next()?);
    let user = parts.next()?.trim_start_matches([' ', '\t']);
    (kind.trim() == "USERID" && !user.is_empty()).then(|| user.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fd::AsFd;
    use std::io::{BufRead, BufReader};
    use std::net::TcpListener;
    use std::os::unix::net::UnixStream;

    #[test]
    fn a_unix_socket_tells_whose_it_is() {
        let (one, _other) = UnixStream::pair().unwrap();
        let own = name_of(rustix::process::getuid().as_raw());
        assert_eq!(peer(one.as_fd()).ok(), own.ok());
        assert!(name_of(u32::MAX - 7).is_err());
    }

    #[test]
    fn answers_name_a_user_or_nobody() {
        for (answer, wanted) in [
            ("6191, 23 : USERID : UNIX : stjohns\r\n", Some("stjohns")),
            ("6191,23:USERID:UNIX:a:b\r\n", Some("a:b")),
            ("6191, 23 : ERROR : NO-USER\r\n", None),
            ("6191, 23 : USERID : UNIX : stjohns", None),
            ("6191, 23 : USERID : UNIX :\r\n", None),
            ("", None),
        ] {
            assert_eq!(user_of(answer).as_deref(), wanted, "{answer}");
        }
    }

    #[test]
    fn the_service_is_asked_for_both_ports() {
        let service = TcpListener::bind("127.0.0.1:0").unwrap();
        let at = service.local_addr().unwrap();
        let serving = std::thread::spawn(move || {
            let (stream, from) = service.accept().unwrap();
            let mut question = String::new();
            BufReader::new(&stream).read_line(&mut question).unwrap();
            let ports = question.trim();
            (&stream).write_all(format!("{ports} : USERID : UNIX :ann\r\n").as_bytes()).unwrap();
            (question, from.ip())
        });
        let (server, client) = (SocketAddr::from(([127, 0, 0, 1], 5432)), at);
        assert_eq!(ask(at, server, client).as_deref(), Ok("ann"));
        let (question, from) = serving.join().unwrap();
        assert_eq!(question, format!("{},5432\r\n", at.port()));
        assert_eq!(from, server.ip());
    }
}
