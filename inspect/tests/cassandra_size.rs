//! Dumps may be larger than memory. A program of its own, so that the memory it needs is its own.

use std::io::{self, BufReader, Cursor, Read};

use ttlspec_inspect::cassandra::sstabledump::{Item, Reader};
use ttlspec_inspect::cassandra::sstablemetadata;
use ttlspec_inspect::fault::Fault;
use ttlspec_inspect::source::Source;

/// One text again and again, made while it is read.
struct Again {
    text: Vec<u8>,
    at: usize,
    left: usize,
}

impl Read for Again {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.at == self.text.len() && self.left > 0 {
            self.at = 0;
            self.left -= 1;
        }
        let length = (self.text.len() - self.at).min(buffer.len());
        buffer[..length].copy_from_slice(&self.text[self.at..self.at + length]);
        self.at += length;
        Ok(length)
    }
}

fn source(head: &str, part: &str, times: usize, tail: &str) -> Source {
    let again = Again { text: part.into(), at: 0, left: times - 1 };
    let whole = Cursor::new(head.to_owned()).chain(again).chain(Cursor::new(tail.to_owned()));
    let (file, reader) = ("endless".to_owned(), Box::new(BufReader::new(whole)));
    Source { file, is_gzip: false, reader }
}

/// How many partitions and rows are read, and how it ends.
fn counted(source: Source) -> (usize, usize, Result<(), Fault>) {
    let mut reader = match Reader::new(source) {
        Ok(reader) => reader,
        Err(fault) => return (0, 0, Err(fault)),
    };
    let (mut partitions, mut rows) = (0, 0);
    loop {
        match reader.next_item() {
            Ok(Some(Item::Partition(_))) => partitions += 1,
            Ok(Some(Item::Row(_))) => rows += 1,
            Ok(None) => return (partitions, rows, Ok(())),
            Err(fault) => return (partitions, rows, Err(fault)),
        }
    }
}

/// The most memory that this process had, in KiB.
#[cfg(target_os = "linux")]
fn peak_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux has it");
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).expect("it has a peak");
    line.split_whitespace().nth(1).and_then(|number| number.parse().ok()).expect("it is a number")
}

const MIB_100: usize = 100 << 20;

#[test]
fn a_hundred_mebibytes_of_each_form_are_read_with_little_memory() {
    let row = r#"{"type":"row","position":1,"clustering":[1],"liveness_info":{"tstamp":"2023-11-14T22:13:20.000001Z"},"cells":[{"name":"v","value":"text"}]},"#;
    let last = r#"{"type":"row","position":1,"clustering":[1],"cells":[]}]}"#;
    let head = r#"{"partition":{"key":["k"],"position":0},"rows":["#;
    let line = format!("{head}{last}\n");
    let record = "[k]@0 Row[info=[ts=1700000000000001] ]: 1 | [v=text ts=1700000000000001]\n";
    let times = |part: &str| MIB_100 / part.len() + 1;

    let rows = counted(source(&format!("[{head}"), row, times(row), &format!("{last}]")));
    let lines = counted(source("", &line, times(&line), ""));
    let records = counted(source("", record, times(record), ""));

    assert_eq!(rows, (1, times(row) + 1, Ok(())));
    assert_eq!(lines, (times(&line), times(&line), Ok(())));
    assert_eq!(records, (1, times(record), Ok(())));
    #[cfg(target_os = "linux")]
    assert!(peak_kib() < 64 << 10, "the peak is {} KiB", peak_kib());

    // What is one piece has a limit.
    let string =
        counted(source("[{\"partition\":{\"key\":[\"", "0123456789abcdef", MIB_100 / 16, ""));
    let nothing =
        counted(source("[k]@0 Row[info=[ts=1] ]: 1 | [v=", "0123456789abcdef\n", MIB_100 / 16, ""));
    let blank = counted(source("[k]@0 deletedAt=1, localDeletion=1\n", "\n", MIB_100, ""));
    for (result, what) in [
        (string, "expected at most 67108864 bytes in a string"),
        (nothing, "expected at most 67108864 bytes in a record"),
        (blank, "expected at most 67108864 bytes in a record"),
    ] {
        let fault = result.2.expect_err("it is too long");
        assert!(fault.what.contains(what), "{fault}");
    }
    let metadata = sstablemetadata::read(source("SSTable: x\n", "Mood: good\n", MIB_100 / 11, ""));
    assert!(metadata.expect_err("it is too long").what.contains("expected at most 67108864 bytes"));
    #[cfg(target_os = "linux")]
    assert!(peak_kib() < 400 << 10, "the peak is {} KiB", peak_kib());
}
