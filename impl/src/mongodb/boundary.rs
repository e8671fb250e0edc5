//! How do the words of a script become bytes, and bytes words again?

use bson::binary::Binary;
use bson::spec::BinarySubtype;
use bson::{Bson, DateTime, Decimal128, Document, JavaScriptCodeWithScope, RawDocument, Regex};
use bson::{Timestamp, oid::ObjectId, raw::CString};

use super::bytes::{
    Value, code_and_scope, elements, kind, pattern_and_options, subtype_and_payload,
};

/// Writes a document as BSON into `buffer`, in place of what was there.
///
/// # Errors
/// A sentence, where BSON cannot hold it.
pub(super) fn write_document(document: &Document, buffer: &mut Vec<u8>) -> Result<(), String> {
    buffer.clear();
    write_fields(document.iter().map(|(name, value)| (name.as_str(), value)), buffer)
}

/// Writes the value alone and answers its type.
pub(super) fn write_value(value: &Bson, buffer: &mut Vec<u8>) -> Result<u8, String> {
    buffer.clear();
    write(value, buffer)?;
    Ok(value.element_type() as u8)
}

fn write_fields<'a>(
    fields: impl Iterator<Item = (&'a str, &'a Bson)>,
    buffer: &mut Vec<u8>,
) -> Result<(), String> {
    framed(buffer, |buffer| {
        for (name, value) in fields {
            buffer.push(value.element_type() as u8);
            write_cstring(name, buffer)?;
            write(value, buffer)?;
        }
        buffer.push(0);
        Ok(())
    })
}

/// What is written between stands behind its own length, which counts itself.
fn framed(
    buffer: &mut Vec<u8>,
    write: impl FnOnce(&mut Vec<u8>) -> Result<(), String>,
) -> Result<(), String> {
    let start = buffer.len();
    buffer.extend_from_slice(&[0; 4]);
    write(buffer)?;
    let length = i32_of(buffer.len() - start)?;
    buffer[start..start + 4].copy_from_slice(&length.to_le_bytes());
    Ok(())
}

fn i32_of(length: usize) -> Result<i32, String> {
    i32::try_from(length).map_err(|_| format!("expected less than 2 GiB, found `{length}` bytes"))
}

fn write_cstring(text: &str, buffer: &mut Vec<u8>) -> Result<(), String> {
    if text.contains('\0') {
        return Err(format!("expected a name without NUL, found `{text:?}`"));
    }
    buffer.extend_from_slice(text.as_bytes());
    buffer.push(0);
    Ok(())
}

fn write_string(text: &str, buffer: &mut Vec<u8>) -> Result<(), String> {
    buffer.extend_from_slice(&i32_of(text.len() + 1)?.to_le_bytes());
    buffer.extend_from_slice(text.as_bytes());
    buffer.push(0);
    Ok(())
}

fn write(value: &Bson, buffer: &mut Vec<u8>) -> Result<(), String> {
    match value {
        Bson::Double(double) => buffer.extend_from_slice(&double.to_bits().to_le_bytes()),
        Bson::String(text) | Bson::Symbol(text) | Bson::JavaScriptCode(text) => {
            write_string(text, buffer)?;
        }
        Bson::Document(inner) => {
            write_fields(inner.iter().map(|(name, value)| (name.as_str(), value)), buffer)?;
        }
        Bson::Array(elements) => write_array(elements, buffer)?,
        Bson::Binary(binary) => write_binary(binary, buffer)?,
        Bson::ObjectId(id) => buffer.extend_from_slice(&id.bytes()),
        Bson::Boolean(truth) => buffer.push(u8::from(*truth)),
        Bson::DateTime(date) => buffer.extend_from_slice(&date.timestamp_millis().to_le_bytes()),
        Bson::RegularExpression(regex) => {
            write_cstring(regex.pattern.as_str(), buffer)?;
            write_cstring(regex.options.as_str(), buffer)?;
        }
        Bson::DbPointer(_) => write_pointer(value, buffer)?,
        Bson::JavaScriptCodeWithScope(code) => framed(buffer, |buffer| {
            write_string(&code.code, buffer)?;
            write_fields(code.scope.iter().map(|(name, value)| (name.as_str(), value)), buffer)
        })?,
        Bson::Int32(int) => buffer.extend_from_slice(&int.to_le_bytes()),
        Bson::Timestamp(timestamp) => {
            buffer.extend_from_slice(&timestamp.increment.to_le_bytes());
            buffer.extend_from_slice(&timestamp.time.to_le_bytes());
        }
        Bson::Int64(long) => buffer.extend_from_slice(&long.to_le_bytes()),
        Bson::Decimal128(decimal) => buffer.extend_from_slice(&decimal.bytes()),
        Bson::Null | Bson::Undefined | Bson::MinKey | Bson::MaxKey => {}
    }
    Ok(())
}

fn write_array(elements: &[Bson], buffer: &mut Vec<u8>) -> Result<(), String> {
    framed(buffer, |buffer| {
        for (position, element) in elements.iter().enumerate() {
            buffer.push(element.element_type() as u8);
            write_cstring(&position.to_string(), buffer)?;
            write(element, buffer)?;
        }
        buffer.push(0);
        Ok(())
    })
}

fn write_binary(binary: &Binary, buffer: &mut Vec<u8>) -> Result<(), String> {
    let length = i32_of(binary.bytes.len())?;
    if binary.subtype == BinarySubtype::BinaryOld {
        buffer.extend_from_slice(&(length + 4).to_le_bytes());
        buffer.push(2);
    }
    buffer.extend_from_slice(&length.to_le_bytes());
    if binary.subtype != BinarySubtype::BinaryOld {
        buffer.push(binary.subtype.into());
    }
    buffer.extend_from_slice(&binary.bytes);
    Ok(())
}

/// The crate does not show a DBPointer's fields; the bytes that it writes end with them.
fn write_pointer(pointer: &Bson, buffer: &mut Vec<u8>) -> Result<(), String> {
    let mut document = Document::new();
    document.insert("", pointer.clone());
    let bytes = document.to_vec().map_err(|error| error.to_string())?;
    buffer.extend_from_slice(&bytes[6..bytes.len() - 1]);
    Ok(())
}

/// The word for a value that has been checked.
pub(super) fn read(value: Value<'_>) -> Bson {
    let bytes = value.bytes;
    match value.kind {
        kind::DOUBLE => Bson::Double(f64::from_bits(u64::from_le_bytes(fixed(bytes)))),
        kind::STRING => Bson::String(text(value)),
        kind::SYMBOL => Bson::Symbol(text(value)),
        kind::CODE => Bson::JavaScriptCode(text(value)),
        kind::DOCUMENT => Bson::Document(read_document(bytes)),
        kind::ARRAY => Bson::Array(read_document(bytes).into_iter().map(|(_, v)| v).collect()),
        kind::BINARY => {
            let (subtype, payload) = subtype_and_payload(bytes);
            Bson::Binary(Binary { subtype: subtype.into(), bytes: payload.to_vec() })
        }
        kind::UNDEFINED => Bson::Undefined,
        kind::OBJECT_ID => Bson::ObjectId(ObjectId::from_bytes(fixed(bytes))),
        kind::BOOLEAN => Bson::Boolean(bytes != [0]),
        kind::DATE => Bson::DateTime(DateTime::from_millis(i64::from_le_bytes(fixed(bytes)))),
        kind::REGEX => {
            let (pattern, options) = pattern_and_options(bytes);
            Bson::RegularExpression(Regex { pattern: cstring(pattern), options: cstring(options) })
        }
        kind::DB_POINTER => read_pointer(bytes),
        kind::CODE_WITH_SCOPE => {
            let (code, scope) = code_and_scope(value).expect("the value was checked");
            Bson::JavaScriptCodeWithScope(JavaScriptCodeWithScope {
                code: String::from_utf8_lossy(code).into_owned(),
                scope: read_document(scope.bytes),
            })
        }
        kind::INT32 => Bson::Int32(i32::from_le_bytes(fixed(bytes))),
        kind::TIMESTAMP => {
            let both = u64::from_le_bytes(fixed(bytes));
            Bson::Timestamp(Timestamp { time: (both >> 32) as u32, increment: both as u32 })
        }
        kind::INT64 => Bson::Int64(i64::from_le_bytes(fixed(bytes))),
        kind::DECIMAL => Bson::Decimal128(Decimal128::from_bytes(fixed(bytes))),
        kind::MIN_KEY => Bson::MinKey,
        kind::MAX_KEY => Bson::MaxKey,
        _ => Bson::Null,
    }
}

fn fixed<const N: usize>(bytes: &[u8]) -> [u8; N] {
    bytes.try_into().expect("the value has the width of its type")
}

fn text(value: Value<'_>) -> String {
    String::from_utf8_lossy(value.text().unwrap_or_default()).into_owned()
}

fn cstring(bytes: &[u8]) -> CString {
    CString::try_from(String::from_utf8_lossy(bytes).into_owned())
        .expect("what ends at a NUL has none inside")
}

fn read_document(bytes: &[u8]) -> Document {
    let mut document = Document::new();
    let mut fields = elements(bytes).expect("the value was checked");
    while let Some((name, value)) = fields.advance().expect("the value was checked") {
        document.insert(String::from_utf8_lossy(name), read(value));
    }
    document
}

fn read_pointer(bytes: &[u8]) -> Bson {
    let mut document = vec![0; 4];
    document.extend_from_slice(&[kind::DB_POINTER, 0]);
    document.extend_from_slice(bytes);
    document.push(0);
    let length = document.len() as i32;
    document[..4].copy_from_slice(&length.to_le_bytes());
    let pointer = RawDocument::from_bytes(&document).and_then(|raw| match raw.get("") {
        Ok(Some(pointer)) => Bson::try_from(pointer),
        Ok(None) => Ok(Bson::Null),
        Err(error) => Err(error),
    });
    pointer.unwrap_or(Bson::Null)
}
