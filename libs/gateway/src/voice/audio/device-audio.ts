/** The device side of a conversation's audio: binary frames on its WebSocket, or datagrams. */
import { AudioPacer, decodeAudioFrame, encodeAudioFrame, reframe } from '@flotilla/voice';
import type { AudioPacket, FramingVersion } from '@flotilla/voice';
import type { ConversingDevice } from '../../conversations/conversation-host.js';
import type { UdpAudio, UdpChannel } from './udp-audio.js';
import type { FrameDrop } from '../voice-counters.js';
import type { VoiceLimits } from '../voice-limits.js';

/** Frames are in the framing of the voice server. */
export interface DeviceAudio {
  /** When a frame may be sent to the device, ms since the Unix epoch: `now` or later. */
  dueAt(now: number): number;
  /** Sends one frame. Returns why it was dropped, or undefined. */
  send(frame: Uint8Array, now: number): FrameDrop | undefined;
  /** Converts a binary frame of the device for the voice server; undefined if it is invalid. */
  fromDevice(frame: Uint8Array): Uint8Array | undefined;
  /** The device no longer plays what was sent. */
  interrupted(): void;
  /** Packets of the device that were lost. */
  readonly lost: number;
  close(): void;
}

/** Milliseconds of sound in a packet, if the hello has none. */
const FRAME_MS = 60;

export class SocketAudio implements DeviceAudio {
  readonly lost = 0;

  constructor(
    private readonly device: ConversingDevice,
    private readonly framings: { readonly device: FramingVersion; readonly backend: FramingVersion },
    private readonly limits: Pick<VoiceLimits, 'deviceUnsentBytesMax' | 'drainPollMs'>,
  ) {}

  /** Voice servers pace audio for WebSocket devices; only a slow device makes them wait. */
  dueAt(now: number): number {
    return this.device.unsentBytes > this.limits.deviceUnsentBytesMax ? now + this.limits.drainPollMs : now;
  }

  send(frame: Uint8Array): FrameDrop | undefined {
    const moved = reframe(this.framings.backend, this.framings.device, frame);
    if (!moved.ok) return 'malformed';
    return this.device.sendAudio(moved.frame) ? undefined : 'device_gone';
  }

  fromDevice(frame: Uint8Array): Uint8Array | undefined {
    const moved = reframe(this.framings.device, this.framings.backend, frame);
    return moved.ok ? moved.frame : undefined;
  }

  interrupted(): void {
    // Nothing is sent ahead of time.
  }

  close(): void {
    // The socket belongs to the device.
  }
}

export class DatagramAudio implements DeviceAudio {
  readonly #pacer: AudioPacer;
  #timestamp = 0;

  constructor(
    private readonly udp: UdpAudio,
    readonly channel: UdpChannel,
    private readonly options: {
      readonly backend: FramingVersion;
      readonly limits: Pick<VoiceLimits, 'leadFrames'>;
      /** Milliseconds of sound in a packet of the voice server. */
      readonly frameMs: number;
    },
  ) {
    this.#pacer = new AudioPacer({ frameMs: options.frameMs, leadFrames: options.limits.leadFrames });
  }

  get lost(): number {
    return this.channel.lost;
  }

  dueAt(now: number): number {
    return this.#pacer.nextAt(now);
  }

  send(frame: Uint8Array, now: number): FrameDrop | undefined {
    const decoded = decodeAudioFrame(this.options.backend, frame);
    if (!decoded.ok) return 'malformed';
    const { payload, timestamp } = decoded.packet;
    this.#timestamp = timestamp === 0 ? this.#timestamp + this.options.frameMs : timestamp;
    this.#pacer.sent(now);
    return this.channel.sendAudio({ payload, timestamp: this.#timestamp });
  }

  fromDevice(): undefined {
    return undefined;
  }

  interrupted(): void {
    this.#pacer.interrupted();
  }

  close(): void {
    this.udp.closeChannel(this.channel);
  }
}

/** Converts the content of a datagram to the framing of the voice server. */
export function frameOf(packet: AudioPacket, backend: FramingVersion): Uint8Array {
  return encodeAudioFrame(backend, packet);
}

/** Reads the milliseconds of sound in a packet from a hello. */
export function frameMsOf(hello: Readonly<Record<string, unknown>>): number {
  const params = hello['audio_params'];
  const frameMs =
    typeof params === 'object' && params !== null && 'frame_duration' in params ? params.frame_duration : undefined;
  return typeof frameMs === 'number' && frameMs >= 5 && frameMs <= 120 ? frameMs : FRAME_MS;
}
