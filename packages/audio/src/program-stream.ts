/** Reads the first audio stream of an MPEG program stream (`.mpg`, `.mpeg`, `.vob`; ISO 13818-1, 2.5). */

const PACK = 0xba;
const END = 0xb9;
const FIRST_AUDIO = 0xc0;
const LAST_AUDIO = 0xdf;
const START_CODE_BYTES = 4;
/** Longest packet: a 16-bit length after its start code. */
const MAX_PACKET_BYTES = 6 + 0xffff;

/** Yields the elementary stream: MPEG audio frames, cut anywhere. Skips bytes up to the next start code where one is missing. */
export async function* readProgramStream(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let rest: Buffer = Buffer.alloc(0);
  let streamId: number | undefined;
  for await (const chunk of chunks) {
    rest = Buffer.concat([rest, chunk]);
    let at = 0;
    for (let packet = nextPacket(rest, at); packet !== undefined; packet = nextPacket(rest, at)) {
      at = packet.end;
      if (packet.id < FIRST_AUDIO || packet.id > LAST_AUDIO) continue;
      streamId ??= packet.id;
      if (packet.id === streamId) yield payloadOf(rest.subarray(packet.start, packet.end));
    }
    rest = rest.subarray(at);
    // Without a start code in so many bytes this is not a program stream; its last bytes may begin one.
    if (rest.length > 2 * MAX_PACKET_BYTES) rest = rest.subarray(-START_CODE_BYTES);
  }
}

interface Packet {
  id: number;
  start: number;
  end: number;
}

/** Returns undefined until the packet is complete. */
function nextPacket(bytes: Buffer, from: number): Packet | undefined {
  const start = bytes.indexOf("\0\0\x01", from, "latin1");
  if (start < 0 || start + 6 > bytes.length) return undefined;
  const id = bytes[start + 3] as number;
  const length = lengthOf(id, bytes, start);
  return length === undefined || start + length > bytes.length ? undefined : { id, start, end: start + length };
}

function lengthOf(id: number, bytes: Buffer, start: number): number | undefined {
  if (id === END || id < END) return START_CODE_BYTES;
  if (id !== PACK) return 6 + bytes.readUInt16BE(start + 4);
  // MPEG-1's pack header has a fixed length, MPEG-2's ends with stuffing.
  if (((bytes[start + 4] as number) & 0xc0) !== 0x40) return 12;
  const stuffing = bytes[start + 13];
  return stuffing === undefined ? undefined : 14 + (stuffing & 7);
}

/** Removes a packet's header (ISO 13818-1, 2.4.3.6; ISO 11172-1, 2.4.3.3 for MPEG-1). */
function payloadOf(packet: Buffer): Buffer {
  const flags = packet[6] ?? 0;
  if ((flags & 0xc0) === 0x80) return packet.subarray(9 + (packet[8] ?? 0));
  let at = 6;
  while (packet[at] === 0xff) at += 1;
  if (((packet[at] ?? 0) & 0xc0) === 0x40) at += 2;
  const timestamps = (packet[at] ?? 0) & 0xf0;
  return packet.subarray(at + (timestamps === 0x20 ? 5 : timestamps === 0x30 ? 10 : 1));
}
