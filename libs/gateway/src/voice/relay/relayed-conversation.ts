/**
 * A conversation between a device and a voice server, from the server's hello to its end. A voice
 * server can end at most this conversation: the device stays connected, and its calls continue.
 */
import { goodbyeMessage, isJsonObject, sortServerMessage } from '@flotilla/mcp';
import type { IncomingTransport, JsonObject } from '@flotilla/mcp';
import type { Clock } from '@flotilla/session';
import type { ConversingDevice } from '../../conversations/conversation-host.js';
import { TokenBucket } from '../../overload/token-bucket.js';
import type { BucketRate } from '../../overload/token-bucket.js';
import { AnswerQueue } from './answer-queue.js';
import type { ConversationEnd } from './conversation-end.js';
import { hangUpAfterCalls } from './hang-up.js';
import { BackendMcp } from '../backend/backend-mcp.js';
import type { VoiceCalls } from '../backend/backend-mcp.js';
import type { DeviceAudio } from '../audio/device-audio.js';
import type { BackendConnection, BackendListener } from '../backend/voice-backend.js';
import type { VoiceCounters } from '../voice-counters.js';
import type { VoiceLimits } from '../voice-limits.js';

interface RelayedConversationOptions {
  readonly device: ConversingDevice;
  readonly connection: BackendConnection;
  /** `host:port` of the voice server. */
  readonly backend: string;
  readonly audio: DeviceAudio;
  /** The ids of the conversation at the device and at the voice server. */
  readonly sessionIds: { readonly device: string; readonly backend: string | undefined };
  readonly transport: IncomingTransport;
  readonly calls: VoiceCalls;
  readonly mayCallUserOnly: boolean;
  readonly clock: Clock;
  readonly limits: VoiceLimits;
  readonly counters: VoiceCounters;
  readonly onEnded: () => void;
}

export class RelayedConversation implements BackendListener {
  readonly #queue: AnswerQueue;
  readonly #mcp: BackendMcp;
  readonly #textRate: BucketRate;
  readonly #texts: TokenBucket;
  #startedAt: number;
  #activeAt: number;
  #stalledSince: number | undefined;
  #cancelCheck: () => void = () => undefined;
  #isOver = false;
  /** The user interrupted an answer of the voice server, whose rest may still arrive. */
  #isInterrupted = false;
  readonly #sums = { framesFromDevice: 0, bytesFromDevice: 0, framesToDevice: 0, bytesToDevice: 0, framesDropped: 0 };

  constructor(private readonly options: RelayedConversationOptions) {
    const { audio, backend, calls, clock, connection, device, limits, mayCallUserOnly } = options;
    this.#startedAt = this.#activeAt = clock.now();
    this.#textRate = { perSecond: limits.backendTextsPerSecondMax, burst: limits.backendTextsBurst };
    this.#texts = new TokenBucket(this.#textRate, this.#startedAt);
    const isKeepingUp = () => device.unsentBytes <= limits.deviceUnsentBytesMax;
    this.#queue = new AnswerQueue({
      clock,
      itemsMax: limits.queuedItemsMax,
      bytesMax: limits.queuedBytesMax,
      channel: {
        dueAt: (item, now) =>
          item.kind === 'audio' ? audio.dueAt(now) : isKeepingUp() ? now : now + limits.drainPollMs,
        send: (item, now) => (item.kind === 'text' ? this.#sendText(item.message) : this.#sendFrame(item.frame, now)),
      },
      hold: (isHeld) => (connection.isPaused = isHeld),
    });
    this.#mcp = new BackendMcp({
      deviceId: device.deviceId,
      backend,
      calls,
      mayCallUserOnly,
      clock,
      limits,
      known: () => device.known(),
      answer: (payload) => this.#sendToBackend({ session_id: options.sessionIds.backend ?? '', type: 'mcp', payload }),
    });
  }

  /** Starts to relay messages of both sides, after the device has its answer. */
  start(): void {
    const { backend, connection, device, transport } = this.options;
    this.options.counters.add('started');
    device.report({ state: 'started', transport, backend });
    this.#scheduleCheck();
    connection.listen(this);
  }

  onDeviceMessage(message: JsonObject): void {
    if (this.#isOver) return;
    this.#activeAt = this.options.clock.now();
    if (message['type'] === 'abort') {
      this.#isInterrupted = true;
      this.#drop(this.#queue.interrupt(), 'interrupted');
      this.options.audio.interrupted();
    }
    this.#sendToBackend(renamed(message, this.options.sessionIds.backend));
  }

  /** A device's frame in the framing of the voice server; undefined if it could not be read. */
  onDeviceAudio(frame: Uint8Array | undefined): void {
    if (this.#isOver) return;
    const { clock, connection, counters } = this.options;
    this.#activeAt = clock.now();
    if (frame === undefined) return this.#drop(1, 'malformed');
    if (!this.#isBackendReading()) return this.#drop(1, 'backend_stalled');
    if (!connection.sendAudio(frame)) return this.#drop(1, 'backend_gone');
    this.#sums.framesFromDevice += 1;
    this.#sums.bytesFromDevice += frame.length;
    counters.add('frames_from_device');
  }

  onMessage(message: JsonObject, bytes: number): void {
    if (!this.#acceptText()) return;
    const sorted = sortServerMessage(message, { maySendSystem: this.options.mayCallUserOnly });
    switch (sorted.kind) {
      case 'mcp':
        return this.#mcp.receive(sorted.payload);
      case 'goodbye':
        return this.end('backend_goodbye');
      case 'relayed':
        if (isTurn(message)) this.#isInterrupted = false;
        return this.#queue.push({ kind: 'text', bytes, message: renamed(message, this.options.sessionIds.device) });
      case 'refused':
        return this.options.counters.add('texts_refused');
      case 'hello':
        // A second hello would restart the conversation on the device.
        return this.options.counters.add('texts_refused');
    }
  }

  onAudio(frame: Uint8Array): void {
    if (this.#isOver) return;
    this.#activeAt = this.options.clock.now();
    if (this.#isInterrupted) return this.#drop(1, 'interrupted');
    this.#queue.push({ kind: 'audio', bytes: frame.length, frame });
  }

  onInvalidMessage(): void {
    if (this.#acceptText()) this.options.counters.add('texts_refused');
  }

  onEnd(how: 'backend_closed' | 'backend_lost'): void {
    this.end(how);
  }

  end(why: ConversationEnd): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const { audio, backend, clock, connection, counters, device, onEnded, sessionIds, transport } = this.options;
    this.#cancelCheck();
    this.#drop(this.#queue.stop(), 'conversation_ended');
    this.#mcp.end();
    connection.close();
    audio.close();
    counters.add(`ended_${why}`);
    device.report({
      state: 'ended',
      transport,
      backend,
      reason: why,
      durationMs: Math.max(0, clock.now() - this.#startedAt),
      ...this.#sums,
      packetsLost: audio.lost,
    });
    if (why !== 'device_gone' && why !== 'device_goodbye' && why !== 'superseded') {
      if (transport === 'MQTT') device.say(goodbyeMessage(sessionIds.device));
      // The hub closes the WebSocket with the session.
      else if (why !== 'hub_stopping' && why !== 'hub_closed') hangUpAfterCalls(device, clock, this.options.limits);
    }
    onEnded();
  }

  /** Glyphs can make a text too large for the device, which shows it without. [xiaozhi §3.2] */
  #sendText(message: JsonObject): void {
    const { counters, device } = this.options;
    if (device.say(message)) return;
    const { glyph_push: glyphs, ...text } = message;
    if (glyphs === undefined || !device.say(text)) counters.add('texts_dropped');
  }

  #sendToBackend(message: JsonObject): void {
    if (this.#isBackendReading()) this.options.connection.send(message);
    else this.options.counters.add('texts_dropped');
  }

  /** Also records since when the server has not been reading. */
  #isBackendReading(): boolean {
    const { clock, connection, limits } = this.options;
    const isReading = connection.unsentBytes <= limits.backendUnsentBytesMax;
    if (isReading) this.#stalledSince = undefined;
    else this.#stalledSince ??= clock.now();
    return isReading;
  }

  #sendFrame(frame: Uint8Array, now: number): void {
    const dropped = this.options.audio.send(frame, now);
    if (dropped !== undefined) return this.#drop(1, dropped);
    this.#sums.framesToDevice += 1;
    this.#sums.bytesToDevice += frame.length;
    this.options.counters.add('frames_to_device');
  }

  #acceptText(): boolean {
    if (this.#isOver) return false;
    this.#activeAt = this.options.clock.now();
    if (this.#texts.takeOne(this.#textRate, this.#activeAt)) return true;
    this.end('backend_flooded');
    return false;
  }

  #drop(frames: number, reason: Parameters<VoiceCounters['dropped']>[0]): void {
    this.#sums.framesDropped += frames;
    this.options.counters.dropped(reason, frames);
  }

  #scheduleCheck(): void {
    const { clock, limits } = this.options;
    this.#cancelCheck = clock.setTimer(Math.min(limits.backendStallMsMax, limits.idleMs), () => this.#checkLimits());
  }

  #checkLimits(): void {
    const { clock, limits } = this.options;
    const now = clock.now();
    // They are later than now if the clock was set back.
    this.#startedAt = Math.min(this.#startedAt, now);
    this.#activeAt = Math.min(this.#activeAt, now);
    if (this.#stalledSince !== undefined) this.#stalledSince = Math.min(this.#stalledSince, now);
    // A device that is silent sends nothing that would show that the server reads again.
    const isReading = this.#isBackendReading();
    if (now - this.#startedAt >= limits.lengthMsMax) this.end('too_long');
    else if (now - this.#activeAt >= limits.idleMs) this.end('idle');
    else if (!isReading && now - (this.#stalledSince ?? now) >= limits.backendStallMsMax) this.end('backend_stalled');
    else this.#scheduleCheck();
  }
}

/** Whether the message begins or ends an answer of the voice server. [xiaozhi §3.2] */
function isTurn({ state, type }: JsonObject): boolean {
  return type === 'tts' && (state === 'start' || state === 'stop');
}

/** Replaces the session id with the other side's. Messages without an id stay unchanged. */
function renamed(message: JsonObject, sessionId: string | undefined): JsonObject {
  return message['session_id'] === undefined || !isJsonObject(message)
    ? message
    : { ...message, session_id: sessionId ?? '' };
}
