/**
 * One simulated xiaozhi device as a pure object: inputs and times in, effects out. It owns no
 * socket, timer or clock; the driver carries the effects out. [xiaozhi §4]
 */
import { Agenda } from './calls/agenda.js';
import { AssetsUpdate } from './firmware/assets-update.js';
import { isLasting, isTimed, type Behaviour } from './behaviour/behaviour.js';
import { BehaviourScript } from './behaviour/behaviour-script.js';
import { Habits } from './behaviour/habits.js';
import { Moments } from './behaviour/moments.js';
import { CallLog, type LoggedCall } from './calls/call-log.js';
import { Boot } from './boot/boot.js';
import { Nvs } from './boot/nvs.js';
import { transportSettings } from './boot/transport-settings.js';
import { Conversation, type SoundCounts } from './connection/conversation.js';
import type { DeviceSetup } from './device-setup.js';
import { DeviceState, type DeviceLevels } from './device-state.js';
import { FirmwareUpdate, type UpdateFault } from './firmware/firmware-update.js';
import { FirmwareObject, readFirmwareJson } from './json/firmware-json.js';
import { utf8Length } from './json/utf8.js';
import type { HttpResponse } from './connection/http-messages.js';
import { HttpRequests } from './connection/http-requests.js';
import { identityWith, type DeviceIdentity } from './identity.js';
import { Link, type DeviceEffect } from './connection/link.js';
import { MainTask } from './calls/main-task.js';
import { McpRequests } from './calls/mcp-requests.js';
import { firmwarePauses } from './connection/pauses.js';
import type { DeviceProfile } from './profile.js';
import { ReconnectPlan } from './connection/reconnect-plan.js';
import { Replies } from './connection/replies.js';
import { RestartPlan } from './firmware/restart-plan.js';
import { Screen, type ShownAlert } from './screen.js';
import type { DeferredWork } from './calls/tool.js';
import { ToolCalls } from './calls/tool-calls.js';

/**
 * UTF-8 bytes that the MQTT client takes in one piece (1,024 with topic and header, rounded down).
 * [xiaozhi §9, 24]
 */
const LARGE_MESSAGE_BYTES = 1_000;

/** Every input is allowed in any state, and none throws. Times are ms and must not go back. */
export class SimulatedDevice {
  readonly profile: DeviceProfile;
  readonly #state: DeviceState;
  readonly #log = new CallLog();
  readonly #screen = new Screen();
  readonly #mainTask = new MainTask();
  readonly #agenda = new Agenda();
  readonly #link: Link;
  readonly #script: BehaviourScript;
  readonly #habits: Habits;
  readonly #conversation: Conversation;
  readonly #replies: Replies;
  readonly #requests: McpRequests;
  readonly #restarts: RestartPlan;
  readonly #nvs: Nvs;
  readonly #http: HttpRequests;
  readonly #boot: Boot | undefined;
  readonly #moments: Moments;

  constructor(setup: DeviceSetup) {
    const { profile } = setup;
    this.profile = profile;
    const identity = setup.flash
      ? identityWith({ ...setup.identity, uuid: setup.flash.uuid, board: profile.parts.board })
      : setup.identity;
    const firmware = { factory: { version: profile.firmwareVersion }, installed: setup.flash?.firmware };
    this.#state = new DeviceState(profile.parts, identity, firmware, setup.random);
    this.#nvs = new Nvs(setup.flash?.settings);
    const pauses = { ...firmwarePauses, ...setup.pauses };
    const { otaUrl } = setup;
    this.#link = new Link(setup.transport, new ReconnectPlan(setup.network ?? 'wifi', pauses, otaUrl === undefined));
    this.#http = new HttpRequests(this.#link);
    const behaviours = setup.behaviours ?? [];
    const scripted = behaviours.filter((behaviour) => !isTimed(behaviour));
    this.#script = new BehaviourScript(scripted, setup.random);
    const parts = {
      link: this.#link,
      mainTask: this.#mainTask,
      agenda: this.#agenda,
      script: this.#script,
      state: this.#state,
    };
    this.#replies = new Replies(parts);
    this.#conversation = new Conversation(this.#link, this.#mainTask, this.#agenda, profile.takesGlyphs);
    const crash = (reason: string, now: number) => this.#crash(reason, now);
    this.#habits = new Habits(this.#state, behaviours.filter(isTimed), {
      crash,
      loseWifi: (until) => this.#loseWifi(until),
    });
    const restartInto = (fault: UpdateFault | undefined, now: number) => this.#restarts.installed(fault, now);
    const updates = {
      update: new FirmwareUpdate({ ...parts, http: this.#http }),
      assets: new AssetsUpdate({ ...parts, http: this.#http }),
    };
    const booting = { ...parts, ...updates, http: this.#http, nvs: this.#nvs, pauses, crash, restartInto };
    this.#boot = otaUrl === undefined ? undefined : new Boot(otaUrl, booting);
    this.#restarts = new RestartPlan(
      {
        ...parts,
        conversation: this.#conversation,
        replies: this.#replies,
        http: this.#http,
        boot: this.#boot,
        update: updates.update,
      },
      pauses,
    );
    const fate = {
      breakOff: (now: number) => this.#breakOff(now),
      defer: (work: DeferredWork) => this.#restarts.plan(work),
    };
    const calls = new ToolCalls({ ...parts, http: this.#http, profile, replies: this.#replies, log: this.#log, fate });
    this.#requests = new McpRequests({ ...parts, profile, replies: this.#replies, calls });
    this.#moments = new Moments({
      ...parts,
      nvs: this.#nvs,
      random: setup.random,
      habits: this.#habits,
      conversation: this.#conversation,
      requests: this.#requests,
      restarts: this.#restarts,
      mayTalk: () => !this.#state.isUpgrading && this.#boot?.isDone !== false,
      impersonate: (as, now) => this.#impersonate(as, now),
    });
  }

  /** Who the device says it is; `duplicateId` changes it. Read it at each connect. */
  get identity(): DeviceIdentity {
    return this.#state.identity;
  }

  get transport(): 'mqtt' | 'websocket' {
    return this.#link.transport;
  }

  /** How often each tool began to run since the device was made; restarts do not clear it. */
  get toolCounts(): ReadonlyMap<string, number> {
    return this.#log.counts;
  }

  /** The last few calls, oldest first. */
  get lastCalls(): readonly LoggedCall[] {
    return this.#log.last;
  }

  /** The last few banners that it showed, oldest first; restarts do not clear them. */
  get shownAlerts(): readonly ShownAlert[] {
    return this.#screen.alerts;
  }

  /** Packets of sound that it has said and played since it was made. */
  get sound(): SoundCounts {
    return this.#conversation.sound;
  }

  /** What the knobs show at this moment, and how often a knob has changed a value. */
  levels(now: number): DeviceLevels & { readonly turns: number } {
    this.#advance(now);
    return { ...this.#state.levels(now), turns: this.#habits.turns };
  }

  /**
   * Power-on, or the time of the last `reconnectAt`: asks the OTA address after a restart, else
   * connects.
   */
  dial(now: number): readonly DeviceEffect[] {
    if (this.#boot === undefined) this.#connectAsKnown();
    else if (this.#boot.isDone) this.#connect(now);
    else this.#boot.start(now);
    return this.#settle(now);
  }

  /** What came of the request with this id; undefined where nothing did. */
  answered(id: number, response: HttpResponse | undefined, now: number): readonly DeviceEffect[] {
    this.#advance(now);
    this.#http.answered(id, response, now);
    return this.#settle(now);
  }

  /** The connection is accepted (CONNACK 0, or 101). A WebSocket device sends its hello now. */
  connected(now: number): readonly DeviceEffect[] {
    this.#link.connected();
    this.#conversation.connected(now);
    return this.#settle(now);
  }

  /**
   * The connection was lost, closed by the hub, or failed. Not for one that an effect has closed.
   */
  disconnected(now: number): readonly DeviceEffect[] {
    this.#lose(now, this.#link.isConnected);
    return this.#settle(now);
  }

  /** The time of the last `wakeAt` has come. Coming early or twice is harmless. */
  tick(now: number): readonly DeviceEffect[] {
    this.#link.forgetWake();
    return this.#settle(now);
  }

  /** One text message from the hub. Anything that the firmware would not understand is ignored. */
  receive(text: string, now: number): readonly DeviceEffect[] {
    this.#advance(now);
    const isLost = utf8Length(text) > LARGE_MESSAGE_BYTES && this.#script.strike('losesLargeMessages') !== undefined;
    const message = isLost ? undefined : readFirmwareJson(text);
    if (message instanceof FirmwareObject) this.#take(message, now);
    return this.#settle(now);
  }

  /** A packet of sound from the hub. */
  hear(): void {
    this.#conversation.hear();
  }

  /** Takes a behaviour on, or does at once what a momentary one says. */
  behave(behaviour: Behaviour, now: number): readonly DeviceEffect[] {
    if (!isLasting(behaviour)) this.#moments.happen(behaviour, now);
    else if (isTimed(behaviour)) this.#habits.add(behaviour, now);
    else this.#script.add(behaviour);
    return this.#settle(now);
  }

  #advance(now: number): void {
    this.#habits.advance(now);
    this.#agenda.runDue(now);
    this.#mainTask.advance(now);
  }

  #settle(now: number): readonly DeviceEffect[] {
    this.#advance(now);
    return this.#link.take(Math.min(this.#agenda.wakeAt, this.#mainTask.wakeAt, this.#habits.wakeAt));
  }

  #take(message: FirmwareObject, now: number): void {
    switch (message.get('type')) {
      case 'mcp':
        return this.#requests.take(message.get('payload'), now);
      case 'hello':
        if (this.#conversation.answer(message, now) === 'fatal') this.#crash('a hello without a transport', now);
        return;
      case 'goodbye':
        return this.#conversation.goodbye(message);
      case 'alert':
        return this.#screen.alert(message, now);
      case 'system':
        if (message.get('command') === 'reboot') this.#restarts.plan({ kind: 'reboot' });
    }
  }

  /** Without an OTA address, only this confirms new firmware. */
  #connectAsKnown(): void {
    this.#state.firmware.confirm();
    this.#link.connect(undefined);
  }

  #connect(now: number): void {
    const settings = transportSettings(this.#nvs, this.#link.transport);
    if (settings === 'absent') return;
    if ('crash' in settings) return this.#crash(settings.crash, now);
    this.#link.connect(settings);
  }

  #crash(reason: string, now: number): void {
    this.#link.effect({ kind: 'notice', notice: { kind: 'crash', reason } });
    this.#restarts.crash(now);
  }

  #impersonate({ mac, uuid }: { readonly mac: string; readonly uuid: string }, now: number): void {
    this.#state.identity = identityWith({ mac, uuid, board: this.profile.parts.board });
    this.#leaveUntil(now);
  }

  /** With an OTA address, a WebSocket device comes back for a conversation only. [xiaozhi §1.5] */
  #loseWifi(until: number): void {
    if (this.#boot?.isDone === true && this.#link.transport === 'websocket') this.#breakOff(until);
    else this.#leaveUntil(until);
  }

  #leaveUntil(at: number): void {
    this.#link.close('abrupt');
    this.#conversation.reset();
    this.#link.reconnectAt(at);
  }

  #breakOff(now: number): void {
    const { isConnected } = this.#link;
    this.#link.close('abrupt');
    this.#lose(now, isConnected);
  }

  /** Tools that run go on; what they would say is lost unless the device is back by then. */
  #lose(now: number, wasConnected: boolean): void {
    this.#link.isConnected = false;
    this.#conversation.disconnected();
    this.#link.reconnectLater(now, wasConnected);
  }
}
