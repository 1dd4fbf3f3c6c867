//! A device that reads from another one and keeps every change to itself, in memory.
//!
//! The offline check recovers a directory on it: what it looks at is the state a restart would begin with, and the
//! directory stays as it was found, byte for byte. Changed blocks are kept whole; what was not changed takes no memory.

use super::{Device, File};
use crate::sync::{Arc, Mutex, lock};
use crate::{Error, Result};
use std::collections::BTreeMap;
use std::io::ErrorKind;

/// What is kept of a change: the block it lies in.
const BLOCK_BYTES: u64 = 4096;

/// Another device's contents, with changes of its own.
pub struct OverlayDevice {
    base: Arc<dyn Device>,
    names: Mutex<BTreeMap<String, Arc<Overlaid>>>,
}

struct Overlaid {
    base: Option<Arc<dyn File>>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    bytes: u64,
    /// The base's bytes from here on are not seen: it was cut off there.
    base_bytes: u64,
    blocks: BTreeMap<u64, Box<[u8]>>,
}

impl OverlayDevice {
    /// What `base` holds now, to be changed without changing it. Nobody else may change it meanwhile.
    ///
    /// # Errors
    /// I/O.
    pub fn new(base: Arc<dyn Device>) -> Result<OverlayDevice> {
        let mut names = BTreeMap::new();
        for name in base.list("")? {
            let file = base.open(&name, false)?;
            let bytes = file.len()?;
            let state = Mutex::new(State { bytes, base_bytes: bytes, blocks: BTreeMap::new() });
            names.insert(name, Arc::new(Overlaid { base: Some(file), state }));
        }
        Ok(OverlayDevice { base, names: Mutex::new(names) })
    }

    /// The device below.
    #[must_use]
    pub fn base(&self) -> &Arc<dyn Device> {
        &self.base
    }
}

impl std::fmt::Debug for OverlayDevice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names: Vec<_> = lock(&self.names).keys().cloned().collect();
        f.debug_struct("OverlayDevice").field("names", &names).finish_non_exhaustive()
    }
}

fn missing(name: &str) -> Error {
    Error::Io(format!("cannot open \"{name}\""), ErrorKind::NotFound.into())
}

impl Device for OverlayDevice {
    fn open(&self, name: &str, create: bool) -> Result<Arc<dyn File>> {
        let mut names = lock(&self.names);
        if let Some(file) = names.get(name) {
            return Ok(Arc::clone(file) as Arc<dyn File>);
        }
        if !create {
            return Err(missing(name));
        }
        let file = Arc::new(Overlaid { base: None, state: Mutex::default() });
        names.insert(name.to_owned(), Arc::clone(&file));
        Ok(file)
    }

    fn list(&self, prefix: &str) -> Result<Vec<String>> {
        Ok(lock(&self.names).keys().filter(|name| name.starts_with(prefix)).cloned().collect())
    }

    fn rename(&self, from: &str, to: &str) -> Result<()> {
        let mut names = lock(&self.names);
        let file = names.remove(from).ok_or_else(|| missing(from))?;
        names.insert(to.to_owned(), file);
        Ok(())
    }

    fn remove(&self, name: &str) -> Result<()> {
        lock(&self.names).remove(name).map(drop).ok_or_else(|| missing(name))
    }

    fn sync_names(&self) -> Result<()> {
        Ok(())
    }
}

impl Overlaid {
    /// The bytes of block `number`, as the base has them.
    fn base_block(&self, number: u64, state: &State) -> Result<Box<[u8]>> {
        let mut block = vec![0; BLOCK_BYTES as usize].into_boxed_slice();
        let offset = number * BLOCK_BYTES;
        let there = state.base_bytes.saturating_sub(offset).min(BLOCK_BYTES) as usize;
        if let (Some(base), true) = (&self.base, there > 0) {
            base.read_at(offset, &mut block[..there])?;
        }
        Ok(block)
    }
}

/// The parts of `offset..offset + bytes` by block: its number, where in it, and how many bytes.
fn pieces(offset: u64, bytes: usize) -> impl Iterator<Item = (u64, usize, usize)> {
    let end = offset + bytes as u64;
    let blocks = offset / BLOCK_BYTES..end.div_ceil(BLOCK_BYTES);
    blocks.map(move |number| {
        let from = offset.max(number * BLOCK_BYTES);
        let to = end.min((number + 1) * BLOCK_BYTES);
        (number, (from % BLOCK_BYTES) as usize, (to - from) as usize)
    })
}

impl File for Overlaid {
    fn read_at(&self, offset: u64, into: &mut [u8]) -> Result<()> {
        let state = lock(&self.state);
        if offset + into.len() as u64 > state.bytes {
            let short = std::io::Error::new(ErrorKind::UnexpectedEof, "read past the end");
            return Err(Error::Io("overlay".to_owned(), short));
        }
        let mut rest = into;
        for (number, from, bytes) in pieces(offset, rest.len()) {
            let (piece, later) = rest.split_at_mut(bytes);
            match state.blocks.get(&number) {
                Some(block) => piece.copy_from_slice(&block[from..from + bytes]),
                None => piece.copy_from_slice(&self.base_block(number, &state)?[from..][..bytes]),
            }
            rest = later;
        }
        Ok(())
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> Result<()> {
        let mut state = lock(&self.state);
        let mut rest = bytes;
        for (number, from, bytes) in pieces(offset, rest.len()) {
            let (piece, later) = rest.split_at(bytes);
            if !state.blocks.contains_key(&number) {
                let block = self.base_block(number, &state)?;
                state.blocks.insert(number, block);
            }
            let block = state.blocks.get_mut(&number).expect("it was put there above");
            block[from..from + bytes].copy_from_slice(piece);
            rest = later;
        }
        state.bytes = state.bytes.max(offset + bytes.len() as u64);
        Ok(())
    }

    fn sync(&self) -> Result<()> {
        Ok(())
    }

    fn len(&self) -> Result<u64> {
        Ok(lock(&self.state).bytes)
    }

    fn set_len(&self, bytes: u64) -> Result<()> {
        let mut state = lock(&self.state);
        if bytes < state.bytes {
            // What lies behind the cut is zero if the file grows again.
            state.base_bytes = state.base_bytes.min(bytes);
            state.blocks.split_off(&bytes.div_ceil(BLOCK_BYTES));
            if let Some(block) = state.blocks.get_mut(&(bytes / BLOCK_BYTES)) {
                block[(bytes % BLOCK_BYTES) as usize..].fill(0);
            }
        }
        state.bytes = bytes;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::OverlayDevice;
    use crate::device::faulty::FaultyDevice;
    use crate::device::{Device, File};
    use crate::sync::Arc;
    use proptest::prelude::*;

    #[derive(Clone, Debug)]
    enum Step {
        Write(u64, Vec<u8>),
        SetLen(u64),
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            (0u64..12_000, proptest::collection::vec(any::<u8>(), 1..6000))
                .prop_map(|(offset, bytes)| Step::Write(offset, bytes)),
            (0u64..16_000).prop_map(Step::SetLen),
        ]
    }

    fn whole(file: &dyn File) -> Vec<u8> {
        let mut bytes = vec![0; file.len().unwrap() as usize];
        file.read_at(0, &mut bytes).unwrap();
        bytes
    }

    proptest! {
        /// Beside the RAM device with the same contents and the same changes; the base stays as it was.
        #[test]
        fn it_is_the_other_device_and_leaves_it_alone(
            first in proptest::collection::vec(any::<u8>(), 0..10_000),
            steps in proptest::collection::vec(step(), 1..12),
        ) {
            let (base, model) = (Arc::new(FaultyDevice::new(1)), FaultyDevice::new(1));
            for device in [&*base, &model] {
                device.open("data", true).unwrap().write_at(0, &first).unwrap();
            }
            let below = Arc::clone(&base) as Arc<dyn Device>;
            let overlay = OverlayDevice::new(below).unwrap();
            let (mine, other) = (overlay.open("data", false).unwrap(), model.open("data", false).unwrap());
            for step in steps {
                for file in [&mine, &other] {
                    match &step {
                        Step::Write(offset, bytes) => file.write_at(*offset, bytes).unwrap(),
                        Step::SetLen(bytes) => file.set_len(*bytes).unwrap(),
                    }
                }
                prop_assert_eq!(whole(&*mine), whole(&*other));
            }
            prop_assert_eq!(whole(&*base.open("data", false).unwrap()), first);
        }
    }

    #[test]
    fn names_change_above_and_not_below() {
        let base = Arc::new(FaultyDevice::new(1));
        for name in ["a", "b"] {
            base.open(name, true).unwrap().write_at(0, name.as_bytes()).unwrap();
        }
        let overlay = OverlayDevice::new(Arc::clone(&base) as Arc<dyn Device>).unwrap();
        overlay.rename("a", "c").unwrap();
        overlay.remove("b").unwrap();
        overlay.open("log/1", true).unwrap();
        overlay.sync_names().unwrap();
        assert_eq!(overlay.list("").unwrap(), ["c", "log/1"]);
        assert_eq!(whole(&*overlay.open("c", false).unwrap()), b"a");
        assert!(overlay.open("a", false).is_err());
        assert_eq!(overlay.base().list("").unwrap(), ["a", "b"]);
    }
}
