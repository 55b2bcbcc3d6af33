//! Work over a real NATS server, with workers that are slow, disconnected, killed, faulty or
//! outdated.
#![cfg(feature = "nats")]

mod it {
    mod crashes;
    mod fleet;
    mod full_disk;
    mod hash_work;
    mod keys;
    mod server;
}
