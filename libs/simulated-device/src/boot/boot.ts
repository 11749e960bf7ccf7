/**
 * The boot of a device until it may connect: loads assets, asks the OTA address, stores the answer,
 * installs offered firmware, shows a code and waits for approval. Nothing else runs meanwhile.
 * [xiaozhi §7.1, §7.3, §7.4, §7.6]
 */
import type { Agenda } from '../calls/agenda.js';
import type { AssetsUpdate } from '../firmware/assets-update.js';
import type { DeviceState } from '../device-state.js';
import type { FirmwareUpdate, UpdateFault } from '../firmware/firmware-update.js';
import type { HttpResponse } from '../connection/http-messages.js';
import type { HttpRequests } from '../connection/http-requests.js';
import type { Link } from '../connection/link.js';
import type { Pauses } from '../connection/pauses.js';
import type { Nvs } from './nvs.js';
import { takeOtaAnswer, type Activation, type HeardAnswer } from './ota-answer.js';

/** Attempts of one boot; after that the device goes on with what it has stored. */
const ATTEMPTS_MAX = 10;
/** Activation requests before the device asks the OTA address again. */
const ACTIVATION_ROUNDS = 10;
/** From the end of a download to the restart into it. */
const BEFORE_RESTART_MS = 1000;

interface Parts {
  readonly link: Link;
  readonly http: HttpRequests;
  readonly agenda: Agenda;
  readonly state: DeviceState;
  readonly nvs: Nvs;
  readonly pauses: Pauses;
  /** The firmware aborts. */
  readonly crash: (reason: string, now: number) => void;
  readonly update: FirmwareUpdate;
  readonly assets: AssetsUpdate;
  /** Restarts into the image that was written, or into what the fault makes of it. */
  readonly restartInto: (fault: UpdateFault | undefined, now: number) => void;
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
  start(now: number): void {
    if (this.#stage === 'running') return;
    this.#stage = 'running';
    this.#loadAssets(now);
  }

  /** After a restart. */
  forget(): void {
    this.#stage = 'off';
  }

  /** The device continues after a failure, too. */
  #loadAssets(now: number): void {
    const { agenda, assets, pauses, state } = this.parts;
    const url = state.takeAssetsUrl();
    if (url === '') return this.#check(1);
    agenda.add(now + pauses.beforeDownloadMs, () =>
      assets.fetch(url, (isLoaded, at) => {
        if (isLoaded) this.#check(1);
        else agenda.add(at + pauses.afterFailureMs, () => this.#check(1));
      }),
    );
  }

  #check(attempt: number): void {
    const body = this.parts.state.systemInfo();
    this.#post(this.otaUrl, body, (response, at) => {
      const isHeard = response?.status === 200 && this.#accept(response.body, at);
      if (!isHeard) this.#retry(attempt, at);
    });
  }

  /** Pauses 10 s, 20 s, 40 s and so on, then connects over MQTT with the stored settings. */
  #retry(attempt: number, now: number): void {
    if (attempt === ATTEMPTS_MAX) return this.#finish('mqtt', now);
    const pauseMs = this.parts.pauses.otaRetryMs * 2 ** (attempt - 1);
    this.parts.agenda.add(now + pauseMs, () => this.#check(attempt + 1));
  }

  /** False where the answer counts as none. */
  #accept(text: string, now: number): boolean {
    const { link, nvs, state, crash } = this.parts;
    const verdict = takeOtaAnswer(nvs, text, state.firmware.running.version);
    if (verdict.kind === 'unreadable') return false;
    link.effect({ kind: 'keep', flash: state.flash(nvs) });
    if (verdict.kind === 'crash') crash(verdict.reason, now);
    else if (verdict.updateUrl === undefined) this.#goOn(verdict, now);
    else this.#install(verdict.updateUrl, verdict, now);
    return true;
  }

  /** What fails here is tried again at the next start only. */
  #install(url: string, heard: HeardAnswer, now: number): void {
    const { agenda, pauses, restartInto, update } = this.parts;
    agenda.add(now + pauses.beforeDownloadMs, () =>
      update.fetch(url, (result, at) => {
        if (result.kind === 'failed') agenda.add(at + pauses.afterFailureMs, (then) => this.#goOn(heard, then));
        else agenda.add(at + BEFORE_RESTART_MS, (then) => restartInto(result.fault, then));
      }),
    );
  }

  /** The check has succeeded: the boot loader keeps the firmware that runs. */
  #goOn(heard: HeardAnswer, now: number): void {
    this.parts.state.firmware.confirm();
    if (heard.kind === 'activation') this.#activate(heard.activation, 1, now);
    else this.#finish(heard.transport, now);
  }

  #activate(activation: Activation, round: number, now: number): void {
    const { agenda, link, pauses } = this.parts;
    if (round > ACTIVATION_ROUNDS) return this.#check(1);
    const { challenge, code, message } = activation;
    if (round === 1 && code !== undefined) link.effect({ kind: 'notice', notice: { kind: 'code', code, message } });
    const nextAfter = (pauseMs: number, at: number) =>
      agenda.add(at + pauseMs, (then) => this.#activate(activation, round + 1, then));
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
    const { link } = this.parts;
    link.transport = transport;
    // Over WebSocket a device connects for a conversation only, never at boot. [xiaozhi §1.5]
    if (transport === 'mqtt') link.reconnectAt(now);
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
