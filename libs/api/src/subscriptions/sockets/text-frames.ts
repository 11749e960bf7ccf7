/**
 * Writes text messages as WebSocket frames, many in one buffer: a write per message costs more than
 * everything else of it. [RFC 6455 §5.2]
 */

/** The only fragment of a text message, without mask and compression. */
const wholeText = 0x81;
/** Up to here the second byte has the length; above, it has the size of the length field. */
const lengthInPlaceMax = 125;
const lengthInTwoBytes = 126;
const lengthInEightBytes = 127;

/**
 * One message for each of `middles`, in UTF-8. In pieces of about `bytesMax`, so that a writer can
 * wait for its reader.
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
