/** The audio channel: hello, its answer, a first word into it, goodbye. While the answer is awaited every reply is held back. [xiaozhi §1.3, §2.4] */
import type { Agenda } from './agenda.js';
import { FirmwareObject } from './firmware-json.js';
import type { Link } from './link.js';
import type { MainTask } from './main-task.js';

/** How long the device waits for the answer to its hello. */
const HELLO_WAIT_MS = 10_000;

/** A packet holds so much sound, ms, and a short word takes so many of them. */
const PACKET_MS = 60;
const SPOKEN_PACKETS = 10;
/** Opus for nothing to be heard: one channel, no sound. */
const SILENCE = new Uint8Array([0xf8, 0xff, 0xfe]);

const HEX_16_BYTES = /^[0-9a-fA-F]{32}$/;
const AUDIO = '"audio_params":{"format":"opus","sample_rate":16000,"channels":1,"frame_duration":60}';
const GLYPHS = ',"glyph_push":true},"text_font":{"bundle":"noto-v1","charset":"basic","size":20,"bpp":4}';

/** What became of a server hello: `fatal` is what crashes the firmware. */
export type HelloVerdict = 'accepted' | 'ignored' | 'fatal';

export class Conversation {
  #stage: 'idle' | 'waiting' | 'open' = 'idle';
  /** Grows with each attempt, so that an old attempt's time-out means nothing. */
  #attempt = 0;

  constructor(
    private readonly link: Link,
    private readonly mainTask: MainTask,
    private readonly agenda: Agenda,
    /** Whether this firmware announces that it takes glyphs. */
    private readonly takesGlyphs: boolean,
  ) {}

  /** Lets the main task open the channel when it gets there. */
  open(): void {
    this.mainTask.push({ begin: (now) => this.#begin(now), finish: () => undefined });
  }

  /** The server's hello. */
  answer(message: FirmwareObject, now: number): HelloVerdict {
    const transport = message.get('transport');
    if (this.link.transport === 'websocket' && typeof transport !== 'string') return 'fatal';
    if (transport !== (this.link.transport === 'mqtt' ? 'udp' : 'websocket')) return 'ignored';
    const sessionId = message.get('session_id');
    if (typeof sessionId === 'string') this.link.sessionId = sessionId;
    if (this.link.transport === 'mqtt' && !isUdpBlock(message.get('udp'))) return 'ignored';
    if (this.#stage === 'waiting') {
      this.#stage = 'open';
      this.link.send(`{"session_id":"${this.link.sessionId}","type":"listen","state":"start","mode":"auto"}`);
      this.mainTask.release('hello');
      if (this.link.transport === 'websocket') this.#speak(now, SPOKEN_PACKETS);
    }
    return 'accepted';
  }

  /** The server's goodbye; understood on MQTT only, and only for the current session. [xiaozhi §2.6] */
  goodbye(message: FirmwareObject): void {
    if (this.link.transport === 'mqtt' && message.get('session_id') === this.link.sessionId && this.#stage === 'open') this.#stage = 'idle';
  }

  /** The device ends the conversation itself: over MQTT with a goodbye, over WebSocket by dropping the socket. False where there was none. */
  end(now: number): boolean {
    if (this.#stage === 'idle') return false;
    this.reset();
    if (this.link.transport === 'mqtt') {
      this.link.send(`{"session_id":"${this.link.sessionId}","type":"goodbye"}`);
    } else if (this.link.isConnected) {
      this.link.close('abrupt');
      this.link.reconnectLater(now, true);
    }
    return true;
  }

  /** What the microphone hears at first; a conversation that ends meanwhile is not spoken into. */
  #speak(now: number, left: number): void {
    if (this.#stage !== 'open' || left === 0) return;
    this.link.sendAudio(SILENCE);
    const attempt = this.#attempt;
    this.agenda.add(now + PACKET_MS, (at) => {
      if (this.#attempt === attempt) this.#speak(at, left - 1);
    });
  }

  reset(): void {
    this.#stage = 'idle';
    this.mainTask.release('hello');
  }

  #begin(now: number): number {
    if (this.#stage === 'waiting') return 0;
    if (!this.link.isConnected) {
      // The wish to talk makes a device connect at once. [xiaozhi §2.3]
      this.link.reconnectAt(now);
      return 0;
    }
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
      : `{"type":"hello","version":1,${features},"transport":"websocket",${AUDIO}}`;
  }
}

function isUdpBlock(udp: unknown): boolean {
  if (!(udp instanceof FirmwareObject)) return false;
  const [port, key, nonce] = [udp.get('port'), udp.get('key'), udp.get('nonce')];
  return (
    typeof udp.get('server') === 'string' &&
    typeof port === 'number' &&
    port >= 1 &&
    port <= 65_535 &&
    [key, nonce].every((value) => typeof value === 'string' && HEX_16_BYTES.test(value))
  );
}
