/**
 * Binary WebSocket frames with one Opus packet each, in the three framings of devices. Integers are
 * big-endian. [xiaozhi §1.4]
 */

/** The framing of audio, from the `Protocol-Version` header and the hello's `version`. */
export type FramingVersion = 1 | 2 | 3;

/** One Opus packet. `timestamp` is in ms, 0 if the framing has none. */
export interface AudioPacket {
  readonly payload: Uint8Array;
  readonly timestamp: number;
}

type DecodedFrame =
  { readonly ok: true; readonly packet: AudioPacket } | { readonly ok: false; readonly problem: string };

/** Bytes before the payload. */
const HEADER_BYTES = { 1: 0, 2: 16, 3: 4 } as const;
/** The `type` of audio frames, the only ones that are sent. */
const AUDIO_TYPE = 0;
/** The length field of framing 3 has 16 bits. */
const VERSION_3_PAYLOAD_MAX = 0xff_ff;

/**
 * Parses a frame of either side. Rejects wrong lengths, other types and empty packets, because
 * devices do not check them.
 */
export function decodeAudioFrame(version: FramingVersion, frame: Uint8Array): DecodedFrame {
  const header = HEADER_BYTES[version];
  if (frame.length <= header)
    return { ok: false, problem: `a frame of version ${version} has more than ${header} bytes, not ${frame.length}` };
  if (version === 1) return { ok: true, packet: { payload: frame, timestamp: 0 } };
  const payload = frame.subarray(header);
  const view = new DataView(frame.buffer, frame.byteOffset, header);
  const type = version === 2 ? view.getUint16(2) : view.getUint8(0);
  if (type !== AUDIO_TYPE) return { ok: false, problem: `a frame of type ${type} is not audio` };
  const length = version === 2 ? view.getUint32(12) : view.getUint16(2);
  if (length !== payload.length)
    return { ok: false, problem: `a frame says ${length} bytes of audio and has ${payload.length}` };
  return { ok: true, packet: { payload, timestamp: version === 2 ? view.getUint32(8) : 0 } };
}

/** Builds a frame. Throws RangeError for more than 65,535 bytes in framing 3. */
export function encodeAudioFrame(version: FramingVersion, { payload, timestamp }: AudioPacket): Uint8Array {
  if (version === 1) return payload;
  if (version === 3 && payload.length > VERSION_3_PAYLOAD_MAX)
    throw new RangeError(`a frame of version 3 has at most ${VERSION_3_PAYLOAD_MAX} bytes of audio`);
  const header = HEADER_BYTES[version];
  const frame = new Uint8Array(header + payload.length);
  const view = new DataView(frame.buffer);
  if (version === 2) {
    view.setUint16(0, version);
    view.setUint32(8, timestamp >>> 0);
    view.setUint32(12, payload.length);
  } else {
    view.setUint16(2, payload.length);
  }
  frame.set(payload, header);
  return frame;
}

/**
 * Converts a frame to another framing, or returns it if both are equal. Rejects a frame that cannot
 * be parsed.
 */
export function reframe(
  from: FramingVersion,
  to: FramingVersion,
  frame: Uint8Array,
): { readonly ok: true; readonly frame: Uint8Array } | { readonly ok: false; readonly problem: string } {
  const decoded = decodeAudioFrame(from, frame);
  if (!decoded.ok) return decoded;
  if (from === to) return { ok: true, frame };
  if (to === 3 && decoded.packet.payload.length > VERSION_3_PAYLOAD_MAX)
    return { ok: false, problem: 'the audio is too long for framing 3' };
  return { ok: true, frame: encodeAudioFrame(to, decoded.packet) };
}
