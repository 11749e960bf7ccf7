/** What the specs of the device share: one device under a hand-held clock, and what it has sent. */
import type { LastingBehaviour } from './behaviour/behaviour.js';
import type { HttpRequest, HttpResponse } from './connection/http-messages.js';
import { identityOf } from './identity.js';
import type { DeviceEffect } from './connection/link.js';
import { profiles, type ProfileName } from './profile.js';
import { seededRandom } from './behaviour/seeded-random.js';
import { SimulatedDevice } from './simulated-device.js';

interface BenchSetup {
  readonly profile?: ProfileName;
  readonly transport?: 'mqtt' | 'websocket';
  readonly behaviours?: readonly LastingBehaviour[];
}

/** A connected device under a manual clock; it is woken when it asked to be. */
export class DeviceOnBench {
  readonly device: SimulatedDevice;
  readonly effects: { readonly at: number; readonly effect: DeviceEffect }[] = [];
  #now = 0;
  #wakeAt = Infinity;

  constructor({ profile = 'screen-camera', transport = 'mqtt', behaviours = [] }: BenchSetup = {}) {
    this.device = new SimulatedDevice({
      identity: identityOf({ seed: 1, index: 7, board: profiles[profile].parts.board }),
      profile: profiles[profile],
      transport,
      random: seededRandom(1),
      behaviours,
    });
    this.#keep(this.device.connected(0));
  }

  /** Texts of the messages sent so far. */
  get sent(): string[] {
    return this.effects.flatMap(({ effect }) => (effect.kind === 'send' ? [effect.text] : []));
  }

  /** Ids of the replies sent so far with the times at which they left. */
  get replyTimes(): [id: number, at: number][] {
    return this.effects.flatMap(({ at, effect }): [number, number][] => {
      const id = effect.kind === 'send' ? /"id":(-?\d+)/.exec(effect.text)?.[1] : undefined;
      return id === undefined ? [] : [[Number(id), at]];
    });
  }

  /** Requests made so far. */
  get requests(): { readonly at: number; readonly id: number; readonly request: HttpRequest }[] {
    return this.effects.flatMap(({ at, effect }) =>
      effect.kind === 'request' ? [{ at, id: effect.id, request: effect.request }] : [],
    );
  }

  /** Answers the last request; undefined is no answer. */
  answer(response: HttpResponse | undefined): void {
    this.do((device, now) => device.answered(this.requests.at(-1)?.id ?? 0, response, now));
  }

  receive(message: unknown): void {
    this.#keep(this.device.receive(typeof message === 'string' ? message : JSON.stringify(message), this.#now));
  }

  /** Sends an MCP payload in its envelope. */
  mcp(payload: unknown): void {
    this.receive({ type: 'mcp', payload });
  }

  call(id: number, name: string, args: unknown = {}): void {
    this.mcp({ jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: args } });
  }

  do(act: (device: SimulatedDevice, now: number) => readonly DeviceEffect[]): void {
    this.#keep(act(this.device, this.#now));
  }

  /** Lets time pass, alarms included. */
  waitUntil(time: number): void {
    while (this.#wakeAt <= time) {
      this.#now = this.#wakeAt;
      this.#wakeAt = Infinity;
      this.#keep(this.device.tick(this.#now));
    }
    this.#now = time;
  }

  /** The last message sent, parsed. */
  lastReply(): { payload: { id: number; result?: Record<string, unknown>; error?: Record<string, unknown> } } {
    return JSON.parse(this.sent.at(-1) ?? 'null');
  }

  /** The text of the last tool answer. */
  lastText(): unknown {
    const content = this.lastReply().payload.result?.['content'];
    return Array.isArray(content) ? content[0].text : undefined;
  }

  /** Effects other than messages and alarms. */
  get turns(): { readonly at: number; readonly effect: DeviceEffect }[] {
    return this.effects.filter(({ effect }) => effect.kind === 'close' || effect.kind === 'reconnectAt');
  }

  #keep(effects: readonly DeviceEffect[]): void {
    for (const effect of effects) {
      if (effect.kind === 'wakeAt') this.#wakeAt = effect.at;
      this.effects.push({ at: this.#now, effect });
    }
  }
}
