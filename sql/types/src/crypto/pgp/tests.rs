//! Messages that PostgreSQL has written are read, what is written is read again, and what is broken is refused.

use super::*;
use crate::no_session::with_context;
use proptest::prelude::*;

fn hex(text: &str) -> Vec<u8> {
    let digit = |at: usize| u8::from_str_radix(&text[at..at + 2], 16).expect("it is hexadecimal");
    (0..text.len()).step_by(2).map(digit).collect()
}

fn read(message: &[u8], password: &str) -> Result<(u8, Vec<u8>, Options)> {
    let mut is = Options::default();
    let (kind, data) = opened(message, Reader::Password(password.as_bytes()), &mut is)?;
    Ok((kind, data, is))
}

fn written(options: &str, data: &[u8]) -> Vec<u8> {
    let options = Options::read(options).expect("the options are good");
    with_context(|context| {
        message(context, Reader::Password(b"pw"), &options, (b't', data)).expect("it is written")
    })
}

/// What `pgp_sym_encrypt` of PostgreSQL 15.20 gave for these options, of `hello` with the password `pw`.
const OF_POSTGRESQL: [(&str, &str); 3] = [
    (
        "",
        "c30d04070302b38e11748bdd63e763d2360159e31f3e87ee0b561321e56074b6da01056a23f7ce0593ebbe1ce97d1748a55d45f2134b89b77b18181c47e06d84f7ea3cbc6f3d10",
    ),
    (
        "cipher-algo=aes256,compress-algo=2,s2k-mode=1,s2k-digest-algo=sha256,unicode-mode=1",
        "c30c040901089c9ac0be6831e5e4d24101ef9ad48a7bda811b129f181054af3c68dd40c381a71c2651917aece12b28249fed3281c5e72ad752ba320e915c07513c36a6a9b5d313b4165351894273603eb0",
    ),
    (
        "disable-mdc=1,sess-key=1,cipher-algo=3des,compress-algo=1",
        "c3260402030287193604f9cef58a73fa07a980b5cefa5782eb2ba9f8d6ddc20429f718e063510251c91c46190e697ec3ddce040670b46f9a4b28cf76be9b84eecd1eb5bd1eec",
    ),
];

#[test]
fn messages_of_postgresql_are_read() {
    for (options, message) in OF_POSTGRESQL {
        let (kind, data, is) = read(&hex(message), "pw").expect("it is read");
        let wanted = Options::read(options).expect("the options are good");
        assert_eq!(data, b"hello", "{options}");
        assert_eq!(kind == b'u', wanted.unicode, "{options}");
        let facts = |is: &Options| {
            let of_key = (is.mode, is.digest, is.session_key);
            (is.cipher, of_key, is.without_mdc, is.compression, is.unicode)
        };
        assert_eq!(facts(&is), facts(&wanted), "{options}");
        read(&hex(message), "pW").expect_err("the password is another");
    }
}

#[test]
fn what_is_written_is_read() {
    let sizes = [0, 1, 150, 190, 200, 8370, 8390, 16_377, 16_378, 16_384, 32_762, 100_000];
    for size in sizes {
        let data: Vec<u8> = (0..size).map(|at: u32| (at / 3) as u8).collect();
        for options in [
            "",
            "compress-algo=1,compress-level=0",
            "compress-algo=2,compress-level=9",
            "disable-mdc=1,cipher-algo=3des",
            "sess-key=1,s2k-cipher-algo=3des,cipher-algo=aes256,s2k-digest-algo=sha512",
            "s2k-mode=0,s2k-digest-algo=md5,cipher-algo=aes192",
            "s2k-mode=1,s2k-digest-algo=ripemd160,disable-mdc=1,sess-key=1",
            "s2k-count=1024,s2k-digest-algo=sha384,cipher-algo=aes256",
        ] {
            let message = written(options, &data);
            let read = read(&message, "pw").expect("it is read");
            assert_eq!((read.0, read.1), (b't', data.clone()), "{size}, {options}");
        }
    }
}

/// As long as PostgreSQL's: what is around the data, by the data's size.
#[test]
fn messages_are_as_long_as_those_of_postgresql() {
    for (size, around) in [
        (0, 66),
        (150, 67),
        (185, 67),
        (186, 68),
        (8330, 68),
        (8340, 71),
        (8380, 74),
        (16_340, 71),
        (16_377, 71),
        (16_378, 68),
        (32_700, 76),
        (32_752, 73),
        (32_768, 70),
        (100_000, 80),
    ] {
        assert_eq!(written("", &vec![b'x'; size]).len() - size, around, "{size}");
    }
}

/// An intact message says so: there is no byte that may be another one, or be missing.
#[test]
fn what_is_not_intact_is_refused() {
    let message = written("s2k-mode=1", b"some data");
    for at in 0..message.len() {
        for bit in 0..8 {
            let mut broken = message.clone();
            broken[at] ^= 1 << bit;
            let read = read(&broken, "pw");
            assert!(read.is_err(), "byte {at}, bit {bit}");
        }
        read(&message[..at], "pw").expect_err("it is cut off");
    }
}

#[test]
fn returns_come_and_go() {
    assert_eq!(with_returns(b"a\nb\r\n"), b"a\r\nb\r\r\n");
    assert_eq!(without_returns(b"x\r\r\ny\r"), b"x\r\ny\r");
}

proptest! {
    /// Whatever the bytes are: an answer, and no panic.
    #[test]
    fn any_bytes_have_an_answer(bytes in proptest::collection::vec(any::<u8>(), 0..200), tag in 0u8..64) {
        let _answer = read(&bytes, "pw");
        let message = [&[0xC0 | tag][..], &bytes].concat();
        let _answer = read(&message, "pw");
        with_context(|context| {
            let _answer = key_id(context, &[Datum::Bytea(&message)]);
            let password = Some(&b"pw"[..]);
            for half in [Half::Public, Half::Secret(None), Half::Secret(password)] {
                let _answer = Key::of_ring(&message, half);
            }
        });
        let mut is = Options::default();
        let _answer = literal(&message, true, &mut is);
        let _answer = content(&bytes, stream(cipher::AES128, &[0; 16]).expect("it is there"), &mut is);
    }

    /// The same of texts.
    #[test]
    fn any_text_has_an_answer(text in "(-----(BEGIN|END)?( [A-Z]+)?(-----)?[\r\n]*|[a-zA-Z0-9+/=]{0,9}[\n ]?|[a-z]: [a-z]\n){0,12}") {
        with_context(|context| {
            let _answer = dearmor(context, &[Datum::Text(&text)]);
            let _answer = armor_headers(&[Datum::Text(&text)], &mut |_| Ok(true));
            let _answer = Options::read(&text);
        });
    }
}
