/**
 * Random inputs for all listeners, mostly almost valid, because invalid input is rejected early.
 * The same seed gives the same inputs.
 */
import mqtt from 'mqtt-packet';
import { FuzzDice } from './fuzz-dice.js';
import { FuzzHttp } from './fuzz-http.js';

/** Pieces that messages of devices are made of, and some that they should not be. */
const fragments = [
  '{',
  '}',
  '[',
  ']',
  ',',
  ':',
  '"',
  '\\',
  '\\u0000',
  '\\ud800',
  '0',
  '-1',
  '1e999',
  '2147483648',
  'null',
  'true',
  '""',
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
  '"tools"',
  '"nextCursor"',
  '"content"',
  '"__proto__"',
  '"notifications/x"',
  '{"type":"mcp","payload":{"jsonrpc":"2.0","id":1,"result":{',
];

export class FuzzSource {
  readonly #dice: FuzzDice;
  readonly #http: FuzzHttp;

  constructor(seed: number) {
    this.#dice = new FuzzDice(seed);
    this.#http = new FuzzHttp(this.#dice);
  }

  /** A request at the HTTP port; uploads go where `upload` says. */
  httpBytes(upload: { readonly path: string; readonly headers: readonly string[] }): Buffer {
    return this.#dice.pick([
      () => this.#http.head(),
      () => this.#http.ota(this.envelope()),
      () => this.#http.multipart(upload.path, upload.headers, this.#dice.noise(this.#dice.below(2_000))),
    ])();
  }

  /** A text frame of a device. */
  envelope(): string {
    const whole = this.#dice.pick([
      () => JSON.stringify({ type: 'mcp', session_id: this.#word(), payload: this.#value(0) }),
      () => JSON.stringify({ type: 'mcp', payload: { jsonrpc: '2.0', id: this.#value(3), result: this.#value(0) } }),
      () => JSON.stringify({ type: 'mcp', payload: { jsonrpc: '2.0', method: this.#word(), params: this.#value(0) } }),
      () => JSON.stringify({ type: this.#word(), ...Object.fromEntries([[this.#word(), this.#value(0)]]) }),
      () => Array.from({ length: this.#dice.below(20) }, () => this.#dice.pick(fragments)).join(''),
    ])();
    return this.#dice.below(4) === 0 ? this.#bent(whole) : whole;
  }

  /** Bytes at an MQTT port: a packet, bent here and there, or noise. */
  mqttBytes(): Buffer {
    if (this.#dice.below(4) === 0) return this.#dice.noise(this.#dice.below(64));
    const packet = this.#dice.pick([
      mqtt.generate({
        cmd: 'connect',
        clientId: this.#word(),
        protocolId: 'MQTT',
        protocolVersion: 4,
        clean: true,
        keepalive: 5,
      }),
      mqtt.generate({ cmd: 'publish', topic: 'a', payload: this.#word(), qos: 0, dup: false, retain: false }),
      mqtt.generate({
        cmd: 'publish',
        topic: 'a',
        payload: 'x',
        qos: 2,
        messageId: 1 + this.#dice.below(9),
        dup: false,
        retain: true,
      }),
      mqtt.generate({ cmd: 'subscribe', messageId: 7, subscriptions: [{ topic: '#', qos: 0 }] }),
      mqtt.generate({ cmd: 'unsubscribe', messageId: 8, unsubscriptions: ['#'] }),
      mqtt.generate({ cmd: 'pubrel', messageId: 1 + this.#dice.below(9) }),
      mqtt.generate({ cmd: 'puback', messageId: 1 }),
      mqtt.generate({ cmd: 'pingreq' }),
      mqtt.generate({ cmd: 'disconnect' }),
    ]);
    return this.#dice.below(2) === 0 ? packet : this.#dice.bent(packet);
  }

  /** Bytes of WebSocket frames. */
  frame(): Buffer {
    const payload = this.#dice.noise(this.#dice.below(40));
    const head = Buffer.from([
      this.#dice.pick([0x81, 0x82, 0x01, 0x80, 0x89, 0x8a, this.#dice.below(256)]),
      0x80 | payload.length,
      0,
      0,
      0,
      0,
    ]);
    return this.#dice.bent(Buffer.concat([head, payload]));
  }

  #value(depth: number): unknown {
    const leaf = () => this.#dice.pick([null, true, 0, -1, 1.5, 2 ** 31, 1, this.#word(), '', '\u0000', '\ud800']);
    if (depth >= 4 || this.#dice.below(3) === 0) return leaf();
    const members = Array.from({ length: this.#dice.below(4) }, () => this.#value(depth + 1));
    return this.#dice.below(2) === 0 ? members : Object.fromEntries(members.map((member) => [this.#word(), member]));
  }

  #word(): string {
    return this.#dice.pick([
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
      'x'.repeat(this.#dice.below(300)),
      'ü\u0007"\\',
    ]);
  }

  #bent(text: string): string {
    const at = this.#dice.below(text.length + 1);
    return this.#dice.below(2) === 0
      ? text.slice(0, at)
      : text.slice(0, at) + this.#dice.pick(fragments) + text.slice(at);
  }
}
