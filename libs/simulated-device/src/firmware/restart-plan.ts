/**
 * Everything that ends in a restart or an absence: reboot, upgrade, Wi-Fi provisioning, crash, with
 * the firmware's pauses. [xiaozhi §4.6]
 */
import type { Boot } from '../boot/boot.js';
import type { Conversation } from '../connection/conversation.js';
import type { DownloadParts, FirmwareUpdate, UpdateFault } from './firmware-update.js';
import type { Work } from '../calls/main-task.js';
import type { Pauses } from '../connection/pauses.js';
import type { Replies, ReplyParts } from '../connection/replies.js';
import type { DeferredWork } from '../calls/tool.js';

/** From the reboot request, or the end of a download, to the MQTT DISCONNECT. */
const BEFORE_DISCONNECT_MS = 1000;
/** From there to the restart itself. */
const BEFORE_RESTART_MS = 1000;
/** A device in provisioning is offline until a person enters the Wi-Fi; simulated as one minute. */
const PROVISIONING_MS = 60_000;

interface Parts extends DownloadParts, ReplyParts {
  readonly conversation: Conversation;
  readonly replies: Replies;
  readonly update: FirmwareUpdate;
  /** Absent where the device has no OTA address. */
  readonly boot: Boot | undefined;
}

export class RestartPlan {
  constructor(
    private readonly parts: Parts,
    private readonly pauses: Pick<Pauses, 'bootMs' | 'beforeDownloadMs' | 'afterFailureMs'>,
  ) {}

  /** Puts the work on the main task, where it blocks all that comes behind it. */
  plan(work: DeferredWork): void {
    this.parts.mainTask.push(this.#work(work));
  }

  /** An abrupt restart, as after a null pointer or a power failure. */
  crash(now: number): void {
    this.#leave('abrupt', now, this.pauses.bootMs);
  }

  #work(work: DeferredWork): Work {
    const { conversation } = this.parts;
    switch (work.kind) {
      case 'reboot':
        return {
          begin: (now) => {
            conversation.end(now);
            return BEFORE_DISCONNECT_MS;
          },
          finish: (now) => this.#leave('graceful', now, BEFORE_RESTART_MS + this.pauses.bootMs),
        };
      case 'upgrade':
        return this.#upgrade(work.url);
      case 'reconfigureWifi':
        return { begin: () => 0, finish: (now) => this.#leave('graceful', now, PROVISIONING_MS) };
    }
  }

  /** An upgrade by the tool: everything that comes in meanwhile waits for its end. */
  #upgrade(url: string): Work {
    const { conversation, state, script, mainTask } = this.parts;
    const scripted = script.strike('upgradeTo');
    let hadConversation = false;
    return {
      begin: (now) => {
        hadConversation = conversation.end(now);
        state.isUpgrading = true;
        return this.pauses.beforeDownloadMs + (scripted ? (scripted.transferMs ?? 0) + BEFORE_DISCONNECT_MS : 0);
      },
      finish: (now) => {
        if (scripted) {
          state.firmware.install({ version: scripted.version });
          return this.#startAnew({ rollBackAfterMs: scripted.rollBackAfterMs }, now);
        }
        mainTask.hold('request');
        this.parts.update.fetch(url, (result) => {
          mainTask.release('request');
          mainTask.pushFirst(
            result.kind === 'written' ? this.#restartInto(result.fault) : this.#giveUp(hadConversation),
          );
        });
      },
    };
  }

  /**
   * The reply follows. Outside a conversation the device stays stuck in its upgrade until it
   * restarts. [xiaozhi §7.6]
   */
  #giveUp(hadConversation: boolean): Work {
    return {
      begin: () => this.pauses.afterFailureMs,
      finish: () => {
        if (hadConversation) this.parts.state.isUpgrading = false;
      },
    };
  }

  #restartInto(fault: UpdateFault | undefined): Work {
    return { begin: () => BEFORE_DISCONNECT_MS, finish: (now) => this.installed(fault, now) };
  }

  /** The restart into an image that was written, or into what the fault makes of it. */
  installed(fault: UpdateFault | undefined, now: number): void {
    if (fault?.how === 'brick') return this.#leave('graceful', now, Infinity);
    if (fault?.how === 'rollBack' && fault.afterMs === undefined) {
      this.parts.state.firmware.goBack();
      return this.#leave('graceful', now, BEFORE_RESTART_MS + 2 * this.pauses.bootMs);
    }
    this.#startAnew({ rollBackAfterMs: fault?.afterMs }, now);
  }

  /** The boot loader gives up a firmware that was never confirmed. [xiaozhi §7.6] */
  #startAnew({ rollBackAfterMs }: { readonly rollBackAfterMs: number | undefined }, now: number): void {
    const { agenda, state } = this.parts;
    const absenceMs = BEFORE_RESTART_MS + this.pauses.bootMs;
    this.#leave('graceful', now, absenceMs);
    if (rollBackAfterMs === undefined) return;
    agenda.add(now + absenceMs + rollBackAfterMs, (at) => {
      state.firmware.goBack();
      this.crash(at);
    });
  }

  /** `absenceMs` is infinite for a device that does not come back. */
  #leave(how: 'graceful' | 'abrupt', now: number, absenceMs: number): void {
    const { link, mainTask, agenda, script, state, conversation, replies, http, boot } = this.parts;
    link.close(how);
    mainTask.clear();
    agenda.clear();
    replies.clear();
    conversation.reset();
    http.forgetAll();
    script.drop('losesLargeMessages');
    boot?.forget();
    link.sessionId = '';
    state.restart(now);
    if (script.strike('brick') === undefined && absenceMs !== Infinity) link.reconnectAt(now + absenceMs);
  }
}
