//! Visitors: browsers, identified by a signed cookie.
//!
//! The cookie is signed with RustCrypto's HMAC: the signed jar of the `cookie` crate would add
//! second versions of `hmac`, `sha2` and `rand`, and a library for dates, to replace a few lines.

use std::fmt;

use axum::http::HeaderMap;
use axum::http::header::COOKIE;
use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};

/// A browser, by the hash of the id in its cookie. Only the browser knows the id itself, so nobody
/// who reads the database can impersonate it.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct Visitor(String);

impl Visitor {
    /// The length of an id and of a key, in characters.
    pub(crate) const ID_LENGTH: usize = 32;
    pub(crate) const KEY_LENGTH: usize = 40;

    /// The visitor whose cookie has this id. An id has 128 random bits: it needs neither salt nor a
    /// slow hash.
    pub(crate) fn of(id: &str) -> Visitor {
        Visitor(hex(&Sha256::digest(id.as_bytes())[..Visitor::KEY_LENGTH / 2]))
    }

    /// A visitor from the stored text.
    pub(crate) fn stored(key: String) -> Visitor {
        Visitor(key)
    }

    /// The text to store.
    pub(crate) fn key(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Visitor {
    /// Keeps visitors out of the logs.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Visitor(…)")
    }
}

/// The contents of a cookie.
#[derive(Clone)]
pub(crate) struct Cookie {
    /// Random and secret: it is only in the cookie.
    id: String,
    /// When it was signed, in seconds since 1970; `None` in cookies of earlier versions.
    signed: Option<i64>,
}

impl Cookie {
    /// The cookie of a new visitor.
    pub(crate) fn random() -> Cookie {
        Cookie { id: random_hex::<{ Visitor::ID_LENGTH / 2 }>(), signed: None }
    }

    pub(crate) fn visitor(&self) -> Visitor {
        Visitor::of(&self.id)
    }

    /// Whether it should be signed again.
    pub(crate) fn is_old(&self) -> bool {
        const RENEWAL_AGE: i64 = 30 * DAY;
        self.signed.is_none_or(|signed| now() - signed > RENEWAL_AGE)
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

const DAY: i64 = 24 * 60 * 60;

/// 400 days, the longest that browsers keep a cookie.
const MAX_AGE: i64 = 400 * DAY;

impl Signer {
    /// A signer with a key; `secure` cookies are sent over HTTPS only.
    pub(crate) fn new(secret: &str, secure: bool) -> Signer {
        let key = Hmac::new_from_slice(secret.as_bytes()).expect("HMAC accepts keys of any length");
        Signer { key, secure }
    }

    /// The `Set-Cookie` header that sends a cookie to its visitor, signed now.
    pub(crate) fn set(&self, cookie: &Cookie) -> String {
        self.header(&self.signed(&format!("{}.{}", cookie.id, now())), MAX_AGE)
    }

    /// The `Set-Cookie` header that removes a cookie.
    pub(crate) fn clear(&self) -> String {
        self.header("", 0)
    }

    /// The cookie of a request, if its signature is valid.
    pub(crate) fn read(&self, headers: &HeaderMap) -> Option<Cookie> {
        let cookies = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
        let mut cookies = cookies.flat_map(|value| value.split(';'));
        cookies.find_map(|cookie| {
            let value = cookie.trim().strip_prefix(NAME)?.strip_prefix('=')?;
            let (content, signature) = value.rsplit_once('.')?;
            self.mac(content).verify_slice(&from_hex(signature)?).ok()?;
            let (id, signed) = match content.split_once('.') {
                Some((id, signed)) => (id, Some(signed.parse().ok()?)),
                None => (content, None),
            };
            let is_valid = signed.is_none_or(|signed: i64| now() - signed < MAX_AGE);
            is_valid.then(|| Cookie { id: id.to_owned(), signed })
        })
    }

    fn header(&self, value: &str, max_age: i64) -> String {
        let secure = if self.secure { "; Secure" } else { "" };
        format!("{NAME}={value}; Path=/; Max-Age={max_age}; HttpOnly; SameSite=Lax{secure}")
    }

    fn signed(&self, content: &str) -> String {
        format!("{content}.{}", hex(&self.mac(content).finalize().into_bytes()))
    }

    fn mac(&self, content: &str) -> Hmac<Sha256> {
        let mut mac = self.key.clone();
        mac.update(content.as_bytes());
        mac
    }
}

/// Seconds since 1970.
fn now() -> i64 {
    jiff::Timestamp::now().as_second()
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
    getrandom::fill(&mut bytes).expect("the system should provide random numbers");
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
    fn a_cookie_is_found_among_others_and_a_tampered_one_is_rejected() {
        let signer = Signer::new("secret", false);
        let cookie = Cookie::random();
        let visitor = |signer: &Signer, text: &str| {
            signer.read(&headers(text)).map(|cookie| cookie.visitor())
        };
        let set = signer.set(&cookie);
        let value = set.split(';').next().unwrap();
        assert_eq!(visitor(&signer, value), Some(cookie.visitor()));
        assert_eq!(visitor(&signer, &format!("a=b; {value}; c=d")), Some(cookie.visitor()));
        assert_ne!(visitor(&signer, value), Some(Cookie::random().visitor()));

        let other = value.replacen(value.chars().nth(10).unwrap(), "x", 1);
        let later = value.replacen(&format!(".{}", now() / 10), ".9", 1);
        for wrong in
            [&other[..], &later, &value[..value.len() - 1], "claimeven=", "claimeven=a.b", "x"]
        {
            assert_eq!(visitor(&signer, wrong), None, "{wrong}");
        }
        assert_eq!(visitor(&Signer::new("another", false), value), None);
        assert!(signer.read(&headers(signer.clear().split(';').next().unwrap())).is_none());
    }

    #[test]
    fn old_cookies_are_renewed_and_expire_after_400_days() {
        let signer = Signer::new("secret", false);
        let id = Cookie::random().id;
        let read =
            |content: String| signer.read(&headers(&format!("{NAME}={}", signer.signed(&content))));
        let age = |days: i64| read(format!("{id}.{}", now() - days * DAY));
        assert!(!age(29).unwrap().is_old());
        assert!(age(31).unwrap().is_old());
        assert_eq!(age(31).unwrap().visitor(), Visitor::of(&id));
        assert!(age(401).is_none());
        let undated = read(id.clone()).expect("cookies of earlier versions stay valid");
        assert!(undated.is_old());
        assert_eq!(undated.visitor(), Visitor::of(&id));
    }

    #[test]
    fn a_damaged_cookie_never_becomes_another_visitor() {
        let signer = Signer::new("secret", false);
        let cookies = [Cookie::random(), Cookie::random()];
        let values = cookies.each_ref().map(|cookie| {
            let set = signer.set(cookie);
            set.split(';').next().unwrap_or_default().to_owned()
        });
        let undated = format!("{NAME}={}", signer.signed(&cookies[0].id));
        let among_others = format!("a=b; {}; c=d", values[1]);
        let known = [&values[0], &values[1], &undated, &among_others].map(String::as_str);
        crate::fuzz::fuzz("cookies", &crate::fuzz::texts(&known), |input| {
            let Ok(value) = HeaderValue::from_bytes(input) else { return false };
            let read = signer.read(&HeaderMap::from_iter([(COOKIE, value)]));
            let is_own = |read: &Cookie| cookies.iter().any(|cookie| cookie.id == read.id);
            assert!(read.as_ref().is_none_or(is_own), "{}", String::from_utf8_lossy(input));
            read.is_some()
        });
    }

    #[test]
    fn the_stored_key_does_not_reveal_the_cookie() {
        let cookie = Cookie::random();
        let visitor = cookie.visitor();
        assert_eq!(visitor.key().len(), Visitor::KEY_LENGTH);
        assert!(
            !visitor.key().contains(&cookie.id) && !format!("{visitor:?}").contains(&cookie.id)
        );
    }
}
