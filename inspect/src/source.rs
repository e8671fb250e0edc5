//! How is a file opened, whatever it is packed in?

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use flate2::bufread::MultiGzDecoder;

use crate::fault::Fault;

/// An opened file, unpacked.
pub struct Source {
    /// Its name, for messages.
    pub file: String,
    /// Was it gzip?
    pub is_gzip: bool,
    /// The unpacked contents.
    pub reader: Box<dyn BufRead>,
}

const GZIP: [u8; 2] = [0x1f, 0x8b];
/// How much is read at once.
const AT_ONCE: usize = 1 << 18;

/// Opens a file; gzip is known by its first bytes, whatever the name.
///
/// # Errors
/// A [`Fault`] where it cannot be opened.
pub fn open(path: &Path) -> Result<Source, Fault> {
    let file = path.display().to_string();
    let opened = std::fs::metadata(path).and_then(|found| match found.file_type() {
        kind if kind.is_file() => File::open(path),
        kind if kind.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
        // A pipe could be read once only, and this reads twice.
        _ => Err(io::Error::other("a pipe or a device, which can be read once at most")),
    });
    let opened = opened.map_err(|error| unreadable(&file, &error))?;
    unpack(&file, Box::new(BufReader::with_capacity(AT_ONCE, opened)))
}

/// The same for contents that are already open.
///
/// # Errors
/// A [`Fault`] where nothing can be read.
pub fn unpack(file: &str, mut packed: Box<dyn BufRead>) -> Result<Source, Fault> {
    let head = packed.fill_buf().map_err(|error| unreadable(file, &error))?;
    let is_gzip = head.starts_with(&GZIP);
    let reader: Box<dyn BufRead> = if is_gzip {
        Box::new(BufReader::with_capacity(AT_ONCE, MultiGzDecoder::new(packed)))
    } else {
        packed
    };
    Ok(Source { file: file.to_owned(), is_gzip, reader })
}

/// Reads a file that is small by nature, such as metadata.
///
/// # Errors
/// A [`Fault`] where it cannot be read, or is far too large.
pub fn read_small(path: &Path) -> Result<Vec<u8>, Fault> {
    const LARGEST: u64 = 64 << 20;
    let source = open(path)?;
    let mut bytes = Vec::new();
    let read = source.reader.take(LARGEST + 1).read_to_end(&mut bytes);
    read.map_err(|error| unreadable(&source.file, &error))?;
    if bytes.len() as u64 > LARGEST {
        let what = format!("expected at most {LARGEST} bytes of text, found more");
        return Err(Fault::whole(&source.file, what, "give the right file"));
    }
    Ok(bytes)
}

/// What a failed read comes to.
pub fn unreadable(file: &str, error: &io::Error) -> Fault {
    let fix = match error.kind() {
        io::ErrorKind::NotFound => "check the path",
        io::ErrorKind::PermissionDenied => "make the file readable",
        io::ErrorKind::UnexpectedEof | io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData => {
            "the gzip file is cut off or damaged: copy it again"
        }
        _ => "check the file and the disk",
    };
    Fault::whole(file, format!("expected a readable file, found: {error}"), fix)
}
