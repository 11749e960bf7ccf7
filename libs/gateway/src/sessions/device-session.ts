/**
 * The live session of one device: passes what the session reports to its record, the counters and
 * the conversation.
 */
import { randomInt } from 'node:crypto';
import { clipText } from '@flotilla/mcp';
import type { CloseReason, DeviceId, DeviceInfo, DialectName, DiscoveredTools, JsonObject } from '@flotilla/mcp';
import type { ToolSet } from '@flotilla/registry';
import { SessionActor } from '@flotilla/session';
import type {
  MessageTap,
  Session,
  SessionAnomaly,
  SessionCall,
  SessionObserver,
  SessionState,
  SettledCall,
  ToolPageCache,
} from '@flotilla/session';
import type { ConversationHost } from '../conversations/conversation-host.js';
import type { DeviceConversations } from '../conversations/device-conversations.js';
import type { LostConversations } from '../conversations/lost-conversations.js';
import type { GatewayCounters } from '../gateway-counters.js';
import { perMinute, TokenBucket } from '../overload/token-bucket.js';
import { familyTraits, LARGE_REQUEST_BYTES } from './family-traits.js';
import type { MeasurementRecorder } from '../measurements/measurement-recorder.js';
import type { LargeRequestMemory } from './large-request-memory.js';
import type { DeviceConnection } from './session-host.js';
import { openConversations } from './open-conversations.js';
import type { DrainedSession } from './session-drain.js';
import type { LoggedSession } from '../session-log/session-logs.js';
import { SessionRecord } from './session-record.js';
import type { RecordContext } from './record-context.js';
import type { SessionFacts } from './session-record.js';
import type { BootSigns } from '../restarts/boot-signs.js';
import type { ToolSetIndex } from './tool-set-index.js';
import type { VisionFor } from './vision-customer.js';

/** What all sessions of a gateway share. */
export interface SessionContext extends RecordContext {
  readonly toolSets: ToolSetIndex;
  readonly pageCache: ToolPageCache;
  readonly conversations: ConversationHost;
  readonly lostConversations: LostConversations;
  readonly counters: GatewayCounters;
  readonly visionFor: VisionFor | undefined;
  readonly largeRequests: LargeRequestMemory;
  readonly measurements?: MeasurementRecorder | undefined;
  readonly boots?: BootSigns | undefined;
  /** The session ended; called once. */
  readonly onClosed: (session: DeviceSession, reason: CloseReason) => void;
  /** The device has a newer session at another gateway. */
  readonly onSuperseded: (session: DeviceSession) => void;
}

/** There was no listing, or the last one failed. */
const noFacts: Pick<SessionFacts, 'toolSet' | 'isComplete'> = { toolSet: undefined, isComplete: false };
const unknownInfo: DeviceInfo = { model: undefined, firmwareVersion: undefined };

/** A random first id: answers from before a reconnect do not match it. [xiaozhi §4.1] */
const FIRST_REQUEST_ID_MAX = 1_000_000_000;

const restartAdvice =
  'The device loses messages above this size since one was cut. Restart it, for example with self.reboot.';

export class DeviceSession implements SessionObserver, DrainedSession, LoggedSession {
  readonly deviceId: DeviceId;
  readonly record: SessionRecord;
  readonly #actor: SessionActor;
  /** Undefined for families without conversations. */
  readonly #conversations: DeviceConversations | undefined;
  /** Its status tool, if it has one; read at the end of every call. */
  #statusTool: string | undefined;
  readonly #statusToolOfDialect: string | undefined;
  #info = unknownInfo;
  #facts = noFacts;
  /** What the device can do, by its last listing that did not fail. */
  #toolSet: ToolSet | undefined;
  #hasListedAgain = false;
  #hasRestarted = false;
  #cancelListing: () => void = () => undefined;
  readonly #notifications: TokenBucket;
  readonly #conversationEvents: TokenBucket;

  constructor(
    private readonly context: SessionContext,
    readonly connection: DeviceConnection,
    options: { readonly after: Promise<void> | undefined },
  ) {
    this.deviceId = connection.deviceId;
    const connectedAt = context.clock.now();
    const { conversationEventsPerMinuteMax, notificationsPerMinuteMax } = context.limits;
    this.#notifications = new TokenBucket(perMinute(notificationsPerMinuteMax), connectedAt);
    this.#conversationEvents = new TokenBucket(perMinute(conversationEventsPerMinuteMax), connectedAt);
    const { deviceId, localAddress } = connection;
    const vision = context.visionFor?.({ deviceId, connectedAt, reached: { localAddress, host: connection.host } });
    const traits = familyTraits[connection.dialect];
    const { dialect, setSessionId } = traits.openDialect(vision);
    this.#statusToolOfDialect = dialect.statusTool;
    this.#actor = new SessionActor({
      dialect,
      transport: connection.transport,
      clock: context.clock,
      observer: this,
      firstRequestId: randomInt(1, Math.min(FIRST_REQUEST_ID_MAX, dialect.requestIdMax)),
      limits: traits.limitsOver(connection.kind),
      pageCache: context.pageCache,
      largeRequests: context.largeRequests.take(deviceId),
    });
    this.#conversations =
      setSessionId &&
      openConversations(context, {
        connection,
        actor: this.#actor,
        known: () => ({ info: this.#info, tools: this.#toolSet?.tools }),
        report: (data) => this.#reportConversation(data),
        onSessionId: setSessionId,
      });
    if (connection.audio) connection.audio.onframe = (frame) => this.#conversations?.heardAudio(frame);
    this.record = new SessionRecord(context, {
      connection,
      connectedAt,
      after: options.after,
      onSuperseded: () => context.onSuperseded(this),
    });
  }

  get session(): Session {
    return this.#actor;
  }

  get statusTool(): string | undefined {
    return this.#statusTool;
  }

  get toolSet(): ToolSet | undefined {
    return this.#toolSet;
  }

  get dialect(): DialectName {
    return this.connection.dialect;
  }

  get opening(): string {
    return `${this.connection.kind} ${this.connection.remoteAddress ?? ''}`.trimEnd();
  }

  get hello(): string | undefined {
    const { hello } = this.connection;
    return hello && JSON.stringify(hello);
  }

  /** Passes each message of the connection to `tap`; undefined ends this. */
  tap(tap: MessageTap | undefined): void {
    this.#actor.tap(tap);
  }

  /** Calls that wait or are in flight. */
  get pendingCalls(): number {
    return this.#actor.pendingCalls;
  }

  get isConversing(): boolean {
    return this.#conversations?.isConversing === true;
  }

  enqueue(call: SessionCall, settle: (settled: SettledCall) => void): void {
    this.#conversations?.used();
    this.#actor.enqueue(call, settle);
  }

  get state(): SessionState {
    return this.#actor.state;
  }

  /** Starts to receive messages of the device. */
  listen(): void {
    this.#actor.listen();
    this.#conversations?.begin();
    if (this.connection.hello !== undefined) this.#conversations?.hello(this.connection.hello);
  }

  /** Greets the device after its hello was answered. Does nothing after the end of the session. */
  greet(): void {
    if (this.#conversations === undefined) this.#actor.start();
    else this.#conversations.onceAnswered(() => this.#actor.start());
  }

  close(reason: CloseReason): void {
    // A device does not notice the end of its conversation by the end of its connection.
    if (reason === 'hub_closed' || reason === 'hub_stopping') this.#conversations?.end(reason);
    this.#actor.close(reason);
  }

  /** The device has started again, so the connection is lost although it may still look alive. */
  restarted(): void {
    this.#hasRestarted = true;
  }

  leave(isMoving: boolean): void {
    if (isMoving) this.record.keepListed();
    this.close('hub_stopping');
  }

  onStateChanged(state: SessionState, reason: CloseReason | undefined): void {
    if (state === 'ready') {
      this.#announce();
      this.#conversations?.ready();
    }
    if (state !== 'closed') return;
    this.#cancelListing();
    this.#conversations?.end('device_gone');
    const ended = reason ?? 'hub_closed';
    if (!this.#hasRestarted) this.context.largeRequests.keep(this.deviceId, this.#actor.largeRequests, ended);
    this.context.onClosed(this, ended);
  }

  onGreeted(info: DeviceInfo): void {
    this.#info = info;
    this.context.boots?.greeted(this.deviceId, info);
  }

  onToolsDiscovered(discovered: DiscoveredTools): void {
    if (this.#isTooEarly(discovered)) return this.#listAgainLater();
    this.#toolSet = this.context.toolSets.toolSetOf(discovered);
    this.#facts = { toolSet: this.#toolSet, isComplete: discovered.isComplete };
    this.#statusTool = discovered.tools.find(({ name }) => name === this.#statusToolOfDialect)?.name;
    if (this.state === 'ready') this.#announce();
  }

  onDiscoveryFailed(message: string): void {
    this.context.logger.warn({ deviceId: this.deviceId, message }, 'tools could not be listed');
    this.#facts = noFacts;
    if (this.state === 'ready') this.#announce();
    if (this.#toolSet === undefined && !this.#hasListedAgain) this.#listAgainLater();
  }

  onNotification(method: string, params: unknown): void {
    const { clock, counters, limits } = this.context;
    if (!this.#notifications.takeOne(perMinute(limits.notificationsPerMinuteMax), clock.now()))
      return counters.add('anomaly', 'notifications_dropped');
    this.context.boots?.notified(this.deviceId, method, params);
    const isSmall = Buffer.byteLength(JSON.stringify(params ?? null)) <= limits.notificationBytesMax;
    this.record.event('device.notification', {
      method: clipText(method, 128),
      ...(isSmall ? { params: params ?? null } : { truncated: true }),
    });
  }

  onDeviceMessage(type: string, message: JsonObject): void {
    if (this.#conversations === undefined) return;
    if (type === 'goodbye') this.#conversations.goodbye(message);
    else if (type !== 'hello') this.#conversations.heard(message);
    else if (!this.#conversations.hello(message)) this.context.counters.add('anomaly', 'hello_invalid');
  }

  onLateOutcome(late: SettledCall): void {
    this.record.event('call.answered_late', { callId: late.callId, outcome: late.outcome.kind });
    this.context.bus.feed.publish('lateAnswer', { callId: late.callId, outcome: late.outcome });
  }

  onLargeRequests(areLost: boolean, unanswered: number): void {
    this.context.counters.add('large_messages', areLost ? 'lost' : 'received');
    if (areLost)
      this.record.event('device.large_messages_lost', {
        unanswered,
        largerThanBytes: LARGE_REQUEST_BYTES,
        advice: restartAdvice,
      });
    else this.record.event('device.large_messages_received', { unanswered });
  }

  onAnomaly(anomaly: SessionAnomaly, detail: string): void {
    this.context.counters.add('anomaly', anomaly);
    this.context.logger.debug({ deviceId: this.deviceId, anomaly, detail }, 'strange message from device');
  }

  /** Some boards register tools late. A first listing that is empty or fails is repeated once. */
  #isTooEarly({ tools }: DiscoveredTools): boolean {
    return tools.length === 0 && !this.#hasListedAgain && this.#facts === noFacts;
  }

  #listAgainLater(): void {
    this.#hasListedAgain = true;
    const { clock, limits } = this.context;
    this.#cancelListing = clock.setTimer(limits.listingRetryMs, () => this.#actor.refreshTools());
  }

  #announce(): void {
    this.record.announce({ info: this.#info, ...this.#facts });
  }

  #reportConversation(data: JsonObject): void {
    const { clock, counters, limits } = this.context;
    if (this.#conversationEvents.takeOne(perMinute(limits.conversationEventsPerMinuteMax), clock.now()))
      this.record.event('device.conversation', data);
    else counters.add('anomaly', 'conversation_events_dropped');
  }
}
