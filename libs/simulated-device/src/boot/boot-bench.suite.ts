/** Shared by the boot specs: one device with an OTA address, a manual clock, and its requests. */
import type { LastingBehaviour } from '../behaviour/behaviour.js';
import type { HttpRequest, HttpResponse } from '../connection/http-messages.js';
import { identityOf } from '../identity.js';
import type { DeviceEffect, DeviceNotice } from '../connection/link.js';
import { profiles } from '../profile.js';
import { seededRandom } from '../behaviour/seeded-random.js';
import { SimulatedDevice } from '../simulated-device.js';

/** What an OTA answer says of the connection. */
export const mqtt = {
  endpoint: 'hub.example:1883',
  client_id: 'c',
  username: 'u',
  password: 'p',
  publish_topic: 'device-server',
  keepalive: 45,
};

interface BenchSetup {
  readonly otaUrl?: string;
  readonly behaviours?: readonly LastingBehaviour[];
}

/** A device that was switched on at 0, and its console. */
export class BootBench {
  readonly device: SimulatedDevice;
  readonly requests: { readonly at: number; readonly id: number; readonly request: HttpRequest }[] = [];
  readonly connects: Extract<DeviceEffect, { kind: 'connect' }>['settings'][] = [];
  readonly connectedAt: number[] = [];
  readonly notices: DeviceNotice[] = [];
  #now = 0;
  #alarms: { readonly at: number; readonly kind: 'wakeAt' | 'reconnectAt' }[] = [];

  constructor({ otaUrl = 'http://hub.example:8080/ota/', behaviours = [] }: BenchSetup = {}) {
    this.device = new SimulatedDevice({
      identity: identityOf({ seed: 1, index: 7, board: 'lichuang-dev' }),
      profile: profiles['screen-camera'],
      transport: 'mqtt',
      otaUrl,
      random: seededRandom(1),
      behaviours,
    });
    this.#keep(this.device.dial(0));
  }

  get uuid(): string {
    return this.device.identity.uuid;
  }

  /** Versions that the device has reported at its OTA checks. */
  get reported(): readonly string[] {
    return this.requests.flatMap(({ request }) =>
      request.method === 'POST' ? [JSON.parse(String(request.body)).application.version as string] : [],
    );
  }

  /** Addresses that it has fetched, and when. */
  get fetched(): readonly (readonly [at: number, url: string])[] {
    return this.requests.flatMap(({ at, request }) => (request.method === 'GET' ? [[at, request.url] as const] : []));
  }

  /** Answers the last request. A text goes out as it is. */
  answer(body: unknown, status = 200): void {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    this.respond({ status, body: text });
  }

  /** The same; undefined is no answer. */
  respond(response: HttpResponse | undefined): void {
    this.#keep(this.device.answered(this.requests.at(-1)?.id ?? 0, response, this.#now));
  }

  call(name: string, args: unknown): void {
    const payload = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } };
    this.do((device, now) => device.receive(JSON.stringify({ type: 'mcp', payload }), now));
  }

  restart(): void {
    this.do((device, now) => device.behave({ kind: 'reboot' }, now));
  }

  do(act: (device: SimulatedDevice, now: number) => readonly DeviceEffect[]): void {
    this.#keep(act(this.device, this.#now));
  }

  wait(ms: number): void {
    const until = this.#now + ms;
    for (;;) {
      const [next] = this.#alarms.filter(({ at }) => at <= until).sort((a, b) => a.at - b.at);
      if (next === undefined) break;
      this.#alarms = this.#alarms.filter((alarm) => alarm !== next);
      this.#now = Math.max(this.#now, next.at);
      this.#keep(next.kind === 'wakeAt' ? this.device.tick(this.#now) : this.device.dial(this.#now));
    }
    this.#now = until;
  }

  #keep(effects: readonly DeviceEffect[]): void {
    for (const effect of effects) {
      if (effect.kind === 'request') this.requests.push({ at: this.#now, id: effect.id, request: effect.request });
      if (effect.kind === 'connect') {
        this.connects.push(effect.settings);
        this.connectedAt.push(this.#now);
      }
      if (effect.kind === 'notice') this.notices.push(effect.notice);
      if (effect.kind === 'wakeAt' || effect.kind === 'reconnectAt')
        this.#alarms = [...this.#alarms.filter(({ kind }) => kind !== effect.kind), effect];
    }
  }
}
