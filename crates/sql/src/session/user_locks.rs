//! GET_LOCK and its kin: locks by name, held by sessions, apart from transactions.
//!
//! # Invariants
//! - A session's locks are gone when it is ([`HeldLocks`]) or is reset.
//! - Sessions that wait for one another in a circle do not: the last to come gets an error (3058).
//! - A wait is a task's, ends with its statement (KILL, a lost connection) and leaves nothing behind.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use base::{Cancel, SqlError, UnixMicros, codes};
use event_listener::{Event, EventListener};
use io::Env;
use parking_lot::Mutex;
use types::Value;

use crate::expr::coerce::plain_text;

/// The longest name, in characters.
const NAME_CHARS_MAX: usize = 64;

/// All locks of a server.
#[derive(Debug, Default)]
pub struct UserLocks {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    locks: HashMap<String, Lock>,
    /// For what each session waits.
    waiting: HashMap<u32, String>,
}

#[derive(Debug, Default)]
struct Lock {
    /// The session, and how often it took it; `None` while it passes on to one that waits.
    holder: Option<(u32, u64)>,
    waiters: usize,
    freed: Arc<Event>,
}

/// Releases the locks of a session when it goes.
pub(crate) struct HeldLocks {
    pub(crate) locks: Arc<UserLocks>,
    pub(crate) session: u32,
}

impl Drop for HeldLocks {
    fn drop(&mut self) {
        self.locks.release_all(self.session);
    }
}

/// A session in line for a lock.
struct Waiter<'a> {
    locks: &'a UserLocks,
    name: &'a str,
    session: u32,
}

impl Drop for Waiter<'_> {
    fn drop(&mut self) {
        let mut state = self.locks.state.lock();
        state.waiting.remove(&self.session);
        if let Some(lock) = state.locks.get_mut(self.name) {
            lock.waiters -= 1;
        }
        state.forget_unused(self.name);
    }
}

/// What an attempt came to.
enum Attempt {
    Taken,
    Wait(EventListener),
}

impl State {
    fn forget_unused(&mut self, name: &str) {
        if self.locks.get(name).is_some_and(|lock| lock.holder.is_none() && lock.waiters == 0) {
            self.locks.remove(name);
        }
    }

    /// Whether the holder of `name` waits, maybe through others, for `session`.
    fn closes_circle(&self, name: &str, session: u32) -> bool {
        let mut name = name;
        // Each session waits for one lock, so this is a path; it ends, or meets the session.
        for _ in 0..=self.waiting.len() {
            match self.locks.get(name).and_then(|lock| lock.holder) {
                Some((holder, _)) if holder == session => return true,
                Some((holder, _)) => match self.waiting.get(&holder) {
                    Some(next) => name = next,
                    None => return false,
                },
                None => return false,
            }
        }
        false
    }
}

impl UserLocks {
    /// One of the functions, for a session.
    pub(crate) async fn call(
        &self,
        function: &str,
        args: &[Value],
        session: u32,
        env: &Env,
        cancel: &Cancel,
    ) -> Result<Value, SqlError> {
        if function == "release_all_locks" {
            return Ok(Value::UInt(self.release_all(session)));
        }
        let name = name_of(args.first())?;
        match function {
            "get_lock" => {
                let seconds = args.get(1).map_or(0.0, seconds);
                // Less than nothing is for ever.
                let timeout = (seconds >= 0.0).then(|| Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX));
                Ok(Value::from(self.get(&name, session, timeout, env, cancel).await?))
            }
            "release_lock" => Ok(self.release(&name, session).map_or(Value::Null, Value::from)),
            "is_free_lock" => Ok(Value::from(self.holder(&name).is_none())),
            _ => Ok(self.holder(&name).map_or(Value::Null, |holder| Value::UInt(u64::from(holder)))),
        }
    }

    fn holder(&self, name: &str) -> Option<u32> {
        self.state.lock().locks.get(name)?.holder.map(|(holder, _)| holder)
    }

    async fn get(
        &self,
        name: &str,
        session: u32,
        timeout: Option<Duration>,
        env: &Env,
        cancel: &Cancel,
    ) -> Result<bool, SqlError> {
        if self.try_take(name, session) {
            return Ok(true);
        }
        let until = timeout.map(|timeout| {
            let micros = u64::try_from(timeout.as_micros()).unwrap_or(u64::MAX);
            UnixMicros(env.clock.now().0.saturating_add(micros))
        });
        let _waiter = self.begin_to_wait(name, session)?;
        loop {
            let Attempt::Wait(freed) = self.take_or_listen(name, session) else { return Ok(true) };
            let left = until.map(|until| Duration::from_micros(until.0.saturating_sub(env.clock.now().0)));
            if left.is_some_and(|left| left.is_zero()) {
                return Ok(false);
            }
            let freed = async {
                freed.await;
                Ok(())
            };
            let timed_out = async {
                match left {
                    Some(left) => env.clock.sleep(left).await,
                    None => std::future::pending().await,
                }
                Ok(())
            };
            let cancelled = async {
                cancel.cancelled().await;
                Err(SqlError::new(codes::QUERY_INTERRUPTED, "Query execution was interrupted"))
            };
            futures_lite::future::or(cancelled, futures_lite::future::or(freed, timed_out)).await?;
        }
    }

    fn try_take(&self, name: &str, session: u32) -> bool {
        let mut state = self.state.lock();
        let lock = state.locks.entry(name.to_owned()).or_default();
        match &mut lock.holder {
            Some((holder, times)) if *holder == session => *times += 1,
            Some(_) => return false,
            None => lock.holder = Some((session, 1)),
        }
        true
    }

    fn begin_to_wait<'a>(&'a self, name: &'a str, session: u32) -> Result<Waiter<'a>, SqlError> {
        const USER_LOCK_DEADLOCK: codes::Code = (3058, "HY000");
        let mut state = self.state.lock();
        if state.closes_circle(name, session) {
            let message = "Deadlock found when trying to get user-level lock; try rolling back \
                           transaction/releasing locks and restarting lock acquisition.";
            return Err(SqlError::new(USER_LOCK_DEADLOCK, message));
        }
        state.waiting.insert(session, name.to_owned());
        state.locks.entry(name.to_owned()).or_default().waiters += 1;
        Ok(Waiter { locks: self, name, session })
    }

    fn take_or_listen(&self, name: &str, session: u32) -> Attempt {
        let mut state = self.state.lock();
        let lock = state.locks.entry(name.to_owned()).or_default();
        if lock.holder.is_none() {
            lock.holder = Some((session, 1));
            return Attempt::Taken;
        }
        Attempt::Wait(lock.freed.listen())
    }

    /// Whether the session held it; `None` if nobody does.
    fn release(&self, name: &str, session: u32) -> Option<bool> {
        let mut state = self.state.lock();
        let lock = state.locks.get_mut(name)?;
        let (holder, times) = lock.holder.as_mut()?;
        if *holder != session {
            return Some(false);
        }
        *times -= 1;
        if *times == 0 {
            lock.holder = None;
            lock.freed.notify(1);
            state.forget_unused(name);
        }
        Some(true)
    }

    /// How often the session had taken the locks that it held.
    pub(crate) fn release_all(&self, session: u32) -> u64 {
        let mut state = self.state.lock();
        let mut released = 0;
        for lock in state.locks.values_mut() {
            if let Some((_, times)) = lock.holder.filter(|(holder, _)| *holder == session) {
                released += times;
                lock.holder = None;
                lock.freed.notify(1);
            }
        }
        state.locks.retain(|_, lock| lock.holder.is_some() || lock.waiters > 0);
        released
    }
}

/// Names are equal without regard to case; 3057 if it is none.
fn name_of(value: Option<&Value>) -> Result<String, SqlError> {
    const USER_LOCK_WRONG_NAME: codes::Code = (3057, "42000");
    let wrong = |name: &str| SqlError::new(USER_LOCK_WRONG_NAME, format!("Incorrect user-level lock name '{name}'."));
    let Some(value) = value.filter(|value| !value.is_null()) else { return Err(wrong("NULL")) };
    let text = plain_text(value, types::value::NOT_FIXED);
    let name = String::from_utf8_lossy(&text).into_owned();
    if name.is_empty() || name.chars().count() > NAME_CHARS_MAX {
        return Err(wrong(&name));
    }
    Ok(name.to_lowercase())
}

fn seconds(value: &Value) -> f64 {
    let text = plain_text(value, types::value::NOT_FIXED);
    types::number::parse_f64(&text).0.round()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_circle_is_refused() {
        let locks = UserLocks::default();
        assert!(locks.try_take("a", 1) && locks.try_take("b", 2) && locks.try_take("c", 3));
        let first = locks.begin_to_wait("b", 1).ok();
        let second = locks.begin_to_wait("c", 2).ok();
        assert!(first.is_some() && second.is_some());
        assert_eq!(locks.begin_to_wait("a", 3).err().map(|error| error.code), Some(3058));
        drop(first);
        assert!(locks.begin_to_wait("a", 3).is_ok());
    }

    #[test]
    fn nothing_is_left_behind() {
        let locks = Arc::new(UserLocks::default());
        let held = HeldLocks { locks: locks.clone(), session: 1 };
        assert!(locks.try_take("a", 1) && locks.try_take("a", 1) && !locks.try_take("a", 2));
        let waiter = locks.begin_to_wait("a", 2).ok();
        let Attempt::Wait(freed) = locks.take_or_listen("a", 2) else { panic!("it is held") };
        drop(held);
        futures_lite::future::block_on(freed);
        assert!(matches!(locks.take_or_listen("a", 2), Attempt::Taken));
        drop(waiter);
        assert_eq!(locks.holder("a"), Some(2));
        assert_eq!(locks.release("a", 2), Some(true));
        let state = locks.state.lock();
        assert!(state.locks.is_empty() && state.waiting.is_empty());
    }
}
