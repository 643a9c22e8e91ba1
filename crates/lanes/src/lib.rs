//! Straight-line field blocks eight lanes at a time. Under construction: nothing uses it yet.
