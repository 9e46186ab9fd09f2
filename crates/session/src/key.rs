//! The server's RSA key, with which clients encrypt a password on an open stream (`caching_sha2_password`'s full path).
//!
//! It is made when the first client asks for it, on a thread of its own because that takes a while, and kept in the data
//! directory as `private_key.pem` and `public_key.pem`, as MySQL does.

use std::convert::Infallible;
use std::sync::Arc;

use event_listener::Event;
use io::{Env, IoBuf, OpenOptions, Random};
use parking_lot::Mutex;
use rsa::pkcs1::DecodeRsaPrivateKey;
use rsa::pkcs8::{DecodePrivateKey, DecodePublicKey, EncodePrivateKey, EncodePublicKey, LineEnding};
use rsa::{PrivateKey, PublicKey};
use sha1::Sha1;

const KEY_BITS: usize = 2048;
const PRIVATE_FILE: &str = "private_key.pem";
const PUBLIC_FILE: &str = "public_key.pem";

/// A key and its public half as clients get it.
pub struct PasswordKey {
    private: PrivateKey,
    public_pem: String,
    /// What hides the private operation's course from who measures its time.
    random: Arc<dyn Random>,
}

impl PasswordKey {
    fn new(private: PrivateKey, random: Arc<dyn Random>) -> Result<Self, String> {
        let public_pem = private.to_public_key().to_public_key_pem(LineEnding::LF).map_err(|e| e.to_string())?;
        Ok(PasswordKey { private, public_pem, random })
    }

    /// From a file's text: PKCS#8, as MySQL and this server write it, or PKCS#1, as an older OpenSSL wrote it for MySQL.
    fn from_pem(pem: &str, random: Arc<dyn Random>) -> Result<Self, String> {
        let pem = plain(pem);
        let private =
            PrivateKey::from_pkcs8_pem(pem).or_else(|why| PrivateKey::from_pkcs1_pem(pem).map_err(|_| why.to_string()));
        PasswordKey::new(private?, random)
    }

    /// A small one, made anew.
    #[cfg(test)]
    pub(crate) fn small(random: &Arc<dyn Random>) -> Self {
        let private = PrivateKey::new(&mut Rng(random.clone()), 1024).expect("random numbers make a key");
        PasswordKey::new(private, random.clone()).expect("a key has a public half")
    }

    /// The public half.
    pub fn public_pem(&self) -> &str {
        &self.public_pem
    }

    /// What a client encrypted; `None` if it was not with this key.
    pub fn decrypt(&self, message: &[u8]) -> Option<Vec<u8>> {
        self.private.oaep_decrypt_with_rng::<Sha1, _>(&mut Rng(self.random.clone()), message).ok()
    }
}

/// Without what stands around a PEM: line ends, and the NUL that MySQL 9.7 writes behind its keys.
fn plain(pem: &str) -> &str {
    pem.trim_matches(|c: char| c.is_whitespace() || c == '\0')
}

/// The client's side: encrypts for the owner of this public key (PEM).
pub fn encrypt(random: &Arc<dyn Random>, public_pem: &str, message: &[u8]) -> Result<Vec<u8>, String> {
    let key = PublicKey::from_public_key_pem(plain(public_pem)).map_err(|e| e.to_string())?;
    key.oaep_encrypt_with_rng::<Sha1, _>(&mut Rng(random.clone()), message).map_err(|e| e.to_string())
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
            return PasswordKey::from_pem(&pem, self.env.random.clone()).map_err(|e| format!("{PRIVATE_FILE}: {e}"));
        }
        let mut rng = Rng(self.env.random.clone());
        let private = PrivateKey::new(&mut rng, KEY_BITS).map_err(|e| e.to_string())?;
        let pem = private.to_pkcs8_pem(LineEnding::LF).map_err(|e| e.to_string())?;
        let key = PasswordKey::new(private, self.env.random.clone())?;
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

impl rsa::rand_core::TryRng for Rng {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        let mut bytes = [0; 4];
        self.0.fill(&mut bytes);
        Ok(u32::from_le_bytes(bytes))
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        let mut bytes = [0; 8];
        self.0.fill(&mut bytes);
        Ok(u64::from_le_bytes(bytes))
    }

    fn try_fill_bytes(&mut self, dst: &mut [u8]) -> Result<(), Infallible> {
        self.0.fill(dst);
        Ok(())
    }
}

impl rsa::rand_core::TryCryptoRng for Rng {}

#[cfg(test)]
mod tests {
    use rsa::pkcs1::EncodeRsaPrivateKey;

    use super::*;

    #[test]
    fn keys_of_both_formats_decrypt_what_was_encrypted_for_them() {
        let random: Arc<dyn Random> = Arc::new(io::os::OsRandom);
        let private = PrivateKey::new(&mut Rng(random.clone()), 1024).unwrap();
        let pems = [private.to_pkcs8_pem(LineEnding::LF).unwrap(), private.to_pkcs1_pem(LineEnding::CRLF).unwrap()];
        for pem in pems {
            let key = PasswordKey::from_pem(&format!("{}\0", *pem), random.clone()).unwrap();
            let message = encrypt(&random, &format!("\n{}\n\0", key.public_pem()), b"s3cret\0").unwrap();
            assert_eq!(key.decrypt(&message).as_deref(), Some(&b"s3cret\0"[..]));
            assert_eq!(key.decrypt(&message[1..]), None);
        }
        assert!(PasswordKey::from_pem("no key", random).is_err());
    }
}
