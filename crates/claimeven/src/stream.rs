//! Standard input, processed line by line on several threads; the answers keep its order.

use std::collections::BTreeMap;
use std::io::{self, BufRead};
use std::sync::mpsc::{Receiver, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread;

use crate::Failure;

/// The maximum number of lines in a batch.
const MAX_BATCH: usize = 64;

/// Consecutive lines, processed by one thread.
struct Batch {
    index: usize,
    /// Counted from 1.
    first_line: u64,
    lines: Vec<String>,
}

/// Lets the workers answer the lines of standard input, and passes the answers to `output` in the
/// order of the lines, a batch at a time. Errors in the input get the number of their line.
///
/// Lines are processed as soon as they arrive, so a program at the other end of a pipe can wait for
/// an answer before it writes the next line. If `output` fails, the threads are not joined: the
/// reader may be blocked on standard input.
pub(crate) fn answer_lines<Worker>(
    workers: impl IntoIterator<Item = Worker>,
    mut output: impl FnMut(Vec<Result<String, Failure>>) -> Result<(), Failure>,
) -> Result<(), Failure>
where
    Worker: FnMut(&str) -> Result<String, Failure> + Send + 'static,
{
    let workers: Vec<Worker> = workers.into_iter().collect();
    let (batch_sender, batch_receiver) = sync_channel(2 * workers.len());
    let (answer_sender, answer_receiver) = channel();
    let batch_receiver = Arc::new(Mutex::new(batch_receiver));
    let reader = thread::spawn(move || read_batches(&batch_sender));
    for mut worker in workers {
        let (batches, answers) = (Arc::clone(&batch_receiver), answer_sender.clone());
        thread::spawn(move || {
            while let Some(batch) = next_batch(&batches) {
                let answered = (batch.first_line..).zip(&batch.lines).map(|(number, line)| {
                    worker(line.trim()).map_err(|failure| failure.in_line(number))
                });
                if answers.send((batch.index, answered.collect::<Vec<_>>())).is_err() {
                    return;
                }
            }
        });
    }
    drop((answer_sender, batch_receiver));

    let mut waiting = BTreeMap::new();
    let mut next = 0;
    for (index, answers) in answer_receiver {
        waiting.insert(index, answers);
        while let Some(answers) = waiting.remove(&next) {
            output(answers)?;
            next += 1;
        }
    }
    reader.join().expect("the reader does not panic")?;
    Ok(())
}

fn next_batch(batches: &Mutex<Receiver<Batch>>) -> Option<Batch> {
    batches.lock().ok()?.recv().ok()
}

fn read_batches(batches: &SyncSender<Batch>) -> io::Result<()> {
    let mut input = io::stdin().lock();
    let mut pending: Vec<u8> = Vec::new();
    let (mut index, mut first_line) = (0, 1);
    loop {
        let available = input.fill_buf()?;
        let (length, at_end) = (available.len(), available.is_empty());
        // Only the new bytes are searched, so a long line takes linear time.
        let last_newline = available.iter().rposition(|&byte| byte == b'\n');
        let whole = match last_newline {
            Some(index) => pending.len() + index + 1,
            None if at_end => pending.len(),
            None => 0,
        };
        pending.extend(available);
        input.consume(length);
        let text: Vec<u8> = pending.drain(..whole).collect();
        let lines: Vec<String> =
            String::from_utf8_lossy(&text).lines().map(str::to_owned).collect();
        for lines in lines.chunks(MAX_BATCH) {
            let batch = Batch { index, first_line, lines: lines.to_vec() };
            index += 1;
            first_line += lines.len() as u64;
            if batches.send(batch).is_err() {
                // The workers are gone.
                return Ok(());
            }
        }
        if at_end {
            return Ok(());
        }
    }
}
