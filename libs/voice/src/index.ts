export { decodeAudioFrame, encodeAudioFrame, reframe } from './audio-frame.js';
export type { AudioPacket, FramingVersion } from './audio-frame.js';
export { AudioPacer } from './audio-pacer.js';
export { CounterMode } from './counter-mode.js';
export { SequenceWindow } from './sequence-window.js';
export {
  makeUdpHeader,
  nonceOf,
  readUdpHeader,
  UDP_DATAGRAM_BYTES_MAX,
  UDP_HEADER_BYTES,
  writeUdpHeader,
} from './udp-packet.js';
export type { UdpHeader, UdpProblem } from './udp-packet.js';
