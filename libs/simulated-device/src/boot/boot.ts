/**
 * What a device does from power-on until it may connect: asks the OTA address, stores the answer, shows a code and asks until somebody has let it in. Nothing else
 * starts before. [xiaozhi §7.1, §7.3, §7.4]
 */
import type { Agenda } from '../agenda.js';
import type { DeviceState } from '../device-state.js';
import type { HttpRequests, HttpResponse } from '../http-requests.js';
import type { Link } from '../link.js';
import type { Pauses } from '../pauses.js';
import type { Nvs } from './nvs.js';
import { takeOtaAnswer, type Activation } from './ota-answer.js';

/** Attempts of one boot; after that the device goes on with what it has stored. */
const ATTEMPTS_MAX = 10;
/** Questions whether somebody has let it in before the device asks the OTA address again. */
const ACTIVATION_ROUNDS = 10;

interface Parts {
  readonly link: Link;
  readonly http: HttpRequests;
  readonly agenda: Agenda;
  readonly state: DeviceState;
  readonly nvs: Nvs;
  readonly pauses: Pauses;
  /** The firmware aborts. */
  readonly crash: (reason: string, now: number) => void;
}

export class Boot {
  #stage: 'off' | 'running' | 'done' = 'off';

  constructor(
    private readonly otaUrl: string,
    private readonly parts: Parts,
  ) {}

  get isDone(): boolean {
    return this.#stage === 'done';
  }

  /** Does nothing while it runs already. */
  start(): void {
    if (this.#stage === 'running') return;
    this.#stage = 'running';
    this.#check(1);
  }

  /** After a restart. */
  forget(): void {
    this.#stage = 'off';
  }

  #check(attempt: number): void {
    const body = this.parts.state.systemInfo();
    this.#post(this.otaUrl, body, (response, at) => {
      const isHeard = response?.status === 200 && this.#accept(response.body, at);
      if (!isHeard) this.#retry(attempt, at);
    });
  }

  /** Pauses of 10 s, 20 s, 40 s and so on, then MQTT with what is stored, whatever was used before. */
  #retry(attempt: number, now: number): void {
    if (attempt === ATTEMPTS_MAX) return this.#finish('mqtt', now);
    const pauseMs = this.parts.pauses.otaRetryMs * 2 ** (attempt - 1);
    this.parts.agenda.add(now + pauseMs, () => this.#check(attempt + 1));
  }

  /** False where the answer counts as none. */
  #accept(text: string, now: number): boolean {
    const { link, nvs, state, crash } = this.parts;
    const verdict = takeOtaAnswer(nvs, text, state.firmware.running.version);
    if (verdict.kind === 'activation' || verdict.kind === 'settled') state.firmware.confirm();
    link.effect({ kind: 'keep', flash: state.flash(nvs) });
    switch (verdict.kind) {
      case 'unreadable':
        return false;
      case 'crash':
        crash(verdict.reason, now);
        return true;
      case 'activation':
        this.#activate(verdict.activation, 1, now);
        return true;
      case 'settled':
        this.#finish(verdict.transport, now);
        return true;
    }
  }

  #activate(activation: Activation, round: number, now: number): void {
    const { agenda, link, pauses } = this.parts;
    if (round > ACTIVATION_ROUNDS) return this.#check(1);
    const { challenge, code, message } = activation;
    if (round === 1 && code !== undefined) link.effect({ kind: 'notice', notice: { kind: 'code', code, message } });
    const nextAfter = (pauseMs: number, at: number) => agenda.add(at + pauseMs, (then) => this.#activate(activation, round + 1, then));
    if (challenge === undefined) return nextAfter(pauses.activationErrorMs, now);
    this.#post(this.#activationUrl(), '{}', (response, at) => {
      if (response?.status === 200) return this.#check(1);
      nextAfter(response?.status === 202 ? pauses.activationMs : pauses.activationErrorMs, at);
    });
  }

  /** The path goes behind everything, a query string included. */
  #activationUrl(): string {
    return `${this.otaUrl}${this.otaUrl.endsWith('/') ? '' : '/'}activate`;
  }

  #finish(transport: 'mqtt' | 'websocket', now: number): void {
    this.#stage = 'done';
    this.parts.link.transport = transport;
    this.parts.link.reconnectAt(now);
  }

  #post(url: string, body: string, then: (response: HttpResponse | undefined, now: number) => void): void {
    const { state } = this.parts;
    const headers = {
      'Activation-Version': '1',
      'Device-Id': state.identity.mac,
      'Client-Id': state.identity.uuid,
      'User-Agent': `${state.parts.board}/${state.firmware.running.version}`,
      'Accept-Language': 'en-US',
      'Content-Type': 'application/json',
    };
    this.parts.http.send({ method: 'POST', url, headers, body }, then);
  }
}
