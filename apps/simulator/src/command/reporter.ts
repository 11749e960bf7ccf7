/**
 * Reports the fleet: JSON lines for programs, sentences for people. Repeated problems are grouped.
 */
import { pausesAt, type DeviceNotice } from '@flotilla/simulated-device';
import type { Loss } from '../sockets/device-socket.js';
import type { SimulatorOptions } from './options.js';

/** The minimum time between counts, so that 5,000 devices at once do not print 5,000 lines. */
const COUNT_EVERY_MS = 100;
/** The same for people, and for trouble. */
const SENTENCE_EVERY_MS = 2000;

/** Codes, crashes and upgrades printed for a person; more would not be read. */
const NOTICES_SAID_MAX = 20;

const PROBLEM_CODES = {
  unreachable: 'HUB_UNREACHABLE',
  refused: 'DEVICE_REFUSED',
  lost: 'CONNECTION_LOST',
  unanswered: 'OTA_FAILED',
} as const;

interface ReporterOutput {
  /** One line of standard output. */
  line(text: string): void;
  /** One line of standard error. */
  sentence(text: string): void;
}

export class Reporter {
  #connected = 0;
  #noticed = 0;
  #losses = new Map<Loss['kind'], { count: number; detail: string }>();
  #timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly options: SimulatorOptions,
    private readonly output: ReporterOutput,
  ) {}

  event(event: Readonly<Record<string, unknown>>): void {
    if (this.options.isJson) this.output.line(JSON.stringify(event));
  }

  /** For people only. */
  say(text: string): void {
    if (!this.options.isJson) this.output.sentence(text);
  }

  onconnected(): void {
    this.#connected++;
    if (this.#connected === this.options.devices) this.#report();
    else this.#reportSoon();
  }

  ondisconnected(loss?: Loss): void {
    this.#connected--;
    if (loss) this.onfailed(loss);
    else this.#reportSoon();
  }

  onfailed({ kind, detail }: Loss): void {
    this.#losses.set(kind, { count: (this.#losses.get(kind)?.count ?? 0) + 1, detail });
    this.#reportSoon();
  }

  /** Device notices that a person must see at once, one by one. */
  onnotice(device: string, notice: DeviceNotice): void {
    const { kind, ...rest } = notice;
    this.event({ event: kind, device, ...rest });
    if (++this.#noticed > NOTICES_SAID_MAX) return;
    this.say(`${device} ${sentenceOf(notice)}.`);
    if (this.#noticed === NOTICES_SAID_MAX)
      this.say(
        'Further codes, crashes and upgrades are not printed one by one; `enrolments` in the API lists who waits.',
      );
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  #reportSoon(): void {
    this.#timer ??= setTimeout(() => this.#report(), this.options.isJson ? COUNT_EVERY_MS : SENTENCE_EVERY_MS);
  }

  #report(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.event({ event: 'connected', count: this.#connected, of: this.options.devices });
    this.say(`${this.#connected} of ${this.options.devices} devices connected.`);
    for (const [kind, { count, detail }] of this.#losses) {
      this.event({ event: 'problem', code: PROBLEM_CODES[kind], count, detail });
      this.say(this.#explain(kind, count, detail));
    }
    this.#losses.clear();
  }

  #explain(kind: Loss['kind'], count: number, detail: string): string {
    const { host, mqttPort, httpPort, dataDir, ota, speed } = this.options;
    const again = `They try again every ${(this.options.reconnectMs ?? pausesAt(speed).reconnectMs) / 1000} s.`;
    const hub = ota ?? `${host} (MQTT ${mqttPort}, HTTP ${httpPort})`;
    const rejected = `The hub rejected ${count} devices (${detail})`;
    switch (kind) {
      case 'unreachable':
        return `No hub answered ${count} devices at ${hub}: ${detail}. ${again}`;
      case 'refused':
        return ota === undefined
          ? `${rejected}. Give an OTA address with --ota. If FLOTILLA_DEVICE_AUTH is hmac, give the hub's secret ` +
              `with --secret or its data folder with --data-dir (now ${dataDir}). ${again}`
          : `${rejected}. Their stored credentials are no longer valid; a reboot gets new ones. ${again}`;
      case 'unanswered':
        return `${count} requests to ${ota ?? 'the hub'} failed: ${detail}. The devices retry with growing pauses.`;
      case 'lost':
        return `${count} devices lost their connection: ${detail}. ${again}`;
    }
  }
}

function sentenceOf(notice: DeviceNotice): string {
  switch (notice.kind) {
    case 'code':
      return `shows the code ${notice.code} and waits for approval`;
    case 'crash':
      return `crashed: ${notice.reason}`;
    case 'installed':
      return `has installed firmware ${notice.version} and restarts`;
    case 'assetsLoaded':
      return `has loaded ${notice.bytes} bytes of assets`;
    case 'updateFailed':
      return `could not install an image: ${notice.reason}`;
  }
}
