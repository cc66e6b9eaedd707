//! The few messages of Perfetto's format that a timeline needs, by their field numbers
//! (protos/perfetto/trace/trace_packet.proto and what it imports), and how protobuf writes fields.

use std::io::{self, Read, Write};

use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;

/// A message under way: its fields are written one behind the other, those of a message in it in their place.
#[derive(Clone, Debug, Default)]
pub(super) struct Message(Vec<u8>);

impl Message {
    pub fn number(&mut self, field: u32, value: u64) -> &mut Self {
        self.varint(u64::from(field) << 3);
        self.varint(value);
        self
    }

    /// A number of 64 bits, always in eight bytes.
    pub fn fixed(&mut self, field: u32, value: u64) -> &mut Self {
        self.varint(u64::from(field) << 3 | 1);
        self.0.extend(value.to_le_bytes());
        self
    }

    pub fn text(&mut self, field: u32, text: &str) -> &mut Self {
        self.bytes(field, text.as_bytes())
    }

    /// A message in this one.
    pub fn message(&mut self, field: u32, fill: impl FnOnce(&mut Message)) -> &mut Self {
        self.varint(u64::from(field) << 3 | 2);
        // Most are short: the length is written over this byte, and what is long makes room for more.
        let at = self.0.len();
        self.0.push(0);
        fill(self);
        let length = self.0.len() - at - 1;
        if length < 0x80 {
            self.0[at] = length as u8;
        } else {
            let mut more = Message::default();
            more.varint(length as u64);
            self.0.splice(at..=at, more.0);
        }
        self
    }

    /// A message in this one that is there already.
    pub fn copy(&mut self, field: u32, message: &Message) -> &mut Self {
        self.bytes(field, &message.0)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn clear(&mut self) {
        self.0.clear();
    }

    fn bytes(&mut self, field: u32, bytes: &[u8]) -> &mut Self {
        self.varint(u64::from(field) << 3 | 2);
        self.varint(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
        self
    }

    #[inline]
    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }
}

/// `Trace.packet`.
const PACKET: u32 = 1;
/// `TracePacket.compressed_packets`: packets of a `Trace`, deflated in zlib's format.
const COMPRESSED: u32 = 50;
/// Bytes of packets that are compressed together.
const TOGETHER: usize = 1 << 18;
/// How hard it is tried: on a whole run a hundredth more bytes than at the usual level, and a fifth less time in all.
const LEVEL: Compression = Compression::new(5);

/// A trace under way: packets, compressed many at a time.
pub(super) struct Packets<W: Write> {
    out: W,
    together: Message,
}

impl<W: Write> Packets<W> {
    pub fn new(out: W) -> Self {
        Packets { out, together: Message::default() }
    }

    pub fn add(&mut self, fill: impl FnOnce(&mut Message)) -> io::Result<()> {
        self.together.message(PACKET, fill);
        if self.together.0.len() >= TOGETHER { self.compress() } else { Ok(()) }
    }

    fn compress(&mut self) -> io::Result<()> {
        let mut encoder = ZlibEncoder::new(Vec::new(), LEVEL);
        encoder.write_all(&self.together.0)?;
        let compressed = encoder.finish()?;
        self.together.clear();
        let mut packet = Message::default();
        packet.message(PACKET, |packet| _ = packet.bytes(COMPRESSED, &compressed));
        self.out.write_all(&packet.0)
    }

    /// All that is left; what it was written to.
    pub fn finish(mut self) -> io::Result<W> {
        self.compress()?;
        Ok(self.out)
    }
}

/// The beginning of the first packets that a file holds, if it begins as [`Packets`] writes one.
pub(super) fn first_packets(head: &[u8]) -> Option<Vec<u8>> {
    /// So much of them is looked at.
    const LOOKED_AT: u64 = TOGETHER as u64;
    let (key, rest) = varint(head)?;
    let (_, rest) = varint(rest).filter(|_| key == u64::from(PACKET) << 3 | 2)?;
    let (key, rest) = varint(rest)?;
    let (_, rest) = varint(rest).filter(|_| key == u64::from(COMPRESSED) << 3 | 2)?;
    let mut packets = Vec::new();
    // What is cut off behind the first bytes ends in an error, which is none.
    let _ = ZlibDecoder::new(rest).take(LOOKED_AT).read_to_end(&mut packets);
    Some(packets)
}

/// A number that stands first, and what stands behind it.
fn varint(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let length = bytes.iter().take(10).position(|byte| byte & 0x80 == 0)? + 1;
    let digits = bytes[..length].iter().rev();
    let value = digits.fold(0u64, |value, byte| value << 7 | u64::from(byte & 0x7f));
    Some((value, &bytes[length..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Protobuf's own examples (its documentation, "Encoding"): 150, a text, a message in a message.
    #[test]
    fn fields_are_as_protobuf_has_them() {
        assert_eq!(Message::default().number(1, 150).0, [0x08, 0x96, 0x01]);
        let testing = [0x12, 0x07, 0x74, 0x65, 0x73, 0x74, 0x69, 0x6e, 0x67];
        assert_eq!(Message::default().text(2, "testing").0, testing);
        let inner = |inner: &mut Message| _ = inner.number(1, 150);
        assert_eq!(Message::default().message(3, inner).0, [0x1a, 0x03, 0x08, 0x96, 0x01]);
        assert_eq!(Message::default().fixed(1, 1).0, [0x09, 1, 0, 0, 0, 0, 0, 0, 0]);
        // A length of two bytes, and of three.
        for long in [127, 128, 16_383, 16_384] {
            let text = "x".repeat(long);
            let mut outer = Message::default();
            outer.message(3, |inner| _ = inner.text(2, &text));
            let mut inner = Message::default();
            inner.text(2, &text);
            assert_eq!(outer.0, Message::default().copy(3, &inner).0, "{long}");
        }
    }

    #[test]
    fn packets_are_compressed_and_all_there() {
        let mut packets = Packets::new(Vec::new());
        (0..100_000).for_each(|_| packets.add(|packet| _ = packet.number(8, 1)).unwrap());
        let out = packets.finish().unwrap();
        assert!(out.len() < 4_000, "{}", out.len());
        // `Trace.packet` with `TracePacket.compressed_packets` in it: two tags and two lengths before the first.
        assert_eq!(out[0], 0x0a);
        let start = out.windows(2).position(|pair| pair == [0x92, 0x03]).unwrap() + 2;
        let start = start + out[start..].iter().position(|byte| byte & 0x80 == 0).unwrap() + 1;
        let mut plain = Vec::new();
        flate2::read::ZlibDecoder::new(&out[start..]).read_to_end(&mut plain).unwrap();
        assert_eq!(plain[..4], [0x0a, 2, 0x40, 1]);
        assert!(plain.len() >= TOGETHER);
    }
}
