//! The few messages of Perfetto's format that a timeline needs, by their field numbers
//! (protos/perfetto/trace/trace_packet.proto and what it imports), and how protobuf writes fields.

use std::io::{self, Write};

use flate2::Compression;
use flate2::write::ZlibEncoder;

/// A message under way.
#[derive(Clone, Debug, Default)]
pub(super) struct Message(Vec<u8>);

impl Message {
    pub fn number(mut self, field: u32, value: u64) -> Self {
        self.varint(u64::from(field) << 3);
        self.varint(value);
        self
    }

    /// A number of 64 bits, always in eight bytes.
    pub fn fixed(mut self, field: u32, value: u64) -> Self {
        self.varint(u64::from(field) << 3 | 1);
        self.0.extend(value.to_le_bytes());
        self
    }

    pub fn text(self, field: u32, text: &str) -> Self {
        self.bytes(field, text.as_bytes())
    }

    pub fn message(self, field: u32, message: &Message) -> Self {
        self.bytes(field, &message.0)
    }

    fn bytes(mut self, field: u32, bytes: &[u8]) -> Self {
        self.varint(u64::from(field) << 3 | 2);
        self.varint(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
        self
    }

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

/// A trace under way: packets, compressed many at a time.
pub(super) struct Packets<W: Write> {
    out: W,
    together: Message,
}

impl<W: Write> Packets<W> {
    pub fn new(out: W) -> Self {
        Packets { out, together: Message::default() }
    }

    pub fn add(&mut self, packet: &Message) -> io::Result<()> {
        self.together = std::mem::take(&mut self.together).message(PACKET, packet);
        if self.together.0.len() >= TOGETHER { self.compress() } else { Ok(()) }
    }

    fn compress(&mut self) -> io::Result<()> {
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(&self.together.0)?;
        let packet = Message::default().bytes(COMPRESSED, &encoder.finish()?);
        self.together.0.clear();
        self.out.write_all(&Message::default().message(PACKET, &packet).0)
    }

    /// All that is left; what it was written to.
    pub fn finish(mut self) -> io::Result<W> {
        self.compress()?;
        Ok(self.out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    /// Protobuf's own examples (its documentation, "Encoding"): 150, a text, a message in a message.
    #[test]
    fn fields_are_as_protobuf_has_them() {
        assert_eq!(Message::default().number(1, 150).0, [0x08, 0x96, 0x01]);
        let text = Message::default().text(2, "testing");
        assert_eq!(text.0, [0x12, 0x07, 0x74, 0x65, 0x73, 0x74, 0x69, 0x6e, 0x67]);
        let inner = Message::default().number(1, 150);
        assert_eq!(Message::default().message(3, &inner).0, [0x1a, 0x03, 0x08, 0x96, 0x01]);
        assert_eq!(Message::default().fixed(1, 1).0, [0x09, 1, 0, 0, 0, 0, 0, 0, 0]);
    }

    #[test]
    fn packets_are_compressed_and_all_there() {
        let mut packets = Packets::new(Vec::new());
        let packet = Message::default().number(8, 1);
        (0..100_000).for_each(|_| packets.add(&packet).unwrap());
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
