//! Which roles are active in which session, for KILL: it asks what another session than its own may do.

use std::collections::HashMap;
use std::sync::Arc;

use base::ConnectionId;
use parking_lot::Mutex;

use crate::account::ActiveRoles;
use crate::parse::ast::UserName;

/// The active roles of all sessions that have any.
#[derive(Debug, Default)]
pub struct AllActiveRoles(Mutex<HashMap<ConnectionId, ActiveRoles>>);

impl AllActiveRoles {
    /// Those of one session.
    pub(super) fn of(&self, session: ConnectionId) -> ActiveRoles {
        self.0.lock().get(&session).cloned().unwrap_or_default()
    }
}

/// One session's entry, which is gone when the session is.
pub(super) struct KnownRoles {
    all: Arc<AllActiveRoles>,
    session: ConnectionId,
    is_there: bool,
}

impl KnownRoles {
    pub(super) fn new(all: Arc<AllActiveRoles>, session: ConnectionId) -> Self {
        KnownRoles { all, session, is_there: false }
    }

    /// The session has these roles from now on.
    pub(super) fn set(&mut self, roles: &[UserName]) {
        self.forget();
        if !roles.is_empty() {
            self.all.0.lock().insert(self.session, roles.to_vec());
            self.is_there = true;
        }
    }

    fn forget(&mut self) {
        if std::mem::take(&mut self.is_there) {
            self.all.0.lock().remove(&self.session);
        }
    }
}

impl Drop for KnownRoles {
    fn drop(&mut self) {
        self.forget();
    }
}
