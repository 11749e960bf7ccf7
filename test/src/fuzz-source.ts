/** Random inputs for whoever listens: mostly nearly right, because what is plainly wrong is refused at the door. The same seed gives the same inputs. */
import { seededRandom } from '@flotilla/simulated-device';
import mqtt from 'mqtt-packet';

/** Pieces that messages of devices are made of, and some that they should not be. */
const fragments = [
  ...['{', '}', '[', ']', ',', ':', '"', '\\', '\\u0000', '\\ud800', '0', '-1', '1e999', '2147483648', 'null', 'true', '""'],
  ...[
    '"type"',
    '"mcp"',
    '"hello"',
    '"goodbye"',
    '"payload"',
    '"session_id"',
    '"jsonrpc"',
    '"2.0"',
    '"id"',
    '"result"',
    '"error"',
    '"method"',
    '"params"',
  ],
  ...[
    '"tools"',
    '"nextCursor"',
    '"content"',
    '"__proto__"',
    '"notifications/x"',
    '{"type":"mcp","payload":{"jsonrpc":"2.0","id":1,"result":{',
  ],
];

export class FuzzSource {
  readonly #random: () => number;

  constructor(seed: number) {
    this.#random = seededRandom(seed);
  }

  /** A text frame of a device. */
  envelope(): string {
    const whole = this.#pick([
      () => JSON.stringify({ type: 'mcp', session_id: this.#word(), payload: this.#value(0) }),
      () => JSON.stringify({ type: 'mcp', payload: { jsonrpc: '2.0', id: this.#value(3), result: this.#value(0) } }),
      () => JSON.stringify({ type: 'mcp', payload: { jsonrpc: '2.0', method: this.#word(), params: this.#value(0) } }),
      () => JSON.stringify({ type: this.#word(), ...Object.fromEntries([[this.#word(), this.#value(0)]]) }),
      () => Array.from({ length: this.#below(20) }, () => this.#pick(fragments)).join(''),
    ])();
    return this.#below(4) === 0 ? this.#bent(whole) : whole;
  }

  /** Bytes at an MQTT port: a packet, bent here and there, or noise. */
  mqttBytes(): Buffer {
    if (this.#below(4) === 0) return this.#noise(this.#below(64));
    const packet = this.#pick([
      mqtt.generate({ cmd: 'connect', clientId: this.#word(), protocolId: 'MQTT', protocolVersion: 4, clean: true, keepalive: 5 }),
      mqtt.generate({ cmd: 'publish', topic: 'a', payload: this.#word(), qos: 0, dup: false, retain: false }),
      mqtt.generate({ cmd: 'publish', topic: 'a', payload: 'x', qos: 2, messageId: 1 + this.#below(9), dup: false, retain: true }),
      mqtt.generate({ cmd: 'subscribe', messageId: 7, subscriptions: [{ topic: '#', qos: 0 }] }),
      mqtt.generate({ cmd: 'unsubscribe', messageId: 8, unsubscriptions: ['#'] }),
      mqtt.generate({ cmd: 'pubrel', messageId: 1 + this.#below(9) }),
      mqtt.generate({ cmd: 'puback', messageId: 1 }),
      mqtt.generate({ cmd: 'pingreq' }),
      mqtt.generate({ cmd: 'disconnect' }),
    ]);
    return this.#below(2) === 0 ? packet : this.#bentBytes(packet);
  }

  /** Bytes of WebSocket frames. */
  frame(): Buffer {
    const payload = this.#noise(this.#below(40));
    const head = Buffer.from([this.#pick([0x81, 0x82, 0x01, 0x80, 0x89, 0x8a, this.#below(256)]), 0x80 | payload.length, 0, 0, 0, 0]);
    return this.#bentBytes(Buffer.concat([head, payload]));
  }

  #value(depth: number): unknown {
    const leaf = () => this.#pick([null, true, 0, -1, 1.5, 2 ** 31, 1, this.#word(), '', '\u0000', '\ud800']);
    if (depth >= 4 || this.#below(3) === 0) return leaf();
    const members = Array.from({ length: this.#below(4) }, () => this.#value(depth + 1));
    return this.#below(2) === 0 ? members : Object.fromEntries(members.map((member) => [this.#word(), member]));
  }

  #word(): string {
    return this.#pick([
      'id',
      'result',
      'error',
      'tools',
      'content',
      'nextCursor',
      'name',
      'type',
      '__proto__',
      'message',
      'x'.repeat(this.#below(300)),
      'ü\u0007"\\',
    ]);
  }

  #bent(text: string): string {
    const at = this.#below(text.length + 1);
    return this.#below(2) === 0 ? text.slice(0, at) : text.slice(0, at) + this.#pick(fragments) + text.slice(at);
  }

  #bentBytes(bytes: Buffer): Buffer {
    const bent = Buffer.from(bytes);
    for (let n = this.#below(3); n > 0 && bent.length > 0; n--) bent[this.#below(bent.length)] = this.#below(256);
    return this.#below(4) === 0 ? bent.subarray(0, this.#below(bent.length + 1)) : bent;
  }

  #noise(length: number): Buffer {
    return Buffer.from(Array.from({ length }, () => this.#below(256)));
  }

  #pick<Item>(items: readonly Item[]): Item {
    return items[this.#below(items.length)] as Item;
  }

  #below(bound: number): number {
    return Math.floor(this.#random() * bound);
  }
}
