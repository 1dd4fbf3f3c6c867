//! Owners as far as locks in a model know them: each rests for a permit, which a wake-up gives.

use super::{Condvar, Mutex, lock};

/// The place of an owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OwnerId(pub u32);

/// One who began as the number of its place says.
#[derive(Debug)]
pub struct Owner {
    pub age: u64,
    permit: Mutex<bool>,
    changed: Condvar,
}

impl Owner {
    pub fn new(age: u64) -> Owner {
        Owner { age, permit: Mutex::new(false), changed: Condvar::new() }
    }

    pub fn age(&self) -> u64 {
        self.age
    }

    pub fn wake(&self) {
        *lock(&self.permit) = true;
        self.changed.notify_one();
    }

    pub fn rest(&self) {
        let mut permit = lock(&self.permit);
        while !*permit {
            permit = self.changed.wait(permit).expect("nobody panics");
        }
        *permit = false;
    }
}

/// All of them, by place.
#[derive(Debug)]
pub struct Owners(pub Vec<Owner>);

impl Owners {
    pub fn get(&self, owner: OwnerId) -> &Owner {
        &self.0[owner.0 as usize]
    }
}

/// A session, which may give up.
#[derive(Debug, Default)]
pub struct SessionWait {
    /// It does not wait for long.
    pub gives_up: bool,
}
