/**
 * Audio datagrams of MQTT devices: a plain header of 16 bytes, which is also the first counter
 * block of AES-128-CTR, and the encrypted Opus packet. They are not authenticated, so an
 * eavesdropper can forge packets. Integers are big-endian. [xiaozhi §2.5]
 */

/** Bytes of the header, which is also the counter block. */
export const UDP_HEADER_BYTES = 16;
/** Devices read no more of one datagram. */
export const UDP_DATAGRAM_BYTES_MAX = 1500;

/** Byte 0 of every packet, in both directions. */
const AUDIO_PACKET = 1;

export interface UdpHeader {
  /** Bytes of audio after the header. */
  readonly length: number;
  /** The sender: bytes 4 to 7 of the nonce in the hello. */
  readonly ssrc: number;
  /** ms; wraps at 2^32. */
  readonly timestamp: number;
  /** 1 for the first packet. */
  readonly sequence: number;
}

type ReadUdpHeader =
  { readonly ok: true; readonly header: UdpHeader } | { readonly ok: false; readonly problem: UdpProblem };

/** Why a datagram is not an audio packet. */
export type UdpProblem = 'truncated' | 'too_long' | 'wrong_type' | 'wrong_length';

/** Parses the header. The length must match exactly, as on the device. */
export function readUdpHeader(datagram: Uint8Array): ReadUdpHeader {
  if (datagram.length <= UDP_HEADER_BYTES) return { ok: false, problem: 'truncated' };
  if (datagram.length > UDP_DATAGRAM_BYTES_MAX) return { ok: false, problem: 'too_long' };
  const view = new DataView(datagram.buffer, datagram.byteOffset, UDP_HEADER_BYTES);
  if (view.getUint8(0) !== AUDIO_PACKET) return { ok: false, problem: 'wrong_type' };
  const length = view.getUint16(2);
  if (length !== datagram.length - UDP_HEADER_BYTES) return { ok: false, problem: 'wrong_length' };
  return {
    ok: true,
    header: { length, ssrc: view.getUint32(4), timestamp: view.getUint32(8), sequence: view.getUint32(12) },
  };
}

/** Makes the header, and so the counter block, of one packet. */
export function makeUdpHeader(fields: UdpHeader): Uint8Array {
  const header = new Uint8Array(UDP_HEADER_BYTES);
  writeUdpHeader(header, fields);
  return header;
}

/** Writes the header to the beginning of the datagram. */
export function writeUdpHeader(datagram: Uint8Array, { length, ssrc, timestamp, sequence }: UdpHeader): void {
  const view = new DataView(datagram.buffer, datagram.byteOffset, UDP_HEADER_BYTES);
  view.setUint8(0, AUDIO_PACKET);
  view.setUint8(1, 0);
  view.setUint16(2, length);
  view.setUint32(4, ssrc);
  view.setUint32(8, timestamp >>> 0);
  view.setUint32(12, sequence);
}

/** The nonce of a hello: type and sender number; the device fills in the rest. 32 hex digits. */
export function nonceOf(ssrc: number): string {
  return `01000000${(ssrc >>> 0).toString(16).padStart(8, '0')}0000000000000000`;
}
