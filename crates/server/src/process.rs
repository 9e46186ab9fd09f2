//! The process: its user, what it makes, how many files it may open.

use std::ffi::CString;

use crate::datadir::own_user;
use crate::error::ServerError;

/// Files that are made from here on are nobody else's business, and each connection is a file descriptor: the usual soft
/// limit of 1024 is for programs with few.
#[expect(unsafe_code, reason = "umask and setrlimit have no wrappers in std")]
pub(crate) fn prepare_process() {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: umask takes a number and cannot fail; the other two get a valid pointer to a struct that lives across
    // them. Nothing else of ours is touched.
    unsafe {
        libc::umask(0o077);
        if libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) == 0 {
            limit.rlim_cur = limit.rlim_max;
            libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit);
        }
    }
}

/// Becomes the user that the setting `user` names, if root has started the process; whether it has. As in MySQL, others stay who they are.
///
/// Before there is a second thread: the rights of all threads are to be the same.
pub(crate) fn become_user(name: &str) -> Result<bool, ServerError> {
    match own_user() {
        _ if name.is_empty() || name == "root" => Ok(false),
        Some(0) => change_user(name).map(|()| true),
        _ => Ok(false),
    }
}

#[expect(unsafe_code, reason = "the calls that change a process's user have no wrappers in std")]
fn change_user(name: &str) -> Result<(), ServerError> {
    let failed = |what: &str| {
        let error = std::io::Error::last_os_error();
        ServerError::Setting(format!("cannot run as the user '{name}' (setting user): {what}: {error}"))
    };
    let Ok(c_name) = CString::new(name) else { return Err(failed("the name")) };
    // SAFETY: the name ends with a NUL and lives across the calls; there is one thread, so nobody else uses the buffer of getpwnam, of which
    // the two numbers are copied at once. The others take numbers.
    unsafe {
        let found = libc::getpwnam(c_name.as_ptr());
        if found.is_null() {
            return Err(ServerError::Setting(format!("there is no user '{name}' (setting user)")));
        }
        let (user, group) = ((*found).pw_uid, (*found).pw_gid);
        if libc::initgroups(c_name.as_ptr(), group) != 0 {
            return Err(failed("initgroups"));
        }
        if libc::setgid(group) != 0 {
            return Err(failed("setgid"));
        }
        if libc::setuid(user) != 0 {
            return Err(failed("setuid"));
        }
    }
    Ok(())
}
