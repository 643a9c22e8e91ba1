//! Locks and values that are made once: those of the standard library, and ones that wait in a loop where there is none.

#[cfg(not(feature = "std"))]
pub use bare::{LazyLock, Mutex, MutexGuard, OnceLock, lock};
#[cfg(feature = "std")]
pub use hosted::{LazyLock, Mutex, MutexGuard, OnceLock, lock};

#[cfg(feature = "std")]
mod hosted {
    use std::sync::PoisonError;
    pub use std::sync::{LazyLock, Mutex, MutexGuard, OnceLock};

    /// Takes a lock. Nothing panics while what a lock guards is half changed, so a poisoned lock is as good as any.
    pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
        mutex.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(not(feature = "std"))]
mod bare {
    pub use spin::lazy::Lazy as LazyLock;
    pub use spin::mutex::{Mutex, MutexGuard};

    /// Takes a lock.
    pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
        mutex.lock()
    }

    /// A value that is made once.
    #[derive(Debug)]
    pub struct OnceLock<T>(spin::once::Once<T>);

    impl<T> Default for OnceLock<T> {
        fn default() -> Self {
            Self::new()
        }
    }

    impl<T> OnceLock<T> {
        /// No value yet.
        pub const fn new() -> Self {
            Self(spin::once::Once::new())
        }

        /// The value, if it has been made.
        pub fn get(&self) -> Option<&T> {
            self.0.get()
        }

        /// The value, made now if it has not been.
        pub fn get_or_init(&self, make: impl FnOnce() -> T) -> &T {
            self.0.call_once(make)
        }

        /// Makes a value the one there is; gives it back if there is one.
        pub fn set(&self, value: T) -> Result<(), T> {
            let mut given = Some(value);
            // An error would be that the value had been taken, and it is asked for once.
            let _ = self.0.try_call_once(|| given.take().ok_or(()));
            given.map_or(Ok(()), Err)
        }
    }
}
