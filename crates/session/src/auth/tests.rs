//! Logins packet by packet, by every method, over protected and open streams.

use super::*;

const NONCE: [u8; 20] = *b"abcdefghijklmnopqrst";

struct One(Account);

impl Accounts for One {
    fn find(&self, user: &str, _: &str) -> Option<Account> {
        (self.0.user == user).then(|| self.0.clone())
    }

    fn decoy(&self, user: &str, host: &str) -> Account {
        decoy(user, host, &self.0.plugin, &self.0.authentication)
    }
}

fn account(plugin: &str, password: &[u8]) -> One {
    let hash = match plugin {
        auth::NATIVE => auth::native_hash(password),
        auth::CACHING_SHA2 => auth::sha2_hash(password, &NONCE),
        _ => String::new(),
    };
    let name = UserName { user: "root".into(), host: "localhost".into() };
    One(Account::new(&name, plugin, hash))
}

fn login(plugin: &str, answer: Vec<u8>) -> Login {
    Login {
        capabilities: capability::CLIENT,
        user: "root".into(),
        auth_plugin: plugin.into(),
        auth_answer: answer,
        ..Login::default()
    }
}

fn peer(protected: bool) -> Peer {
    Peer { host: "127.0.0.1".into(), port: 1, protected, ..Peer::default() }
}

fn code(step: &Step) -> u16 {
    match step {
        Step::Denied(error) => error.code,
        _ => 0,
    }
}

#[test]
fn native() {
    let (cache, peer, mut out) = (DigestCache::default(), peer(false), PacketWriter::new());
    let accounts = account(auth::NATIVE, b"pw");
    for (password, accepted) in [(&b"pw"[..], true), (b"no", false), (b"", false)] {
        let mut it = Authentication::new(&cache, &peer, NONCE);
        let step = it.login(&login(auth::NATIVE, auth::native_answer(password, &NONCE)), &accounts, &mut out);
        assert_eq!(matches!(step, Step::Accepted(_)), accepted);
    }
}

#[test]
fn sha2_full_path_then_fast_path() {
    let (cache, peer, mut out) = (DigestCache::default(), peer(true), PacketWriter::new());
    let accounts = account(auth::CACHING_SHA2, b"pw");
    let login = login(auth::CACHING_SHA2, auth::sha2_answer(b"pw", &NONCE));
    let mut it = Authentication::new(&cache, &peer, NONCE);
    assert_eq!(it.login(&login, &accounts, &mut out), Step::Continue);
    assert_eq!(out.bytes()[4..], [1, auth::FULL_AUTH_NEEDED]);
    assert_eq!(it.packet(b"pw\0", &mut out), Step::Accepted(Box::new(accounts.0.clone())));
    out.sent(0);
    let mut it = Authentication::new(&cache, &peer, NONCE);
    assert_eq!(it.login(&login, &accounts, &mut out), Step::Accepted(Box::new(accounts.0.clone())));
    assert_eq!(out.bytes()[4..], [1, auth::FAST_AUTH_OK]);
    // With another password the remembered digest is worth nothing.
    let changed = account(auth::CACHING_SHA2, b"other");
    let mut it = Authentication::new(&cache, &peer, NONCE);
    assert_eq!(it.login(&login, &changed, &mut out), Step::Continue);
    assert_eq!(code(&it.packet(b"pw\0", &mut out)), 1045);
}

#[test]
fn a_password_in_clear_over_an_open_stream_is_refused() {
    let (cache, peer, mut out) = (DigestCache::default(), peer(false), PacketWriter::new());
    let accounts = account(auth::CACHING_SHA2, b"pw");
    let mut it = Authentication::new(&cache, &peer, NONCE);
    it.login(&login(auth::CACHING_SHA2, auth::sha2_answer(b"pw", &NONCE)), &accounts, &mut out);
    assert_eq!(it.packet(b"pw\0", &mut out), Step::NeedKey);
    assert_eq!(code(&it.use_key(Ok(key()), &mut out)), 1045);
    let mut it = Authentication::new(&cache, &peer, NONCE);
    it.login(&login(auth::CACHING_SHA2, auth::sha2_answer(b"pw", &NONCE)), &accounts, &mut out);
    assert_eq!(it.packet(&[auth::PUBLIC_KEY_REQUEST], &mut out), Step::NeedKey);
}

fn random() -> Arc<dyn io::Random> {
    Arc::new(io::os::OsRandom)
}

fn key() -> Arc<PasswordKey> {
    Arc::new(PasswordKey::small(&random()))
}

#[test]
fn a_client_that_has_the_key_does_not_ask_for_it() {
    let (peer, mut out) = (peer(false), PacketWriter::new());
    let (accounts, key) = (account(auth::CACHING_SHA2, b"pw"), key());
    let mut answer = |password: &[u8]| {
        let cache = DigestCache::default();
        let mut it = Authentication::new(&cache, &peer, NONCE);
        it.login(&login(auth::CACHING_SHA2, auth::sha2_answer(password, &NONCE)), &accounts, &mut out);
        let hidden = auth::xor_with_nonce(&[password, b"\0"].concat(), &NONCE);
        let packet = crate::key::encrypt(&random(), key.public_pem(), &hidden).unwrap();
        assert_eq!(it.packet(&packet, &mut out), Step::NeedKey);
        it.use_key(Ok(key.clone()), &mut out)
    };
    assert_eq!(answer(b"pw"), Step::Accepted(Box::new(accounts.0.clone())));
    assert_eq!(code(&answer(b"other")), 1045);
}

#[test]
fn the_method_is_switched_to_the_accounts() {
    let (cache, peer, mut out) = (DigestCache::default(), peer(false), PacketWriter::new());
    let accounts = account(auth::NATIVE, b"pw");
    let mut it = Authentication::new(&cache, &peer, NONCE);
    assert_eq!(it.login(&login(auth::CACHING_SHA2, vec![9; 32]), &accounts, &mut out), Step::Continue);
    assert_eq!(AuthSwitch::decode(&out.bytes()[4..]).unwrap().plugin, auth::NATIVE);
    assert_eq!(it.packet(&auth::native_answer(b"pw", &NONCE), &mut out), Step::Accepted(Box::new(accounts.0.clone())));
}

#[test]
fn a_name_without_an_account_is_answered_as_one_with_it() {
    for plugin in [auth::NATIVE, auth::CACHING_SHA2] {
        for client_plugin in [auth::NATIVE, auth::CACHING_SHA2] {
            let packets = |user: &str| {
                let (cache, peer, mut out) = (DigestCache::default(), peer(true), PacketWriter::new());
                let mut it = Authentication::new(&cache, &peer, NONCE);
                let login = Login { user: user.into(), ..login(client_plugin, vec![9; 20]) };
                let mut step = it.login(&login, &account(plugin, b"pw"), &mut out);
                for _ in 0..2 {
                    if step == Step::Continue {
                        step = it.packet(&[9; 20], &mut out);
                    }
                }
                (out.bytes().to_vec(), code(&step))
            };
            assert_eq!(packets("root"), packets("absent"));
            assert_eq!(packets("absent").1, 1045);
        }
    }
}

#[test]
fn a_decoy_lets_in_by_no_password() {
    for (plugin, password) in [(auth::NATIVE, &b"pw"[..]), (auth::CACHING_SHA2, b"pw"), (auth::CACHING_SHA2, b"")] {
        let (cache, peer, mut out) = (DigestCache::default(), peer(true), PacketWriter::new());
        let mut accounts = account(plugin, password);
        if password.is_empty() {
            accounts.0.authentication.clear();
        }
        let answer = match plugin {
            auth::NATIVE => auth::native_answer(password, &NONCE),
            _ if password.is_empty() => Vec::new(),
            _ => auth::sha2_answer(password, &NONCE),
        };
        let mut it = Authentication::new(&cache, &peer, NONCE);
        let mut step = it.login(&Login { user: "absent".into(), ..login(plugin, answer) }, &accounts, &mut out);
        if step == Step::Continue {
            step = it.packet(&[password, &[0]].concat(), &mut out);
        }
        assert_eq!(code(&step), 1045);
    }
}

#[test]
fn that_an_account_is_locked_learns_its_owner() {
    for plugin in [auth::NATIVE, auth::CACHING_SHA2] {
        for (password, error) in [(&b"pw"[..], 3118), (b"no", 1045)] {
            let (cache, peer, mut out) = (DigestCache::default(), peer(true), PacketWriter::new());
            let mut accounts = account(plugin, b"pw");
            accounts.0.locked = true;
            let answer = match plugin {
                auth::NATIVE => auth::native_answer(password, &NONCE),
                _ => auth::sha2_answer(password, &NONCE),
            };
            let mut it = Authentication::new(&cache, &peer, NONCE);
            let mut step = it.login(&login(plugin, answer), &accounts, &mut out);
            if step == Step::Continue {
                step = it.packet(&[password, &[0]].concat(), &mut out);
            }
            assert_eq!(code(&step), error);
        }
    }
}

/// What a login with a password comes to, over a protected stream; and what it has shown.
fn outcome(cache: &DigestCache, accounts: &One, plugin: &str, password: &[u8]) -> (Step, Proof) {
    let (peer, mut out) = (peer(true), PacketWriter::new());
    let answer = match plugin {
        auth::NATIVE => auth::native_answer(password, &NONCE),
        _ => auth::sha2_answer(password, &NONCE),
    };
    let mut it = Authentication::new(cache, &peer, NONCE);
    let mut step = it.login(&login(plugin, answer), accounts, &mut out);
    let proof = it.tried().map(|(_, proof)| proof).unwrap_or_default();
    if step == Step::Continue {
        step = it.packet(&[password, &[0]].concat(), &mut out);
    }
    (step, proof)
}

#[test]
fn the_second_password_is_as_good_as_the_first() {
    for plugin in [auth::NATIVE, auth::CACHING_SHA2] {
        let cache = DigestCache::default();
        let mut accounts = account(plugin, b"new");
        accounts.0.second = account(plugin, b"old").0.authentication;
        for _ in 0..2 {
            for (password, accepted) in [(&b"new"[..], true), (b"old", true), (b"no", false)] {
                let (step, _) = outcome(&cache, &accounts, plugin, password);
                assert_eq!(matches!(step, Step::Accepted(_)), accepted, "{plugin}");
            }
        }
        // What is remembered of it counts no longer once it is discarded.
        accounts.0.second.clear();
        assert_eq!(code(&outcome(&cache, &accounts, plugin, b"old").0), 1045);
    }
}

#[test]
fn a_wrong_answer_is_known_before_the_login_ends() {
    let (cache, accounts) = (DigestCache::default(), account(auth::CACHING_SHA2, b"pw"));
    assert_eq!(outcome(&cache, &accounts, auth::CACHING_SHA2, b"no").1, Proof::None);
    assert!(matches!(outcome(&cache, &accounts, auth::CACHING_SHA2, b"pw").0, Step::Accepted(_)));
    // Now the fast path knows it.
    assert_eq!(outcome(&cache, &accounts, auth::CACHING_SHA2, b"no").1, Proof::Wrong);
}

#[test]
fn a_blocked_account_has_no_fast_path() {
    let (cache, failed, mut accounts) =
        (DigestCache::default(), FailedLogins::default(), account(auth::CACHING_SHA2, b"pw"));
    (accounts.0.password.attempts, accounts.0.password.lock_days) = (1, 1);
    assert!(matches!(outcome(&cache, &accounts, auth::CACHING_SHA2, b"pw").0, Step::Accepted(_)));
    let packets = |password: &[u8], now| {
        let (peer, mut out) = (peer(true), PacketWriter::new());
        let mut it = Authentication::new(&cache, &peer, NONCE).with_blocks(&failed, now);
        let step = it.login(&login(auth::CACHING_SHA2, auth::sha2_answer(password, &NONCE)), &accounts, &mut out);
        (out.bytes().to_vec(), step == Step::Continue)
    };
    assert_ne!(packets(b"pw", 5), packets(b"no", 5));
    failed.failed(Tried { account: &accounts.0, is_decoy: false }, 5);
    assert_eq!(packets(b"pw", 5), packets(b"no", 5));
}

#[test]
fn empty_passwords_are_only_for_accounts_without_one() {
    let (cache, peer, mut out) = (DigestCache::default(), peer(false), PacketWriter::new());
    for plugin in [auth::NATIVE, auth::CACHING_SHA2] {
        let mut it = Authentication::new(&cache, &peer, NONCE);
        let step = it.login(&login(plugin, Vec::new()), &account(plugin, b""), &mut out);
        assert!(matches!(step, Step::Accepted(_)));
        let step = it.login(&login(plugin, Vec::new()), &account(plugin, b"pw"), &mut out);
        assert_eq!(code(&step), 1045);
    }
}

#[test]
fn the_owner_of_a_local_socket() {
    let (cache, mut out) = (DigestCache::default(), PacketWriter::new());
    let accounts = account(SOCKET_PLUGIN, b"");
    for (is_owner, accepted) in [(true, true), (false, false)] {
        let peer = Peer { host: "localhost".into(), is_owner, protected: true, ..Peer::default() };
        let mut it = Authentication::new(&cache, &peer, NONCE);
        let step = it.login(&login(auth::CACHING_SHA2, Vec::new()), &accounts, &mut out);
        assert_eq!(matches!(step, Step::Accepted(_)), accepted);
    }
}
