//! Integration tests of the server, over HTTP and WebSockets, on both databases.

mod admin;
mod connections;
mod failover;
mod fairness;
mod faults;
mod fleet;
mod fleet_page;
mod fuzz;
mod games;
mod https;
mod limits;
mod live;
mod model;
#[path = "../../../claimeven-work/tests/it/server.rs"]
#[allow(dead_code, reason = "shared with the tests of the library")]
mod nats;
mod openapi;
mod privacy;
mod research;
mod share;
mod store;
mod study;
mod test_server;
