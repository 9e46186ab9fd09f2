//! GET_LOCK and its kin: locks by name, held by sessions, apart from transactions.
//!
//! They are locks of the engine ([`Target::User`]), so waits, timeouts, KILL and circles are its own. Each name that a
//! session holds is one child of the session's [`LockOwner`]: taking a name needs nothing from those that are held, and
//! a wait that is given up in the middle leaves nothing. Who holds a name is noted here, for IS_USED_LOCK.
//!
//! # Invariants
//! - A session's locks are gone when it is ([`HeldLocks`]) or is reset.
//! - Of sessions that wait for one another in a circle one gets an error (3058).
//! - A name is noted only while it is held: noted after it was taken, forgotten before it is let go.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use base::{Cancel, SqlError, codes};
use engine::lock::{LockError, LockManager, LockOwner, TableMode, Target, Wait, WaitPolicy};
use parking_lot::Mutex;
use types::Value;

use crate::expr::coerce::plain_text;

/// The longest name, in characters.
const NAME_CHARS_MAX: usize = 64;
/// As long as anybody waits; less than nothing means this.
const LONGEST_WAIT: Duration = Duration::from_secs(365 * 24 * 3600);
/// What a lock that is held takes, here and in the engine: measured with 880,000 of them.
const LOCK_BYTES: u64 = 1400;

/// Which session holds a name, of all names that are held on a server.
#[derive(Debug, Default)]
pub struct UserLocks(Mutex<HashMap<String, u32>>);

impl UserLocks {
    fn holder(&self, name: &str) -> Option<u32> {
        self.0.lock().get(name).copied()
    }
}

/// The locks of one session.
pub(crate) struct HeldLocks {
    /// Declared before `owner`, so that it is dropped first.
    held: Mutex<HashMap<String, Held>>,
    /// Parent of all owners in `held`: holds nothing itself.
    owner: LockOwner,
    locks: Arc<UserLocks>,
    session: u32,
}

/// A name that is held.
struct Held {
    name: String,
    times: u64,
    locks: Arc<UserLocks>,
    _owner: LockOwner,
}

impl Drop for Held {
    fn drop(&mut self) {
        self.locks.0.lock().remove(&self.name);
    }
}

impl HeldLocks {
    pub(crate) fn new(manager: &Arc<LockManager>, locks: Arc<UserLocks>, session: u32) -> Self {
        HeldLocks { held: Mutex::default(), owner: manager.owner(), locks, session }
    }

    /// One of the functions.
    pub(crate) async fn call(&self, function: &str, args: &[Value], cancel: &Cancel) -> Result<Value, SqlError> {
        if function == "release_all_locks" {
            return Ok(Value::UInt(self.release_all()));
        }
        let name = name_of(args.first())?;
        match function {
            "get_lock" => {
                let policy = policy(args.get(1).map_or(0.0, seconds));
                Ok(Value::from(self.get(name, Wait { policy, cancel }).await?))
            }
            "release_lock" => Ok(self.release(&name).map_or(Value::Null, Value::from)),
            "is_free_lock" => Ok(Value::from(self.locks.holder(&name).is_none())),
            _ => Ok(self.locks.holder(&name).map_or(Value::Null, |holder| Value::UInt(u64::from(holder)))),
        }
    }

    /// False if the time was over first.
    async fn get(&self, name: String, wait: Wait<'_>) -> Result<bool, SqlError> {
        if let Some(held) = self.held.lock().get_mut(&name) {
            held.times += 1;
            return Ok(true);
        }
        let mut owner = self.owner.child();
        match owner.table(Target::User(&name), TableMode::Exclusive, wait).await {
            Ok(_) => {}
            Err(LockError::Timeout | LockError::NotAvailable) => return Ok(false),
            Err(LockError::Deadlock) => {
                let message = "Deadlock found when trying to get user-level lock; try rolling back \
                               transaction/releasing locks and restarting lock acquisition.";
                return Err(SqlError::new(codes::USER_LOCK_DEADLOCK, message));
            }
            Err(error) => return Err(error.into()),
        }
        self.locks.0.lock().insert(name.clone(), self.session);
        let held = Held { name: name.clone(), times: 1, locks: self.locks.clone(), _owner: owner };
        self.held.lock().insert(name, held);
        Ok(true)
    }

    /// Whether the session held it; `None` if nobody does.
    fn release(&self, name: &str) -> Option<bool> {
        let mut held = self.held.lock();
        let Some(mine) = held.get_mut(name) else { return self.locks.holder(name).map(|_| false) };
        mine.times -= 1;
        if mine.times == 0 {
            held.remove(name);
        }
        Some(true)
    }

    /// Bytes that the locks take, about.
    pub(crate) fn held_bytes(&self) -> u64 {
        self.held.lock().len() as u64 * LOCK_BYTES
    }

    /// How often the session had taken the locks that it held.
    pub(crate) fn release_all(&self) -> u64 {
        self.held.lock().drain().map(|(_, held)| held.times).sum()
    }
}

fn policy(seconds: f64) -> WaitPolicy {
    match Duration::try_from_secs_f64(seconds) {
        Ok(Duration::ZERO) => WaitPolicy::NoWait,
        Ok(timeout) => WaitPolicy::For(timeout.min(LONGEST_WAIT)),
        Err(_) => WaitPolicy::For(LONGEST_WAIT),
    }
}

/// Names are equal without regard to case; 3057 if it is none.
fn name_of(value: Option<&Value>) -> Result<String, SqlError> {
    let wrong =
        |name: &str| SqlError::new(codes::USER_LOCK_WRONG_NAME, format!("Incorrect user-level lock name '{name}'."));
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
    use std::future::Future;
    use std::pin::{Pin, pin};
    use std::task::{Context, Poll, Waker};

    use engine::lock::{LockOptions, LockStats};

    use super::*;

    fn manager() -> Arc<LockManager> {
        LockManager::new(io::sim::SimMachine::new(0).env().clock, LockOptions::default())
    }

    fn sessions<const N: usize>(manager: &Arc<LockManager>) -> [HeldLocks; N] {
        let locks = Arc::<UserLocks>::default();
        std::array::from_fn(|at| HeldLocks::new(manager, locks.clone(), at as u32 + 1))
    }

    type Got = Poll<Result<bool, u16>>;

    fn poll(future: Pin<&mut impl Future<Output = Result<bool, SqlError>>>) -> Got {
        future.poll(&mut Context::from_waker(Waker::noop())).map(|result| result.map_err(|error| error.code))
    }

    fn try_take(session: &HeldLocks, name: &str) -> Got {
        let wait = Wait { policy: WaitPolicy::NoWait, cancel: &Cancel::new() };
        poll(pin!(session.get(name.to_owned(), wait)))
    }

    const TAKEN: Got = Poll::Ready(Ok(true));

    #[test]
    fn a_circle_is_refused() {
        let manager = manager();
        let [one, two, three] = sessions(&manager);
        assert_eq!([try_take(&one, "a"), try_take(&two, "b"), try_take(&three, "c")], [TAKEN; 3]);
        let cancel = Cancel::new();
        let wait = Wait { policy: policy(-1.0), cancel: &cancel };
        let mut first = Box::pin(one.get("b".into(), wait));
        let mut second = Box::pin(two.get("c".into(), wait));
        assert!(poll(first.as_mut()).is_pending() && poll(second.as_mut()).is_pending());
        assert_eq!(poll(pin!(three.get("a".into(), wait))), Poll::Ready(Err(3058)));
        drop(first);
        assert!(poll(pin!(three.get("a".into(), wait))).is_pending());
    }

    #[test]
    fn nothing_is_left_behind() {
        let manager = manager();
        let [one, two] = sessions(&manager);
        assert_eq!(
            [try_take(&one, "a"), try_take(&one, "a"), try_take(&two, "a")],
            [TAKEN, TAKEN, Poll::Ready(Ok(false))]
        );
        let cancel = Cancel::new();
        let wait = Wait { policy: policy(10.0), cancel: &cancel };
        let mut waiter = Box::pin(two.get("a".into(), wait));
        assert!(poll(waiter.as_mut()).is_pending());
        let locks = one.locks.clone();
        drop(one);
        assert_eq!(locks.holder("a"), None);
        assert_eq!(poll(waiter.as_mut()), TAKEN);
        drop(waiter);
        assert_eq!(locks.holder("a"), Some(2));
        assert_eq!(two.release("a"), Some(true));
        assert!(locks.0.lock().is_empty());
        assert_eq!(manager.stats(), LockStats::default());
        assert_eq!(manager.waits().waits, 0, "these are no row locks");
    }
}
