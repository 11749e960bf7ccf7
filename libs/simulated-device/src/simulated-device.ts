/**
 * One simulated xiaozhi device as a pure object: inputs go in with the time, effects come out. It owns no socket, no timer and no clock; whoever
 * drives it carries the effects out. [xiaozhi §4]
 */
import { Agenda } from './agenda.js';
import { isLasting, type Behaviour, type LastingBehaviour } from './behaviour.js';
import { BehaviourScript, type RequestMethod } from './behaviour-script.js';
import { CallLog, type LoggedCall } from './call-log.js';
import { toInt32 } from './check-arguments.js';
import { Conversation } from './conversation.js';
import { DeviceState } from './device-state.js';
import { FirmwareObject, readFirmwareJson } from './firmware-json.js';
import { identityWith, type DeviceIdentity } from './identity.js';
import { Link, type DeviceEffect } from './link.js';
import { MainTask } from './main-task.js';
import type { DeviceProfile } from './profile.js';
import { Replies, errorBody, resultBody, type ReplyBody } from './replies.js';
import { RestartPlan } from './restart-plan.js';
import { endlessPage, repeatingPage } from './spoilt-pages.js';
import type { DeferredWork } from './tool.js';
import { ToolCalls } from './tool-calls.js';

/** The pause before esp-mqtt tries again. [xiaozhi §2.3] */
const RECONNECT_MS = 10_000;
/** From restart to connection, OTA request included. */
const BOOT_MS = 5_000;

export interface DeviceSetup {
  readonly identity: DeviceIdentity;
  readonly profile: DeviceProfile;
  readonly transport: 'mqtt' | 'websocket';
  /** Numbers in [0, 1): battery, temperature, and behaviours with a chance. */
  readonly random: () => number;
  readonly behaviours?: readonly LastingBehaviour[];
  readonly reconnectMs?: number;
  readonly bootMs?: number;
}

/** Every input may be given in any state, and none throws. Times are milliseconds and must not go back. */
export class SimulatedDevice {
  readonly profile: DeviceProfile;
  readonly #state: DeviceState;
  readonly #log = new CallLog();
  readonly #mainTask = new MainTask();
  readonly #agenda = new Agenda();
  readonly #link: Link;
  readonly #script: BehaviourScript;
  readonly #conversation: Conversation;
  readonly #replies: Replies;
  readonly #calls: ToolCalls;
  readonly #restarts: RestartPlan;

  constructor(setup: DeviceSetup) {
    const { profile } = setup;
    this.profile = profile;
    this.#state = new DeviceState(profile.parts, setup.identity, profile.firmwareVersion, setup.random);
    this.#link = new Link(setup.transport, setup.reconnectMs ?? RECONNECT_MS);
    this.#script = new BehaviourScript(setup.behaviours ?? [], setup.random);
    const parts = { link: this.#link, mainTask: this.#mainTask, agenda: this.#agenda, script: this.#script, state: this.#state };
    this.#replies = new Replies(parts);
    this.#conversation = new Conversation(this.#link, this.#mainTask, this.#agenda, profile.takesGlyphs);
    this.#restarts = new RestartPlan({ ...parts, conversation: this.#conversation, replies: this.#replies }, setup.bootMs ?? BOOT_MS);
    const fate = { breakOff: (now: number) => this.#breakOff(now), defer: (work: DeferredWork) => this.#restarts.plan(work) };
    this.#calls = new ToolCalls({ ...parts, profile, replies: this.#replies, log: this.#log, fate });
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

  /** The connection is made and accepted (CONNACK 0, or 101). A WebSocket device says hello now, an MQTT device says nothing. */
  connected(now: number): readonly DeviceEffect[] {
    this.#link.isConnected = true;
    if (this.#link.transport === 'websocket') this.#conversation.open();
    return this.#settle(now);
  }

  /** The connection was lost, closed by the hub or could not be made; not for one that the device has closed by an effect. */
  disconnected(now: number): readonly DeviceEffect[] {
    this.#lose(now);
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
    const message = readFirmwareJson(text);
    if (message instanceof FirmwareObject) this.#take(message, now);
    return this.#settle(now);
  }

  /** Takes a behaviour on, or does at once what a momentary one says. */
  behave(behaviour: Behaviour, now: number): readonly DeviceEffect[] {
    if (isLasting(behaviour)) {
      this.#script.add(behaviour);
      return this.#settle(now);
    }
    switch (behaviour.kind) {
      case 'helloNow':
        this.#conversation.open();
        break;
      case 'notification':
        this.#notify(behaviour.method, behaviour.params);
        break;
      case 'duplicateId':
        this.#impersonate({ mac: behaviour.mac, uuid: behaviour.uuid ?? this.identity.uuid }, now);
        break;
      case 'normal':
        this.#script.clear();
        break;
    }
    return this.#settle(now);
  }

  #advance(now: number): void {
    this.#agenda.runDue(now);
    this.#mainTask.advance(now);
  }

  #settle(now: number): readonly DeviceEffect[] {
    this.#advance(now);
    return this.#link.take(Math.min(this.#agenda.wakeAt, this.#mainTask.wakeAt));
  }

  #take(message: FirmwareObject, now: number): void {
    switch (message.get('type')) {
      case 'mcp':
        return this.#request(message.get('payload'), now);
      case 'hello':
        if (this.#conversation.answer(message) === 'fatal') this.#restarts.crash(now);
        return;
      case 'goodbye':
        return this.#conversation.goodbye(message);
      case 'system':
        if (message.get('command') === 'reboot') this.#restarts.plan({ kind: 'reboot' });
    }
  }

  /** The order of acceptance: the first check that fails decides, and most fail in silence. [xiaozhi §4.1] */
  #request(payload: unknown, now: number): void {
    if (!(payload instanceof FirmwareObject) || payload.get('jsonrpc') !== '2.0') return;
    const method = payload.get('method');
    if (typeof method !== 'string' || method.startsWith('notifications')) return;
    const params = payload.get('params');
    if (params !== undefined && !(params instanceof FirmwareObject)) return;
    const number = payload.get('id');
    if (typeof number !== 'number') return;
    const id = toInt32(number);
    switch (method) {
      case 'initialize':
        return this.#reply(id, method, this.#initialize(params));
      case 'tools/list':
        return this.#reply(id, method, this.#list(params));
      case 'tools/call':
        return this.#calls.call(id, params, now);
      default:
        return this.#reply(id, 'other', errorBody(`Method not implemented: ${method}`));
    }
  }

  #reply(id: number, method: RequestMethod, body: ReplyBody): void {
    this.#replies.queue({ id, method }, body);
  }

  #initialize(params: FirmwareObject | undefined): ReplyBody {
    const capabilities = params?.get('capabilities');
    const vision = capabilities instanceof FirmwareObject ? capabilities.get('vision') : undefined;
    const url = vision instanceof FirmwareObject ? vision.get('url') : undefined;
    if (typeof url === 'string' && this.profile.parts.hasCamera) this.#state.visionUrl = url;
    const serverInfo = `{"name":"${this.profile.parts.board}","version":"${this.#state.firmwareVersion}"}`;
    return resultBody(`{"protocolVersion":"2024-11-05","capabilities":{"tools":{}},"serverInfo":${serverInfo}}`);
  }

  #list(params: FirmwareObject | undefined): ReplyBody {
    const given = params?.get('cursor');
    const cursor = typeof given === 'string' ? given : '';
    const subject = { method: 'tools/list' } as const;
    if (this.#script.strike('repeatingCursor', subject)) return resultBody(repeatingPage(this.profile.tools, cursor));
    if (this.#script.strike('neverEndingPages', subject)) return resultBody(endlessPage(cursor));
    const page = this.profile.tools.page(cursor, params?.get('withUserTools') === true);
    return 'error' in page ? errorBody(page.error) : resultBody(page.result);
  }

  #notify(method: string, params: Readonly<Record<string, unknown>> | undefined): void {
    const payload = JSON.stringify({ jsonrpc: '2.0', method, ...(params && { params }) });
    this.#link.send(`{"session_id":"${this.#link.sessionId}","type":"mcp","payload":${payload}}`);
  }

  #impersonate({ mac, uuid }: { readonly mac: string; readonly uuid: string }, now: number): void {
    this.#state.identity = identityWith({ mac, uuid, board: this.profile.parts.board });
    this.#link.close('abrupt');
    this.#conversation.reset();
    this.#link.reconnectAt(now);
  }

  #breakOff(now: number): void {
    this.#link.close('abrupt');
    this.#lose(now);
  }

  /** Tools that run go on; what they would say is lost unless the device is back by then. */
  #lose(now: number): void {
    this.#link.isConnected = false;
    if (this.#link.transport === 'websocket') this.#conversation.reset();
    this.#link.reconnectLater(now);
  }
}
