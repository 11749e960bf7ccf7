/** The test bench of the relay: a device, voice servers of the test, and a UDP port. */
import type { JsonObject } from '@flotilla/mcp';
import type { Clock } from '@flotilla/session';
import type { FramingVersion } from '@flotilla/voice';
import { expect, vi } from 'vitest';
import type { Conversation, HelloAnswer } from '../../conversations/conversation-host.js';
import { ListeningDevice } from '../../conversations/listening-device.suite.js';
import { NoVoice } from '../../conversations/no-voice.js';
import { realClock, silentLogger } from '../../ingress.suite.js';
import { backendName } from '../backend/backend-health.js';
import type { VoiceAnswer } from '../backend/backend-mcp.js';
import { UdpAudio } from '../audio/udp-audio.js';
import { VoiceCounters } from '../voice-counters.js';
import { defaultVoiceLimits } from '../voice-limits.js';
import type { VoiceLimits } from '../voice-limits.js';
import { VoiceRelay } from './voice-relay.js';
import type { VoiceServer } from '../backend/voice-server.js';
import { TestVoiceServer } from '../backend/voice-server.suite.js';
import type { Refusing } from '../backend/voice-server.suite.js';

const closers: (() => Promise<void> | void)[] = [];

/** Registers a function to run after the test. */
export function closeLater(close: () => Promise<void> | void): void {
  closers.push(close);
}

/** For `afterEach`. */
export async function closeAll(): Promise<void> {
  for (const close of closers.splice(0).reverse()) await close();
}

export async function openServer(refusing?: Refusing): Promise<TestVoiceServer> {
  const server = await TestVoiceServer.open(refusing);
  closers.push(() => server.close());
  return server;
}

/** A listed server, like the fleet's, unless the spec changes it. */
export function listed({ url }: { readonly url: string }, rights: Partial<VoiceServer> = {}): VoiceServer {
  return { url, credential: undefined, isListed: true, mayCallUserOnly: false, guard: undefined, ...rights };
}

export interface StageOptions {
  readonly servers: readonly VoiceServer[];
  readonly limits?: Partial<VoiceLimits>;
  readonly udp?: () => UdpAudio;
  /** Of the UDP port. */
  readonly host?: string;
  /** Real time by default. */
  readonly clock?: Clock;
}

export class RelayStage {
  readonly device = new ListeningDevice('127.0.0.1');
  readonly counters = new VoiceCounters();
  readonly asked: JsonObject[] = [];
  /** Changes of voice servers' states. */
  readonly turns: string[] = [];
  called: VoiceAnswer = { kind: 'result', result: { content: [{ type: 'text', text: 'true' }], isError: false } };
  readonly relay: VoiceRelay;

  private constructor(
    readonly udp: UdpAudio,
    options: StageOptions,
  ) {
    const { clock = realClock } = options;
    this.relay = new VoiceRelay({
      serversOf: () => Promise.resolve(options.servers),
      calls: {
        callTool: (call) => {
          this.asked.push({ ...call });
          return Promise.resolve(this.called);
        },
      },
      checksAddress: true,
      hosts: {},
      known: options.servers.map(({ url }) => url),
      watch: {
        changed: () => undefined,
        turned: ({ state, url }) => void this.turns.push(`${backendName(url)} ${state}`),
      },
      udp: options.udp ?? (() => udp),
      clock,
      counters: this.counters,
      logger: silentLogger,
      voiceless: new NoVoice({ clock, idleMs: 0, hosts: {}, udpPort: () => udp.port }),
      limits: { ...defaultVoiceLimits, closingTimeoutMs: 50, ...options.limits },
    });
  }

  static async set(options: StageOptions): Promise<RelayStage> {
    const udp = await UdpAudio.open({ host: options.host ?? '127.0.0.1', port: 0 });
    const stage = new RelayStage(udp, options);
    closers.push(
      () => udp.close(),
      () => stage.relay.stop(),
    );
    return stage;
  }

  /** Sends hello and resolves with the answer. */
  async converse(
    transport: 'udp' | 'websocket',
    version: FramingVersion,
  ): Promise<{ conversation: Conversation; answer: HelloAnswer }> {
    let answer: HelloAnswer | undefined;
    const message = {
      type: 'hello',
      version,
      features: { mcp: true },
      transport,
      audio_params: { format: 'opus', sample_rate: 16_000 },
    };
    const hello = { transport, version, hasMcp: true };
    const conversation = this.relay.open({ device: this.device, hello, message }, (one) => (answer = one));
    return vi.waitFor(() => {
      if (answer === undefined) throw new Error('no answer yet');
      return { conversation, answer };
    });
  }

  /**
   * Waits until the device was checked several more times, so that any consequence has occurred.
   */
  async lookedAtDevice(): Promise<void> {
    const before = this.device.looks;
    await vi.waitFor(() => expect(this.device.looks).toBeGreaterThan(before + 3));
  }

  count(name: string): number {
    return this.counters.list().find((one) => one.name === `voice_${name}`)?.count ?? 0;
  }
}
