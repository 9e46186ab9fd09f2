//! Packets out of a stream and into it.
//!
//! A packet travels as frames: three bytes of length, one byte of sequence number, then at most 16 MiB - 1
//! bytes. A frame of exactly that length says that the packet goes on in the next one. Sequence numbers begin at 0
//! with each command and count the frames of both directions.
//!
//! The reader joins the frames of a long packet in place, so a packet is always one slice of the one buffer that
//! the stream was read into: nothing is copied for packets of one frame.

use std::ops::Range;

use crate::WireError;

/// Bytes of a frame's header.
pub const HEADER_BYTES: usize = 4;
/// The longest frame; a packet of this length or more is split.
pub const FRAME_BYTES_MAX: usize = 0xff_ffff;
/// No `max_allowed_packet` may be above this, as in MySQL.
pub const PACKET_BYTES_MAX: usize = 1 << 30;

/// Collects bytes of a stream and finds the packets in them.
#[derive(Debug)]
pub struct PacketReader {
    buf: Vec<u8>,
    /// Where the packet that is being collected begins: its joined payload, after those already taken.
    start: usize,
    /// Payload bytes joined so far, from whole frames of the packet.
    joined: usize,
    sequence: u8,
    /// Any sequence number is taken.
    is_uncounted: bool,
    limit: usize,
}

impl PacketReader {
    /// A reader that refuses packets of more than `limit` bytes.
    pub fn new(limit: usize) -> Self {
        let limit = limit.min(PACKET_BYTES_MAX);
        PacketReader { buf: Vec::new(), start: 0, joined: 0, sequence: 0, is_uncounted: false, limit }
    }

    /// From here on sequence numbers are not checked: a compressed stream counts its own frames, and clients number the packets inside by those.
    pub fn take_any_sequence(&mut self) {
        self.is_uncounted = true;
    }

    /// Sets `max_allowed_packet`.
    pub fn set_limit(&mut self, limit: usize) {
        self.limit = limit.min(PACKET_BYTES_MAX);
    }

    /// `max_allowed_packet`.
    pub fn limit(&self) -> usize {
        self.limit
    }

    /// Where bytes from the stream are to be appended.
    pub fn buffer(&mut self) -> &mut Vec<u8> {
        &mut self.buf
    }

    /// Whether no byte is waiting here: the stream is between two packets.
    pub fn is_empty(&self) -> bool {
        self.start == self.buf.len() && self.joined == 0
    }

    /// The sequence number that the next frame must have; 0 before a command.
    pub fn set_sequence(&mut self, sequence: u8) {
        self.sequence = sequence;
    }

    /// The sequence number after the last frame that was read: what an answer begins with.
    pub fn sequence(&self) -> u8 {
        self.sequence
    }

    /// The next whole packet, as the range of its bytes in [`PacketReader::buffer`]; `None` if more bytes are needed.
    /// The range stands until [`PacketReader::release`].
    pub fn next_packet(&mut self) -> Result<Option<Range<usize>>, WireError> {
        loop {
            // Layout: ..taken.. | start: joined payload | header, frame.. (not examined yet)
            let header = self.start + self.joined;
            let Some([a, b, c, sequence]) = self.buf.get(header..).and_then(|rest| rest.first_chunk::<HEADER_BYTES>())
            else {
                return Ok(None);
            };
            let (len, sequence) = (u32::from_le_bytes([*a, *b, *c, 0]) as usize, *sequence);
            if self.is_uncounted {
                self.sequence = sequence;
            }
            if sequence != self.sequence {
                return Err(WireError::OutOfOrder { expected: self.sequence, got: sequence });
            }
            if self.joined + len > self.limit {
                // What is said about it answers this frame.
                self.sequence = sequence.wrapping_add(1);
                return Err(WireError::TooLarge { limit: self.limit });
            }
            let end = header + HEADER_BYTES + len;
            if self.buf.len() < end {
                return Ok(None);
            }
            self.sequence = self.sequence.wrapping_add(1);
            let first_frame_is_all = self.joined == 0 && len < FRAME_BYTES_MAX;
            if first_frame_is_all {
                self.start = end;
                return Ok(Some(header + HEADER_BYTES..end));
            }
            self.buf.drain(header..header + HEADER_BYTES);
            self.joined += len;
            if len < FRAME_BYTES_MAX {
                let packet = self.start..self.start + self.joined;
                self.start = packet.end;
                self.joined = 0;
                return Ok(Some(packet));
            }
        }
    }

    /// Whether a whole packet is here, so that [`PacketReader::next_packet`] finds one (or an error).
    pub fn has_packet(&self) -> bool {
        let Some([a, b, c, _]) = self.buf.get(self.start + self.joined..).and_then(|rest| rest.first_chunk()) else {
            return false;
        };
        let len = u32::from_le_bytes([*a, *b, *c, 0]) as usize;
        len < FRAME_BYTES_MAX && self.buf.len() >= self.start + self.joined + HEADER_BYTES + len
    }

    /// Forgets the packets that were taken. Memory that only large packets needed is given back; with nothing left
    /// in it, the buffer keeps at most `keep` bytes of capacity.
    pub fn release(&mut self, keep: usize) {
        self.buf.drain(..self.start);
        self.start = 0;
        if self.buf.is_empty() && self.buf.capacity() > keep {
            self.buf = Vec::with_capacity(keep);
        }
    }

    /// Takes the packet that was last found out of the buffer, so that more can be read while the packet is looked at; what
    /// follows the packet stays: a buffer, and the packet's range in it. [`PacketReader::recycle`] gives the memory back.
    pub fn detach(&mut self, packet: Range<usize>) -> (Vec<u8>, Range<usize>) {
        debug_assert_eq!(self.joined, 0, "in the middle of a packet");
        let following = self.buf.len() - self.start;
        if following > packet.len() {
            // The smaller one is copied: many small packets may have come at once.
            let copy = self.buf[packet].to_vec();
            let whole = 0..copy.len();
            return (copy, whole);
        }
        let rest = if following > 0 { self.buf.split_off(self.start) } else { Vec::new() };
        self.start = 0;
        (std::mem::replace(&mut self.buf, rest), packet)
    }

    /// Takes memory back that [`PacketReader::detach`] gave, if it is not more than `keep` bytes and of use.
    pub fn recycle(&mut self, mut buf: Vec<u8>, keep: usize) {
        if self.buf.capacity() == 0 && buf.capacity() <= keep {
            buf.clear();
            self.buf = buf;
        }
    }

    /// Takes what was read but belongs to whoever reads the stream from here on (TLS).
    pub fn take_unread(&mut self) -> Vec<u8> {
        let unread = self.buf.split_off(self.start);
        self.buf = Vec::new();
        self.start = 0;
        self.joined = 0;
        unread
    }
}

/// Collects packets to be sent.
#[derive(Debug, Default)]
pub struct PacketWriter {
    buf: Vec<u8>,
    sequence: u8,
}

impl PacketWriter {
    /// Nothing to send, sequence number 0.
    pub fn new() -> Self {
        PacketWriter::default()
    }

    /// The sequence number of the next frame.
    pub fn set_sequence(&mut self, sequence: u8) {
        self.sequence = sequence;
    }

    /// The sequence number of the next frame.
    pub fn sequence(&self) -> u8 {
        self.sequence
    }

    /// Appends one packet, whose payload `fill` appends to what it is given.
    pub fn packet(&mut self, fill: impl FnOnce(&mut Vec<u8>)) {
        let Ok(()) = self.try_packet(|out| {
            fill(out);
            Ok::<(), std::convert::Infallible>(())
        });
    }

    /// As [`PacketWriter::packet`]; if `fill` fails, the packet was never begun.
    pub fn try_packet<E>(&mut self, fill: impl FnOnce(&mut Vec<u8>) -> Result<(), E>) -> Result<(), E> {
        let start = self.buf.len();
        self.buf.extend_from_slice(&[0; HEADER_BYTES]);
        if let Err(error) = fill(&mut self.buf) {
            self.buf.truncate(start);
            return Err(error);
        }
        let len = self.buf.len() - start - HEADER_BYTES;
        if len < FRAME_BYTES_MAX {
            self.header_at(start, len);
        } else {
            self.split_from(start);
        }
        Ok(())
    }

    /// Appends one packet with this payload.
    pub fn payload(&mut self, payload: &[u8]) {
        self.packet(|out| out.extend_from_slice(payload));
    }

    /// Bytes that wait to be sent.
    pub fn len(&self) -> usize {
        self.buf.len()
    }

    /// Whether nothing waits to be sent.
    pub fn is_empty(&self) -> bool {
        self.buf.is_empty()
    }

    /// What is to be sent.
    pub fn bytes(&self) -> &[u8] {
        &self.buf
    }

    /// After [`PacketWriter::bytes`] were sent. At most `keep` bytes of capacity stay.
    pub fn sent(&mut self, keep: usize) {
        self.buf.clear();
        if self.buf.capacity() > keep {
            self.buf = Vec::with_capacity(keep);
        }
    }

    /// Goes back to an earlier [`PacketWriter::len`] and its sequence number: what came after was never said.
    pub fn truncate(&mut self, len: usize, sequence: u8) {
        self.buf.truncate(len);
        self.sequence = sequence;
    }

    fn header_at(&mut self, at: usize, len: usize) {
        debug_assert!(len <= FRAME_BYTES_MAX);
        let [a, b, c, _] = (len as u32).to_le_bytes();
        self.buf[at..at + HEADER_BYTES].copy_from_slice(&[a, b, c, self.sequence]);
        self.sequence = self.sequence.wrapping_add(1);
    }

    /// Puts the payload of a long packet into frames. A packet that fills its last frame is followed by an empty one.
    fn split_from(&mut self, start: usize) {
        let payload = self.buf.split_off(start + HEADER_BYTES);
        self.buf.truncate(start);
        let mut frames = payload.chunks(FRAME_BYTES_MAX);
        loop {
            let frame = frames.next().unwrap_or(&[]);
            let at = self.buf.len();
            self.buf.extend_from_slice(&[0; HEADER_BYTES]);
            self.buf.extend_from_slice(frame);
            self.header_at(at, frame.len());
            if frame.len() < FRAME_BYTES_MAX {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_all(reader: &mut PacketReader) -> Vec<Vec<u8>> {
        let mut packets = Vec::new();
        while let Some(range) = reader.next_packet().unwrap() {
            packets.push(reader.buffer()[range].to_vec());
        }
        packets
    }

    #[test]
    fn packets_of_every_interesting_length_come_back() {
        let lengths = [0, 1, 300, FRAME_BYTES_MAX - 1, FRAME_BYTES_MAX, FRAME_BYTES_MAX + 1, 2 * FRAME_BYTES_MAX, 7];
        let payload = |len: usize| (0..len).map(|i| (i % 251) as u8).collect::<Vec<u8>>();
        let mut writer = PacketWriter::new();
        for len in lengths {
            writer.payload(&payload(len));
        }
        let mut reader = PacketReader::new(64 << 20);
        let mut packets = Vec::new();
        for piece in writer.bytes().chunks(5_000_011) {
            reader.buffer().extend_from_slice(piece);
            packets.extend(read_all(&mut reader));
            reader.release(0);
        }
        assert_eq!(packets.len(), lengths.len());
        for (packet, len) in packets.iter().zip(lengths) {
            assert!(*packet == payload(len), "length {len}");
        }
        assert!(reader.is_empty());
        assert_eq!(reader.sequence(), writer.sequence());
    }

    #[test]
    fn too_large_is_said_at_the_header() {
        let mut reader = PacketReader::new(1000);
        reader.buffer().extend_from_slice(&[0xe9, 3, 0, 0]);
        assert_eq!(reader.next_packet(), Err(WireError::TooLarge { limit: 1000 }));
        assert_eq!(reader.sequence(), 1, "of the answer");
    }

    #[test]
    fn a_gap_in_the_sequence_is_an_error() {
        let mut reader = PacketReader::new(1000);
        reader.buffer().extend_from_slice(&[1, 0, 0, 3, b'x']);
        assert_eq!(reader.next_packet(), Err(WireError::OutOfOrder { expected: 0, got: 3 }));
    }

    #[test]
    fn a_detached_packet_leaves_what_follows() {
        let mut writer = PacketWriter::new();
        writer.payload(b"one");
        writer.payload(b"two");
        let mut reader = PacketReader::new(1000);
        reader.buffer().extend_from_slice(&writer.bytes()[..11]);
        let packet = reader.next_packet().unwrap().unwrap();
        let (buf, packet) = reader.detach(packet);
        assert_eq!(&buf[packet], b"one");
        reader.recycle(buf, 100);
        reader.buffer().extend_from_slice(&writer.bytes()[11..]);
        assert_eq!(read_all(&mut reader), [b"two"]);
    }

    #[test]
    fn many_packets_that_came_at_once_are_detached_one_by_one() {
        let mut writer = PacketWriter::new();
        let mut reader = PacketReader::new(1000);
        for n in 0..100_000_u32 {
            writer.set_sequence(0);
            writer.payload(&n.to_le_bytes());
        }
        reader.buffer().extend_from_slice(writer.bytes());
        for n in 0..100_000_u32 {
            reader.set_sequence(0);
            let packet = reader.next_packet().unwrap().unwrap();
            let (buf, packet) = reader.detach(packet);
            assert_eq!(buf[packet], n.to_le_bytes());
            reader.recycle(buf, 100);
        }
        assert!(reader.is_empty());
    }

    #[test]
    fn a_failed_packet_leaves_no_trace() {
        let mut writer = PacketWriter::new();
        writer.payload(b"one");
        let before = (writer.len(), writer.sequence());
        let result = writer.try_packet(|out| {
            out.extend_from_slice(b"half");
            Err("no")
        });
        assert_eq!(result, Err("no"));
        assert_eq!((writer.len(), writer.sequence()), before);
    }
}
