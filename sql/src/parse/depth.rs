//! Deep statements: how deep a tree may be, and stacks large enough to walk it.
//!
//! The parser counts: the nesting of its own recursion and the height of the tree it makes are both bounded, and it grows
//! the stack as it goes (`types::depth`). Everything behind it (binder, planner, compiler, the drop of a tree) recurses
//! over a tree whose height is known, so it runs on a stack that was sized for that height beforehand: [`with_stack_for`].

use crate::types::depth::PIECE;

/// The highest tree.
pub const HEIGHT_MAX: u32 = 6_000;

/// Trees up to this height are walked on the stack at hand.
const SHALLOW: u32 = 100;

/// What one level of a tree may cost a walk, in bytes: several frames, unoptimised.
const BYTES_PER_LEVEL: usize = 64 << 10;

/// Runs `f` on a stack that holds a walk over a tree of this height.
pub fn with_stack_for<R>(height: u32, f: impl FnOnce() -> R) -> R {
    if height <= SHALLOW {
        return f();
    }
    let bytes = height as usize * BYTES_PER_LEVEL;
    stacker::maybe_grow(bytes, bytes + PIECE, f)
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
