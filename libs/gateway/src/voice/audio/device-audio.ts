/** Audio on the device's side of a conversation: binary frames on its WebSocket, or datagrams. */
import { AudioPacer, decodeAudioFrame, encodeAudioFrame, reframe } from '@flotilla/voice';
import type { AudioPacket, FramingVersion } from '@flotilla/voice';
import type { ConversingDevice } from '../../conversations/conversation-host.js';
import type { UdpAudio, UdpChannel } from './udp-audio.js';
import type { FrameDrop } from '../voice-counters.js';
import type { VoiceLimits } from '../voice-limits.js';

/** Frames are those of the voice server's side, in its framing. */
export interface DeviceAudio {
  /** When a frame may go to the device, ms since the Unix epoch: `now`, or later. */
  dueAt(now: number): number;
  /** Sends one frame. Why it was dropped, or undefined. */
  send(frame: Uint8Array, now: number): FrameDrop | undefined;
  /** A binary frame of the device for the voice server; undefined where it is none. */
  fromDevice(frame: Uint8Array): Uint8Array | undefined;
  /** What was sent is no longer played. */
  interrupted(): void;
  /** Packets of the device that got lost on the way. */
  readonly lost: number;
  close(): void;
}

/** Milliseconds of sound in a packet where nobody says. */
const FRAME_MS = 60;

export class SocketAudio implements DeviceAudio {
  readonly lost = 0;

  constructor(
    private readonly device: ConversingDevice,
    private readonly framings: { readonly device: FramingVersion; readonly backend: FramingVersion },
    private readonly limits: Pick<VoiceLimits, 'deviceUnsentBytesMax' | 'drainPollMs'>,
  ) {}

  /** Voice servers pace themselves for a device on WebSocket; only one that does not keep up makes them wait. */
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
    // Nothing is ahead of its time here.
  }

  close(): void {
    // The socket is the device's.
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

/** What a datagram brought, as the voice server takes it. */
export function frameOf(packet: AudioPacket, backend: FramingVersion): Uint8Array {
  return encodeAudioFrame(backend, packet);
}

/** Milliseconds of sound in a packet, as a hello says. */
export function frameMsOf(hello: Readonly<Record<string, unknown>>): number {
  const params = hello['audio_params'];
  const frameMs =
    typeof params === 'object' && params !== null && 'frame_duration' in params ? params.frame_duration : undefined;
  return typeof frameMs === 'number' && frameMs >= 5 && frameMs <= 120 ? frameMs : FRAME_MS;
}
