//! HTTPS without a proxy: the certificate, which is reloaded when its files change.

use std::fs;
use std::io;
use std::net::Ipv4Addr;
use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, SystemTime};

use tokio::net::TcpStream;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::client::danger::{
    HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier,
};
use tokio_rustls::rustls::crypto::{
    CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature,
};
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use tokio_rustls::rustls::server::{ClientHello, ResolvesServerCert};
use tokio_rustls::rustls::sign::CertifiedKey;
use tokio_rustls::rustls::{
    self, ClientConfig, DigitallySignedStruct, ServerConfig, SignatureScheme,
};
use tokio_rustls::{TlsAcceptor, TlsConnector};

use crate::config::Config;

/// The current certificate.
#[derive(Debug)]
pub(crate) struct Tls {
    files: [PathBuf; 2],
    provider: Arc<CryptoProvider>,
    current: RwLock<Arc<CertifiedKey>>,
}

impl Tls {
    /// The certificate of the settings `tls_certificate` and `tls_key`; `None` if neither is set.
    pub(crate) fn new(config: &Config) -> Result<Option<Arc<Tls>>, String> {
        let files = [&config.tls_certificate, &config.tls_key];
        match files.map(String::is_empty) {
            [true, true] => return Ok(None),
            [false, false] => {}
            _ => return Err("tls_certificate and tls_key must be set together".to_owned()),
        }
        let files = files.map(PathBuf::from);
        let provider = Arc::new(ring::default_provider());
        let key = load(&files, &provider)?;
        Ok(Some(Arc::new(Tls { files, provider, current: RwLock::new(Arc::new(key)) })))
    }

    pub(crate) fn acceptor(self: &Arc<Self>) -> Result<TlsAcceptor, String> {
        let config = ServerConfig::builder_with_provider(Arc::clone(&self.provider));
        let config = config.with_safe_default_protocol_versions().map_err(|e| e.to_string())?;
        let resolver: Arc<Tls> = Arc::clone(self);
        let mut config = config.with_no_client_auth().with_cert_resolver(resolver);
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(TlsAcceptor::from(Arc::new(config)))
    }

    /// Reloads the certificate whenever one of its files changes. If that fails, the previous one
    /// stays in use.
    pub(crate) async fn keep_current(self: Arc<Self>) {
        const PERIOD: Duration = Duration::from_secs(5);
        let mut loaded = self.modified();
        loop {
            tokio::time::sleep(PERIOD).await;
            let now = self.modified();
            if now == loaded {
                continue;
            }
            match load(&self.files, &self.provider) {
                Ok(key) => {
                    *self.current.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(key);
                    tracing::info!("Loaded the new certificate");
                }
                Err(error) => tracing::error!(error, "Failed to load the new certificate"),
            }
            loaded = now;
        }
    }

    fn modified(&self) -> [Option<SystemTime>; 2] {
        self.files.each_ref().map(|file| fs::metadata(file).and_then(|data| data.modified()).ok())
    }
}

impl ResolvesServerCert for Tls {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(Arc::clone(&self.current.read().unwrap_or_else(PoisonError::into_inner)))
    }
}

/// Connects to the server of these settings, as [`crate::check_readiness`] does.
pub(crate) async fn connect(
    config: &Config,
    stream: TcpStream,
) -> io::Result<TlsStream<TcpStream>> {
    let Some(tls) = Tls::new(config).map_err(io::Error::other)? else {
        return Err(io::Error::other("no certificate is set"));
    };
    let client = ClientConfig::builder_with_provider(Arc::clone(&tls.provider));
    let client = client.with_safe_default_protocol_versions().map_err(io::Error::other)?;
    let client = client.dangerous().with_custom_certificate_verifier(tls).with_no_client_auth();
    // The name does not matter, because the certificate is known.
    let name = ServerName::IpAddress(Ipv4Addr::LOCALHOST.into());
    TlsConnector::from(Arc::new(client)).connect(name, stream).await
}

/// Trusts exactly the configured certificate, no matter who signed it.
impl ServerCertVerifier for Tls {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let current = self.current.read().unwrap_or_else(PoisonError::into_inner);
        if current.end_entity_cert()? == end_entity {
            return Ok(ServerCertVerified::assertion());
        }
        Err(rustls::Error::General("the server has a different certificate".to_owned()))
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let known = &self.provider.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signature, known)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let known = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signature, known)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

fn load(files: &[PathBuf; 2], provider: &CryptoProvider) -> Result<CertifiedKey, String> {
    let [certificate, key] = files;
    let in_certificate = |error: &dyn ToString| {
        format!("tls_certificate {}: {}", certificate.display(), error.to_string())
    };
    let in_key = |error: &dyn ToString| format!("tls_key {}: {}", key.display(), error.to_string());
    let chain = fs::read(certificate).map_err(|error| in_certificate(&error))?;
    let chain = CertificateDer::pem_slice_iter(&chain).collect::<Result<Vec<_>, _>>();
    let chain = chain.map_err(|error| in_certificate(&error))?;
    if chain.is_empty() {
        return Err(in_certificate(&"no certificate in PEM format"));
    }
    let pem = fs::read(key).map_err(|error| in_key(&error))?;
    let key =
        PrivateKeyDer::from_pem_slice(&pem).map_err(|_| in_key(&"no private key in PEM format"))?;
    let certified = CertifiedKey::from_der(chain, key, provider);
    certified.map_err(|error| format!("tls_certificate and tls_key do not match: {error}"))
}
