/**
 * The audio channel: hello, answer, listen message, goodbye. Replies wait for the hello answer.
 * [xiaozhi §1.3, §2.4]
 */
import type { Agenda } from '../calls/agenda.js';
import type { FirmwareObject } from '../json/firmware-json.js';
import type { Link } from './link.js';
import type { MainTask } from '../calls/main-task.js';
import { soundChannel } from './sound-channel.js';

/** How long the device waits for the answer to its hello. */
const HELLO_WAIT_MS = 10_000;
/** How long it waits for a connection that a conversation needs. [xiaozhi §2.2] */
const CONNECT_WAIT_MS = 10_000;

/** A packet holds so much sound, ms, and a short word takes so many of them. */
const PACKET_MS = 60;
const FIRST_WORD_PACKETS = 10;
/** Opus for nothing to be heard: one channel, no sound. */
const SILENCE = new Uint8Array([0xf8, 0xff, 0xfe]);

const AUDIO = '"audio_params":{"format":"opus","sample_rate":16000,"channels":1,"frame_duration":60}';
const GLYPHS = ',"glyph_push":true},"text_font":{"bundle":"noto-v1","charset":"basic","size":20,"bpp":4}';

/** Packets of sound so far. */
export interface SoundCounts {
  readonly spoken: number;
  readonly heard: number;
}

/** The result of a server hello; `fatal` crashes the firmware. */
type HelloVerdict = 'accepted' | 'ignored' | 'fatal';

export class Conversation {
  #stage: 'idle' | 'waiting' | 'open' = 'idle';
  /** The main task is to open the channel, and has not come to that yet. */
  #isAsked = false;
  /** A connection until then opens the conversation that a person wants. */
  #wantedUntil = -Infinity;
  /** Grows with each attempt, so that an old attempt's time-out means nothing. */
  #attempt = 0;
  /** What is to be said once the channel is open. */
  #toSay: number | undefined;
  #spoken = 0;
  #heard = 0;

  constructor(
    private readonly link: Link,
    private readonly mainTask: MainTask,
    private readonly agenda: Agenda,
    /** Whether this firmware announces that it takes glyphs. */
    private readonly takesGlyphs: boolean,
  ) {}

  get sound(): SoundCounts {
    return { spoken: this.#spoken, heard: this.#heard };
  }

  /** Sends so many packets of sound, in the open conversation or in a new one. */
  talk(packets: number, now: number): void {
    if (this.#stage === 'open') return this.#speak(now, packets);
    this.#toSay = (this.#toSay ?? 0) + packets;
    this.open();
  }

  /** The connection is there. A WebSocket is a conversation. */
  connected(now: number): void {
    if (this.link.transport === 'websocket' || now <= this.#wantedUntil) this.open();
  }

  /** The connection is lost, or an attempt failed. Over MQTT an open channel stays. */
  disconnected(): void {
    if (this.link.transport === 'websocket') this.reset();
    else if (this.#stage === 'idle' && !this.#isAsked) this.#forget();
  }

  /** A packet of sound from the hub; outside of a conversation nothing plays it. */
  hear(): void {
    if (this.#stage === 'open') this.#heard += 1;
  }

  /** Lets the main task open the channel when it gets there. Once is enough. */
  open(): void {
    if (this.#isAsked || this.#stage === 'waiting') return;
    this.#isAsked = true;
    this.mainTask.push({ begin: (now) => this.#begin(now), finish: () => undefined });
  }

  /** The server's hello. */
  answer(message: FirmwareObject, now: number): HelloVerdict {
    const transport = message.get('transport');
    if (this.link.transport === 'websocket' && typeof transport !== 'string') return 'fatal';
    if (transport !== (this.link.transport === 'mqtt' ? 'udp' : 'websocket')) return 'ignored';
    const sessionId = message.get('session_id');
    if (typeof sessionId === 'string') this.link.sessionId = sessionId;
    const channel = this.link.transport === 'mqtt' ? soundChannel(message.get('udp')) : undefined;
    if (this.link.transport === 'mqtt' && channel === undefined) return 'ignored';
    if (this.#stage === 'waiting') {
      this.#stage = 'open';
      this.link.send(`{"session_id":"${this.link.sessionId}","type":"listen","state":"start","mode":"auto"}`);
      this.mainTask.release('hello');
      if (channel !== undefined) this.link.effect({ kind: 'openSound', channel });
      this.#speak(now, this.#toSay ?? (this.link.transport === 'websocket' ? FIRST_WORD_PACKETS : 0));
      this.#toSay = undefined;
    }
    return 'accepted';
  }

  /**
   * Handles the server's goodbye: over MQTT only, and only for the current session. [xiaozhi §2.6]
   */
  goodbye(message: FirmwareObject): void {
    if (this.link.transport === 'mqtt' && message.get('session_id') === this.link.sessionId && this.#stage === 'open')
      this.#close();
  }

  /**
   * Ends the conversation: over MQTT with a goodbye, over WebSocket by closing the socket. False
   * without a conversation.
   */
  end(now: number): boolean {
    if (this.#stage === 'idle') {
      this.#forget();
      return false;
    }
    this.reset();
    if (this.link.transport === 'mqtt') {
      this.link.send(`{"session_id":"${this.link.sessionId}","type":"goodbye"}`);
    } else if (this.link.isConnected) {
      this.link.close('abrupt');
      this.link.reconnectLater(now, true);
    }
    return true;
  }

  /** What the microphone hears; a conversation that ends meanwhile is not spoken into. */
  #speak(now: number, left: number): void {
    if (this.#stage !== 'open' || left === 0) return;
    this.link.sendAudio(SILENCE);
    this.#spoken += 1;
    const attempt = this.#attempt;
    this.agenda.add(now + PACKET_MS, (at) => {
      if (this.#attempt === attempt) this.#speak(at, left - 1);
    });
  }

  reset(): void {
    this.#close();
    this.#forget();
    this.mainTask.release('hello');
  }

  /** Nothing is to be opened or said any more. */
  #forget(): void {
    this.#isAsked = false;
    this.#wantedUntil = -Infinity;
    this.#toSay = undefined;
  }

  #close(): void {
    if (this.#stage === 'open' && this.link.transport === 'mqtt') this.link.effect({ kind: 'closeSound' });
    this.#stage = 'idle';
  }

  #begin(now: number): number {
    if (!this.#isAsked) return 0;
    this.#isAsked = false;
    if (!this.link.isConnected) {
      // A person who wants to talk makes a device connect at once. [xiaozhi §2.3]
      const until = now + CONNECT_WAIT_MS;
      this.#wantedUntil = until;
      this.agenda.add(until, () => {
        if (this.#wantedUntil === until && !this.#isAsked) this.#forget();
      });
      this.link.reconnectAt(now);
      return 0;
    }
    this.#wantedUntil = -Infinity;
    const attempt = ++this.#attempt;
    this.#stage = 'waiting';
    this.mainTask.hold('hello');
    if (this.link.transport === 'mqtt') this.link.sessionId = '';
    this.link.send(this.#hello());
    this.agenda.add(now + HELLO_WAIT_MS, (at) => {
      if (this.#stage === 'waiting' && this.#attempt === attempt) this.#giveUp(at);
    });
    return 0;
  }

  #giveUp(now: number): void {
    this.reset();
    if (this.link.transport === 'mqtt' || !this.link.isConnected) return;
    this.link.close('abrupt');
    this.link.reconnectLater(now, true);
  }

  #hello(): string {
    const features = `"features":{"mcp":true${this.takesGlyphs ? GLYPHS : '}'}`;
    return this.link.transport === 'mqtt'
      ? `{"type":"hello","version":3,"transport":"udp",${features},${AUDIO}}`
      : `{"type":"hello","version":${this.link.framing},${features},"transport":"websocket",${AUDIO}}`;
  }
}
