//! What every suite needs: servers under test, and what to compare them with.
