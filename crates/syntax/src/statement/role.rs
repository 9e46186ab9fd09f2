//! Statements about roles.

use super::UserName;

/// GRANT and REVOKE of roles.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoleGrant {
    /// What is given or taken.
    pub roles: Vec<UserName>,
    /// TO, FROM; `None` for CURRENT_USER.
    pub users: Vec<Option<UserName>>,
    /// GRANT … WITH ADMIN OPTION.
    pub admin: bool,
    /// REVOKE IF EXISTS.
    pub if_exists: bool,
    /// REVOKE … IGNORE UNKNOWN USER.
    pub ignore_unknown: bool,
}

/// Roles out of those that an account has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RoleChoice {
    /// NONE.
    None,
    /// DEFAULT: those that a login activates.
    Default,
    /// ALL, without those of EXCEPT.
    All {
        /// EXCEPT.
        except: Vec<UserName>,
    },
    /// These.
    These(Vec<UserName>),
}

/// GRANT … AS: with whose privileges.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GrantAs {
    /// The account.
    pub user: UserName,
    /// WITH ROLE; `None` for its default ones.
    pub roles: Option<RoleChoice>,
}
