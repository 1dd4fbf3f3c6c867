//! Deep trees: how high a tree may be, and stacks large enough to walk it.
//!
//! The parser counts: the nesting of its own recursion and the height of the tree it makes are both bounded, and it grows
//! the stack as it goes (`types::depth`). Everything behind it (binder, planner, compiler, the printing, cloning and dropping
//! of a tree) recurses over trees without a check of its own. So a thread has *room* for trees up to a height, its stack was
//! sized for that beforehand, and nobody makes a higher one there: the binder adds up the heights of the texts that it opens
//! on its way (views, checks, defaults, conditions of indexes), and past the room it fails with 54001.
//!
//! Few statements are deep, and what a view brings in is known only when it has been opened. [`fitting`] therefore tries on
//! the stack at hand, with little room, and does it again on a stack for the highest tree where that was too little. What
//! cannot be done twice, as a change of the schema, begins there: [`on_full_stack`]. Outside of both the room is little.

use sql_types::depth::too_deep;
use sql_types::error::{Result, SqlError};
use sql_types::stack;
use std::cell::Cell;

/// The highest tree, with everything in it that its names stand for.
pub const HEIGHT_MAX: u32 = 6_000;

/// Trees up to this height are walked on the stack at hand.
pub const LOW: u32 = 100;

/// What one level of a tree may cost a walk, in bytes: several frames, unoptimised.
const BYTES_PER_LEVEL: usize = 64 << 10;

const _: () = assert!(HEIGHT_MAX as usize * BYTES_PER_LEVEL + stack::SMALL <= stack::LARGE);

/// How high trees may be on a thread's stack, as it is now.
#[derive(Clone, Copy)]
struct Room {
    /// The highest.
    height: u32,
    /// The heights of the texts that are being bound around this place, in all.
    used: u32,
    /// What has been put aside for what comes to stand within each other ([`take_levels`]).
    taken: u32,
    /// A tree wanted to be higher.
    wanted_more: bool,
}

thread_local! {
    static ROOM: Cell<Room> = const { Cell::new(Room { height: LOW, used: 0, taken: 0, wanted_more: false }) };
}

/// Puts the room back that was there before.
struct Before(Room);

impl Drop for Before {
    fn drop(&mut self) {
        ROOM.set(self.0);
    }
}

/// Runs `f` on a stack that holds a walk over a tree of this height.
pub fn with_stack_for<R>(height: u32, f: impl FnOnce() -> R) -> R {
    stack::with(height.max(1) as usize * BYTES_PER_LEVEL, f)
}

/// Runs `f` with room for trees of this height; says whether one wanted to be higher.
fn in_room<R>(height: u32, used: u32, f: impl FnOnce() -> R) -> (R, bool) {
    with_stack_for(height, || {
        let _before = Before(ROOM.replace(Room { height, used, taken: 0, wanted_more: false }));
        let result = f();
        (result, ROOM.get().wanted_more)
    })
}

/// Runs `f`, which binds a text of this height and walks what comes of it: on the stack at hand, and if a tree is too high
/// for that, again on a stack for the highest.
pub fn fitting<R>(height: u32, mut f: impl FnMut() -> R) -> R {
    if height <= LOW {
        let (result, wanted_more) = in_room(LOW, height, &mut f);
        if !wanted_more {
            return result;
        }
    }
    in_room(HEIGHT_MAX, height.min(HEIGHT_MAX), f).0
}

/// Runs `f` with room for the highest tree.
pub fn on_full_stack<R>(f: impl FnOnce() -> R) -> R {
    in_room(HEIGHT_MAX, 0, f).0
}

/// Runs `f`, which binds another text of this height within what is being bound.
///
/// # Errors
/// 54001 where the whole would be higher than there is room for.
pub fn within<R>(height: u32, f: impl FnOnce() -> Result<R>) -> Result<R> {
    let room = ROOM.get();
    check(room.used.saturating_add(height))?;
    ROOM.set(Room { used: room.used + height, ..ROOM.get() });
    let result = f();
    ROOM.set(Room { used: room.used, ..ROOM.get() });
    result
}

/// How many trees as high as what is being bound, of so many that are wanted, may come to stand within each other: room is
/// put aside for them, up to half of what there is.
#[must_use]
pub fn take_levels(wanted: u32) -> u32 {
    let room = ROOM.get();
    let each = if room.used == 0 { LOW } else { room.used };
    let given = wanted.min((room.height / 2).saturating_sub(room.taken) / each);
    ROOM.set(Room { taken: room.taken + given * each, ..room });
    given
}

/// Whether there is room for a tree of this height.
///
/// # Errors
/// 54001.
pub fn check(height: u32) -> Result<()> {
    let room = ROOM.get();
    if height.saturating_add(room.taken) <= room.height { Ok(()) } else { Err(too_high(room)) }
}

/// A tree that has just been read from a text within what is being bound, if there is room for it.
///
/// # Errors
/// 54001.
pub(super) fn fits<T>(tree: T, height: u32) -> Result<T> {
    let result = check(ROOM.get().used.saturating_add(height));
    if let Err(error) = result {
        drop(Deep::new(tree, height));
        return Err(error);
    }
    Ok(tree)
}

#[cold]
fn too_high(room: Room) -> SqlError {
    ROOM.set(Room { wanted_more: true, ..room });
    too_deep()
}

/// A tree of known height: it is dropped on a stack that is large enough.
#[derive(Debug)]
pub struct Deep<T> {
    tree: Option<T>,
    height: u32,
}

impl<T> Deep<T> {
    /// A tree and its height.
    pub fn new(tree: T, height: u32) -> Deep<T> {
        Deep { tree: Some(tree), height }
    }

    /// How high it is.
    #[must_use]
    pub fn height(&self) -> u32 {
        self.height
    }
}

impl<T> std::ops::Deref for Deep<T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.tree.as_ref().expect("the tree is there until the drop")
    }
}

impl<T> Drop for Deep<T> {
    fn drop(&mut self) {
        let tree = self.tree.take();
        with_stack_for(self.height, || drop(tree));
    }
}
