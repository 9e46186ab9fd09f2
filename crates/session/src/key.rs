//! The server's RSA key, with which clients encrypt a password on an open stream (`caching_sha2_password`'s full path).
//!
//! It is made when the first client asks for it, on a thread of its own because that takes a while, and kept in the data
//! directory as `private_key.pem` and `public_key.pem`, as MySQL does.

use std::sync::Arc;

use event_listener::Event;
use io::{Env, IoBuf, OpenOptions, Random};
use parking_lot::Mutex;
use rsa::pkcs8::{DecodePrivateKey, DecodePublicKey, EncodePrivateKey, EncodePublicKey, LineEnding};
use rsa::{Oaep, RsaPrivateKey, RsaPublicKey};

const KEY_BITS: usize = 2048;
const PRIVATE_FILE: &str = "private_key.pem";
const PUBLIC_FILE: &str = "public_key.pem";

/// A key and its public half as clients get it.
pub struct PasswordKey {
    private: RsaPrivateKey,
    public_pem: String,
}

impl PasswordKey {
    fn new(private: RsaPrivateKey) -> Result<Self, String> {
        let public_pem = private.to_public_key().to_public_key_pem(LineEnding::LF).map_err(|e| e.to_string())?;
        Ok(PasswordKey { private, public_pem })
    }

    /// The public half.
    pub fn public_pem(&self) -> &str {
        &self.public_pem
    }

    /// What a client encrypted; `None` if it was not with this key.
    pub fn decrypt(&self, message: &[u8]) -> Option<Vec<u8>> {
        self.private.decrypt(Oaep::new::<sha1::Sha1>(), message).ok()
    }
}

/// The client's side: encrypts for the owner of this public key (PEM).
pub fn encrypt(random: &Arc<dyn Random>, public_pem: &str, message: &[u8]) -> Result<Vec<u8>, String> {
    let key = RsaPublicKey::from_public_key_pem(public_pem.trim()).map_err(|e| e.to_string())?;
    key.encrypt(&mut Rng(random.clone()), Oaep::new::<sha1::Sha1>(), message).map_err(|e| e.to_string())
}

/// The key, made or read when it is first needed.
pub struct KeyHolder {
    env: Env,
    state: Mutex<KeyState>,
    made: Event,
}

enum KeyState {
    Unused,
    Making,
    Ready(Arc<PasswordKey>),
    Failed(String),
}

impl KeyHolder {
    /// Nothing is done before [`KeyHolder::get`].
    pub fn new(env: Env) -> Arc<Self> {
        Arc::new(KeyHolder { env, state: Mutex::new(KeyState::Unused), made: Event::new() })
    }

    /// The key, or why there is none.
    pub async fn get(self: &Arc<Self>) -> Result<Arc<PasswordKey>, String> {
        loop {
            let listener = self.made.listen();
            if let Some(answer) = self.state_or_start() {
                return answer;
            }
            listener.await;
        }
    }

    fn state_or_start(self: &Arc<Self>) -> Option<Result<Arc<PasswordKey>, String>> {
        let mut state = self.state.lock();
        match &*state {
            KeyState::Ready(key) => return Some(Ok(key.clone())),
            KeyState::Failed(why) => return Some(Err(why.clone())),
            KeyState::Making => return None,
            KeyState::Unused => *state = KeyState::Making,
        }
        drop(state);
        let this = self.clone();
        self.env.spawner.spawn_thread(
            "rsa-key",
            Box::pin(async move {
                let made = this.read_or_make().await;
                *this.state.lock() = match made {
                    Ok(key) => KeyState::Ready(Arc::new(key)),
                    Err(why) => {
                        tracing::error!("no RSA key for caching_sha2_password: {why}");
                        KeyState::Failed(why)
                    }
                };
                this.made.notify(usize::MAX);
            }),
        );
        None
    }

    async fn read_or_make(&self) -> Result<PasswordKey, String> {
        if let Some(pem) = self.read(PRIVATE_FILE).await.map_err(|e| e.to_string())? {
            let private = RsaPrivateKey::from_pkcs8_pem(&pem).map_err(|e| format!("{PRIVATE_FILE}: {e}"))?;
            return PasswordKey::new(private);
        }
        let mut rng = Rng(self.env.random.clone());
        let private = RsaPrivateKey::new(&mut rng, KEY_BITS).map_err(|e| e.to_string())?;
        let pem = private.to_pkcs8_pem(LineEnding::LF).map_err(|e| e.to_string())?;
        let key = PasswordKey::new(private)?;
        self.write(PRIVATE_FILE, &pem).await.map_err(|e| format!("{PRIVATE_FILE}: {e}"))?;
        self.write(PUBLIC_FILE, key.public_pem()).await.map_err(|e| format!("{PUBLIC_FILE}: {e}"))?;
        Ok(key)
    }

    async fn read(&self, name: &str) -> std::io::Result<Option<String>> {
        if !self.env.disk.exists(name).await? {
            return Ok(None);
        }
        let file = self.env.disk.open(name, OpenOptions::default()).await?;
        let len = file.len().await? as usize;
        let bytes = file.read_at(0, IoBuf::zeroed(len)).await?;
        Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
    }

    /// Under another name first: a half-written key must not be found at the next start.
    async fn write(&self, name: &str, text: &str) -> std::io::Result<()> {
        let new = format!("{name}.new");
        let options = OpenOptions { create: true, write: true, ..OpenOptions::default() };
        let file = self.env.disk.open(&new, options).await?;
        file.set_len(0).await?;
        file.write_at(0, IoBuf::copy_of(text.as_bytes())).await?;
        file.sync().await?;
        self.env.disk.rename(&new, name).await?;
        self.env.disk.sync_dir("").await
    }
}

/// The environment's random bytes, as the RSA library wants them.
struct Rng(Arc<dyn Random>);

impl rsa::rand_core::RngCore for Rng {
    fn next_u32(&mut self) -> u32 {
        rsa::rand_core::impls::next_u32_via_fill(self)
    }

    fn next_u64(&mut self) -> u64 {
        rsa::rand_core::impls::next_u64_via_fill(self)
    }

    fn fill_bytes(&mut self, dest: &mut [u8]) {
        self.0.fill(dest);
    }

    fn try_fill_bytes(&mut self, dest: &mut [u8]) -> Result<(), rsa::rand_core::Error> {
        self.fill_bytes(dest);
        Ok(())
    }
}

impl rsa::rand_core::CryptoRng for Rng {}
