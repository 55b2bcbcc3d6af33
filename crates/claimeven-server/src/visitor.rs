//! Visitors: browsers, identified by a signed cookie.
//!
//! The cookie is signed here with RustCrypto's HMAC: the signed jar of the `cookie` crate would bring
//! second versions of `hmac`, `sha2` and `rand`, and a library for dates, for these few lines.

use std::fmt;

use axum::http::HeaderMap;
use axum::http::header::COOKIE;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

/// A browser, by a random number that only it and the server know.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct Visitor(String);

impl Visitor {
    /// A new visitor.
    pub(crate) fn random() -> Visitor {
        Visitor(random_hex::<16>())
    }

    /// A visitor from the stored text.
    pub(crate) fn stored(text: String) -> Visitor {
        Visitor(text)
    }

    /// The text to store. It is a credential: only the visitor's own cookie may contain it.
    pub(crate) fn secret(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Visitor {
    /// Keeps the secret out of the logs.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Visitor(…)")
    }
}

/// Signs and verifies the visitors' cookies.
#[derive(Clone)]
pub(crate) struct Signer {
    key: Hmac<Sha256>,
    secure: bool,
}

/// The name of the cookie.
const NAME: &str = "claimeven";

/// 400 days, the longest that browsers keep a cookie.
const SECONDS: u32 = 400 * 24 * 60 * 60;

impl Signer {
    /// A signer with a key; `secure` cookies are sent over HTTPS only.
    pub(crate) fn new(secret: &str, secure: bool) -> Signer {
        let key = Hmac::new_from_slice(secret.as_bytes()).expect("a key may have any length");
        Signer { key, secure }
    }

    /// The `Set-Cookie` header of a visitor.
    pub(crate) fn cookie(&self, visitor: &Visitor) -> String {
        let Visitor(id) = visitor;
        let signature = hex(&self.mac(id).finalize().into_bytes());
        let secure = if self.secure { "; Secure" } else { "" };
        format!(
            "{NAME}={id}.{signature}; Path=/; Max-Age={SECONDS}; HttpOnly; SameSite=Lax{secure}"
        )
    }

    /// The visitor of a request, if its cookie has a valid signature.
    pub(crate) fn visitor(&self, headers: &HeaderMap) -> Option<Visitor> {
        let cookies = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
        let mut cookies = cookies.flat_map(|value| value.split(';'));
        cookies.find_map(|cookie| {
            let (id, signature) =
                cookie.trim().strip_prefix(NAME)?.strip_prefix('=')?.split_once('.')?;
            let signature = from_hex(signature)?;
            self.mac(id).verify_slice(&signature).ok()?;
            Some(Visitor(id.to_owned()))
        })
    }

    fn mac(&self, id: &str) -> Hmac<Sha256> {
        let mut mac = self.key.clone();
        mac.update(id.as_bytes());
        mac
    }
}

/// Cryptographically random bytes in hexadecimal.
pub(crate) fn random_hex<const BYTES: usize>() -> String {
    hex(&random_bytes::<BYTES>())
}

/// A random id, short enough to be read aloud and too long to be guessed.
pub(crate) fn random_name() -> String {
    const LETTERS: &[u8; 32] = b"abcdefghijkmnpqrstuvwxyz23456789";
    let letter = |byte: &u8| char::from(LETTERS[usize::from(byte % 32)]);
    random_bytes::<10>().iter().map(letter).collect()
}

fn random_bytes<const BYTES: usize>() -> [u8; BYTES] {
    let mut bytes = [0; BYTES];
    getrandom::fill(&mut bytes).expect("the system gives random numbers");
    bytes
}

/// Bytes in hexadecimal.
pub(crate) fn hex(bytes: &[u8]) -> String {
    use fmt::Write;
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn from_hex(text: &str) -> Option<Vec<u8>> {
    if !text.len().is_multiple_of(2) || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).ok()).collect()
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    fn headers(cookie: &str) -> HeaderMap {
        HeaderMap::from_iter([(COOKIE, HeaderValue::from_str(cookie).unwrap())])
    }

    #[test]
    fn a_cookie_is_known_again_among_others_and_a_changed_one_is_not() {
        let signer = Signer::new("secret", false);
        let visitor = Visitor::random();
        let cookie = signer.cookie(&visitor);
        let value = cookie.split(';').next().unwrap();
        assert_eq!(signer.visitor(&headers(value)), Some(visitor.clone()));
        assert_eq!(signer.visitor(&headers(&format!("a=b; {value}; c=d"))), Some(visitor));

        let other = value.replacen(value.chars().nth(10).unwrap(), "x", 1);
        for wrong in [&other[..], &value[..value.len() - 1], "claimeven=", "claimeven=a.b", "x"] {
            assert_eq!(signer.visitor(&headers(wrong)), None, "{wrong}");
        }
        assert_eq!(Signer::new("another", false).visitor(&headers(value)), None);
    }
}
