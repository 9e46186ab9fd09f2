//! What holds of accounts that say nothing themselves: passwords and roles.

use super::*;

settings! {
    accounts: AccountSettings;

    activate_all_roles_on_login: bool = global(BOOL, "OFF")
        .doc("A login activates all roles of its account, not its default ones.");
    default_password_lifetime: u16 = global(uint(0, 65535), "0")
        .doc("Days after which passwords expire, of accounts that say nothing themselves (PASSWORD EXPIRE DEFAULT); 0 for never.");
    mandatory_roles: Text = global(TEXT, "").doc("Roles that every account has, with commas between.");
    partial_revokes: bool = global(BOOL, "OFF")
        .doc("REVOKE on a database takes there what an account has on everything.");
    password_history: u32 = global(U32, "0")
        .doc("How many of its last passwords an account may not use again, if it says nothing itself (PASSWORD HISTORY DEFAULT).");
    password_require_current: bool = global(BOOL, "OFF")
        .doc("Who changes the own password has to say the current one (REPLACE), if the account says nothing itself (PASSWORD REQUIRE CURRENT DEFAULT).");
    password_reuse_interval: u32 = global(U32, "0")
        .doc("For how many days an account may not use a password again, if it says nothing itself (PASSWORD REUSE INTERVAL DEFAULT).");
}
