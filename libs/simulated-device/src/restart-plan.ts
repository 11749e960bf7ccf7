/** Everything that ends in a restart or an absence: reboot, upgrade, Wi-Fi provisioning, crash, with the firmware's own pauses. [xiaozhi §4.6] */
import type { Agenda } from './agenda.js';
import type { BehaviourScript } from './behaviour-script.js';
import type { Boot } from './boot/boot.js';
import type { Conversation } from './conversation.js';
import type { DeviceState } from './device-state.js';
import type { HttpRequests } from './http-requests.js';
import type { Link } from './link.js';
import type { MainTask, Work } from './main-task.js';
import type { Replies } from './replies.js';
import type { DeferredWork } from './tool.js';

/** From the reboot request, or the end of a download, to the MQTT DISCONNECT. */
const BEFORE_DISCONNECT_MS = 1000;
/** From there to the restart itself. */
const BEFORE_RESTART_MS = 1000;
/** From the upgrade request to the first byte of the image. */
const BEFORE_DOWNLOAD_MS = 4000;
/** From a failed download to the late reply. */
const AFTER_FAILURE_MS = 3000;
/** A device in provisioning is gone until somebody has entered a Wi-Fi; here that takes a minute. */
const PROVISIONING_MS = 60_000;

interface Parts {
  readonly link: Link;
  readonly mainTask: MainTask;
  readonly agenda: Agenda;
  readonly script: BehaviourScript;
  readonly state: DeviceState;
  readonly conversation: Conversation;
  readonly replies: Replies;
  readonly http: HttpRequests;
  /** Absent where the device has no OTA address. */
  readonly boot: Boot | undefined;
}

export class RestartPlan {
  constructor(
    private readonly parts: Parts,
    private readonly bootMs: number,
  ) {}

  /** Puts the work on the main task, where it blocks all that comes behind it. */
  plan(work: DeferredWork): void {
    this.parts.mainTask.push(this.#work(work));
  }

  /** A restart without a word, as after a null pointer. */
  crash(now: number): void {
    this.#leave('abrupt', now, this.bootMs);
  }

  #work(work: DeferredWork): Work {
    const { conversation, state } = this.parts;
    switch (work.kind) {
      case 'reboot':
        return {
          begin: (now) => {
            conversation.end(now);
            return BEFORE_DISCONNECT_MS;
          },
          finish: (now) => this.#leave('graceful', now, BEFORE_RESTART_MS + this.bootMs),
        };
      case 'upgrade': {
        const success = this.parts.script.strike('upgradeTo');
        return {
          begin: (now) => {
            conversation.end(now);
            return BEFORE_DOWNLOAD_MS + (success ? (success.transferMs ?? 0) + BEFORE_DISCONNECT_MS : AFTER_FAILURE_MS);
          },
          finish: (now) => {
            if (!success) return;
            const former = state.firmwareVersion;
            state.firmwareVersion = success.version;
            this.#leave('graceful', now, BEFORE_RESTART_MS + this.bootMs);
            if (success.rollBackAfterMs !== undefined)
              this.#rollBack(former, now + BEFORE_RESTART_MS + this.bootMs + success.rollBackAfterMs);
          },
        };
      }
      case 'reconfigureWifi':
        return { begin: () => 0, finish: (now) => this.#leave('graceful', now, PROVISIONING_MS) };
    }
  }

  /** The boot loader gives up a firmware that was never confirmed. [xiaozhi §7.6] */
  #rollBack(version: string, at: number): void {
    const { agenda, state } = this.parts;
    agenda.add(at, (now) => {
      state.firmwareVersion = version;
      this.crash(now);
    });
  }

  #leave(how: 'graceful' | 'abrupt', now: number, absenceMs: number): void {
    const { link, mainTask, agenda, script, state, conversation, replies, http, boot } = this.parts;
    link.close(how);
    mainTask.clear();
    agenda.clear();
    replies.clear();
    conversation.reset();
    http.forgetAll();
    boot?.forget();
    link.sessionId = '';
    state.restart(now);
    if (script.strike('brick') === undefined) link.reconnectAt(now + absenceMs);
  }
}
