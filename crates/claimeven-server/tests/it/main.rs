//! The server as its clients meet it: over HTTP and WebSockets, on both databases.

mod bench;
mod connections;
mod fairness;
mod faults;
mod fuzz;
mod games;
mod limits;
mod live;
mod model;
mod openapi;
mod share;
mod study;
mod world;
