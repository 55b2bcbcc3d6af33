//! A NATS server that runs out of space: nothing is lost, and the logs name the problem.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::sync::atomic::Ordering;
use std::thread;

use super::fleet::{Fleet, await_workers, collect, expected, wait_until};
use super::hash_work::{COMPUTED, Fault};
use super::server::{Server, SmallDisk};

/// Computes 600 units on a server that runs out of space halfway and gets it back.
fn run_out_of_space(
    server: &mut Server,
    test: usize,
    fill: impl FnOnce(&mut Server),
    free: impl FnOnce(&mut Server),
) {
    let (fleet, url) = (Fleet::new(), server.url());
    let _workers = [fleet.worker(&url, 1), fleet.worker(&url, 1)];
    await_workers(&url, 2);
    let slow = |_| Fault::Sleep(5);
    thread::scope(|scope| {
        let job = scope.spawn(|| collect(&fleet.nats(&url), test, 600, slow));
        let has_computed = |count| move || COMPUTED[test].load(Ordering::Relaxed) >= count;
        wait_until("the first units", &fleet, has_computed(100));
        fill(server);
        wait_until("a warning", &fleet, || {
            fleet.has_logged("the disk of the NATS server may be full, see its log); trying again")
        });
        assert!(!job.is_finished());
        free(server);
        wait_until("the end", &fleet, || job.is_finished());
        assert_eq!(job.join().unwrap().unwrap().0, expected(600));
    });
    assert!(fleet.has_logged("the NATS server is working again"), "{:?}", fleet.log);
}

#[test]
fn a_full_disk_only_costs_time() {
    let Some(disk) = SmallDisk::mount(24) else { return };
    let Some(mut server) = Server::start_with("", Some(disk.path())) else { return };
    run_out_of_space(
        &mut server,
        17,
        |_| disk.fill(),
        |server| {
            disk.free();
            // A server whose disk is full disables JetStream until it is restarted.
            server.kill_and_restart();
        },
    );
}

/// A minimal client of the NATS protocol.
struct Client {
    stream: TcpStream,
    reader: BufReader<TcpStream>,
}

impl Client {
    fn connect(server: &Server) -> Client {
        let stream = TcpStream::connect(("127.0.0.1", server.port())).unwrap();
        let reader = BufReader::new(stream.try_clone().unwrap());
        let mut client = Client { stream, reader };
        client.send("CONNECT {\"verbose\":false}\r\nSUB reply 1\r\n");
        client
    }

    fn send(&mut self, text: &str) {
        self.stream.write_all(text.as_bytes()).unwrap();
    }

    /// Publishes a message and returns the answer.
    fn request(&mut self, subject: &str, body: &str) -> String {
        self.send(&format!("PUB {subject} reply {}\r\n{body}\r\n", body.len()));
        loop {
            let mut line = String::new();
            assert!(
                self.reader.read_line(&mut line).unwrap() > 0,
                "the server closed the connection"
            );
            if line.starts_with("PING") {
                self.send("PONG\r\n");
            } else if line.starts_with("MSG ") {
                let mut answer = String::new();
                self.reader.read_line(&mut answer).unwrap();
                return answer;
            }
        }
    }
}

#[test]
fn a_full_store_only_costs_time() {
    let limits = "jetstream { max_memory_store: 1MB, max_file_store: 8MB }";
    let Some(mut server) = Server::start_with(limits, None) else { return };
    let fill = |server: &mut Server| {
        let mut client = Client::connect(server);
        let stream = r#"{"name":"others","subjects":["others"],"storage":"file"}"#;
        let created = client.request("$JS.API.STREAM.CREATE.others", stream);
        assert!(created.contains("\"created\""), "{created}");
        for size in [100_000, 1000, 1] {
            let message = "x".repeat(size);
            while !client.request("others", &message).contains("error") {}
        }
    };
    run_out_of_space(&mut server, 18, fill, |server| {
        let purged = Client::connect(server).request("$JS.API.STREAM.PURGE.others", "");
        assert!(purged.contains("\"success\":true"), "{purged}");
    });
}
