/** Text messages of a server as they go over the wire, many in one buffer, because a write for each costs more than all the rest of it. [RFC 6455 §5.2] */

/** The last fragment of a message, and its only one; text. A server masks nothing, and our sockets compress nothing. */
const wholeText = 0x81;
/** Up to here the length stands in the second byte; above, it says in how many bytes it follows. */
const lengthInPlaceMax = 125;
const lengthInTwoBytes = 126;
const lengthInEightBytes = 127;

/**
 * One message for each of `middles`, in order; all parts are UTF-8. In pieces of `bytesMax`, so that one writer can wait for its reader between them, or of a
 * message that is longer by itself.
 */
export function* textFrames(
  before: Buffer,
  middles: readonly Buffer[],
  after: Buffer,
  bytesMax: number,
): Generator<Buffer> {
  let from = 0;
  let bytes = 0;
  for (const [index, { length }] of middles.entries()) {
    bytes += length;
    if (bytes <= bytesMax || index === from) continue;
    yield framesOf(before, middles.slice(from, index), after);
    [from, bytes] = [index, length];
  }
  if (from < middles.length) yield framesOf(before, from === 0 ? middles : middles.slice(from), after);
}

function framesOf(before: Buffer, middles: readonly Buffer[], after: Buffer): Buffer {
  const around = before.length + after.length;
  let bytes = 0;
  for (const middle of middles) bytes += headerBytes(around + middle.length) + around + middle.length;
  const frames = Buffer.allocUnsafe(bytes);
  let at = 0;
  for (const middle of middles) {
    at = writeHeader(frames, at, around + middle.length);
    at += before.copy(frames, at);
    at += middle.copy(frames, at);
    at += after.copy(frames, at);
  }
  return frames;
}

function headerBytes(length: number): number {
  if (length <= lengthInPlaceMax) return 2;
  return length <= 0xffff ? 4 : 10;
}

function writeHeader(frames: Buffer, start: number, length: number): number {
  const at = frames.writeUInt8(wholeText, start);
  if (length <= lengthInPlaceMax) return frames.writeUInt8(length, at);
  if (length <= 0xffff) return frames.writeUInt16BE(length, frames.writeUInt8(lengthInTwoBytes, at));
  return frames.writeBigUInt64BE(BigInt(length), frames.writeUInt8(lengthInEightBytes, at));
}
