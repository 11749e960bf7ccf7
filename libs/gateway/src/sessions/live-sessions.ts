/** All live sessions of this process: admits new ones, passes calls to them, records their ends. */
import type { CallServer, RoutedCall } from '@flotilla/bus';
import type { DeviceId, IncomingTransport } from '@flotilla/mcp';
import type { ToolSet } from '@flotilla/registry';
import type { SessionCall, SettledCall } from '@flotilla/session';
import { LostConversations } from '../conversations/lost-conversations.js';
import { SampleWatch } from '../mcpu/sample-watch.js';
import { StatusWatch } from '../status/status-watch.js';
import { DiscoveryPace } from '../overload/discovery-pace.js';
import { FlappingWatch } from '../overload/flapping-watch.js';
import { countSessions } from './count-sessions.js';
import type { SessionCount } from './count-sessions.js';
import { DeviceSession } from './device-session.js';
import type { SessionContext } from './device-session.js';
import { EventLog } from './event-log.js';
import { Expulsions } from './expulsions.js';
import { familyTraits } from './family-traits.js';
import { LargeRequestMemory } from './large-request-memory.js';
import type { DeviceConnection, SessionHost } from './session-host.js';
import { SessionDrain } from './session-drain.js';
import { SessionLogs } from '../session-log/session-logs.js';
import type { DrainPlan } from './session-drain.js';
import { SessionTable } from './session-table.js';
import { hasNoSession, hasReconnected, whileLeaving } from './unsent-reasons.js';
import type { UnsentReason } from './unsent-reasons.js';

/** How often `stop` checks whether all rows are written, ms. */
const STOP_POLL_MS = 10;

type Settle = (settled: SettledCall) => void;
type OwnParts = 'events' | 'largeRequests' | 'lostConversations' | 'onClosed' | 'onSuperseded';

export class LiveSessions implements SessionHost, CallServer {
  readonly #table: SessionTable<DeviceSession>;
  readonly #expulsions = new Expulsions();
  readonly #flapping: FlappingWatch;
  readonly #pace: DiscoveryPace;
  readonly #status: StatusWatch;
  readonly #samples: SampleWatch;
  readonly #events: EventLog;
  /** Resolves when the newest session of the device has its epoch; devices with one are absent. */
  readonly #openings = new Map<DeviceId, Promise<void>>();
  /** Cancels a session's turn to greet. */
  readonly #turns = new WeakMap<DeviceSession, () => void>();
  /** Sessions that ended and whose end is not written yet. */
  readonly #ending = new Set<DeviceSession>();
  readonly #sessionContext: SessionContext;
  #unsubscribe: readonly (() => void)[] = [];
  readonly #largeRequests: LargeRequestMemory;
  readonly #logs: SessionLogs;
  #isStopping = false;
  #drain: SessionDrain<DeviceSession> | undefined;

  constructor(private readonly context: Omit<SessionContext, OwnParts>) {
    const { bus, clock, limits, logger, registry } = context;
    this.#table = new SessionTable(clock);
    this.#flapping = new FlappingWatch(limits, clock);
    this.#pace = new DiscoveryPace(limits, clock);
    this.#status = new StatusWatch(context);
    this.#samples = new SampleWatch(context);
    this.#events = new EventLog({ events: registry.events, feed: bus.feed, clock });
    this.#largeRequests = new LargeRequestMemory(clock);
    this.#logs = new SessionLogs({ feed: bus.feed, clock, logger }, (deviceId) => this.#table.get(deviceId));
    this.#sessionContext = {
      ...context,
      events: this.#events,
      largeRequests: this.#largeRequests,
      lostConversations: new LostConversations(clock),
      onClosed: (session, reason) => this.#end(session, reason),
      onSuperseded: (session) => this.#takenElsewhere(session),
    };
  }

  /**
   * Subscribes to sessions at other gateways, because a device that moved there leaves a connection
   * here that may look alive for minutes, to devices that must be disconnected, and to restarts.
   */
  start(): void {
    this.#status.start();
    this.#samples.start();
    this.#logs.start();
    const { feed } = this.context.bus;
    this.#unsubscribe = [
      feed.subscribe('session', ({ deviceId, epoch }) => this.#table.get(deviceId)?.record.compare(epoch)),
      feed.subscribe('expelled', ({ deviceId }) => this.#expel(deviceId)),
      feed.subscribe('restarted', ({ deviceId }) => this.#restarted(deviceId)),
    ];
  }

  get expulsions(): number {
    return this.#expulsions.count;
  }

  isFullFor(deviceId: DeviceId): boolean {
    return this.isDraining || (this.isFull && this.#table.get(deviceId) === undefined);
  }

  get isFull(): boolean {
    return this.#table.size >= this.context.limits.sessionsMax;
  }

  get size(): number {
    return this.#table.size;
  }

  /** No new session is admitted, because this process stops. */
  get isDraining(): boolean {
    return this.#isStopping || this.#drain !== undefined;
  }

  /** Sessions that wait for their turn to greet. */
  get undiscovered(): number {
    return this.#pace.waiting;
  }

  /** Devices that connect again and again. */
  get flapping(): number {
    return this.#flapping.flapping;
  }

  welcome(deviceId: DeviceId, kind: IncomingTransport): 'welcome' | { readonly retryAfterMs: number } {
    const entry = this.#flapping.enter(deviceId, { kind, isTakeover: this.#table.get(deviceId) !== undefined });
    if (entry.kind === 'welcome') return 'welcome';
    if (entry.isNew) {
      this.context.counters.add('flapping', 'episodes');
      const advice =
        'If two boards have one identity, remove one or issue a new credential with rotateDeviceCredential; ' +
        'otherwise find out why this one restarts.';
      this.#events.write('device.flapping', deviceId, {
        transport: kind,
        retryAfterSeconds: Math.ceil(entry.retryAfterMs / 1_000),
        advice,
      });
    }
    return entry;
  }

  report(deviceId: DeviceId, type: 'device.throttled', data: Readonly<Record<string, unknown>>): void {
    this.#events.write(type, deviceId, data);
  }

  supersede(deviceId: DeviceId): void {
    const takeover = this.#table.evict(deviceId);
    if (takeover === 'none') return;
    this.context.counters.add('takeover', 'all');
    if (takeover === 'flapping') this.context.counters.add('takeover', 'flapping');
  }

  admit(connection: DeviceConnection): void {
    const { deviceId, expulsions, transport } = connection;
    if (expulsions !== undefined && this.#expulsions.hasSince(deviceId, expulsions)) {
      this.context.counters.add('refusal', 'credentials_wrong');
      transport.close('hub_closed');
      return;
    }
    // Others may have taken the last places since the ingress accepted it.
    if (this.isFullFor(deviceId)) {
      this.context.counters.add('refusal', 'hub_full');
      transport.close(this.isDraining ? 'hub_stopping' : 'hub_closed');
      return;
    }
    this.supersede(deviceId);
    const session = new DeviceSession(this.#sessionContext, connection, { after: this.#openings.get(deviceId) });
    this.#table.put(session);
    this.#status.add(session);
    if (familyTraits[connection.dialect].hasPolledSamples) this.#samples.add(session);
    const opening = session.record.opened.then(() => {
      if (this.#openings.get(deviceId) === opening) this.#openings.delete(deviceId);
    });
    this.#openings.set(deviceId, opening);
    this.#logs.opened(session);
    session.listen();
    this.#turns.set(
      session,
      this.#pace.enqueue(() => session.greet()),
    );
  }

  enqueue({ deviceId, epoch, call }: RoutedCall, settle: Settle): void {
    this.#pace.called();
    const session = this.#table.get(deviceId);
    if (this.#drain?.refuses(session) === true)
      return this.#settleUnsent(call, settle, whileLeaving(this.#drain.hasSuccessor));
    if (session !== undefined && (epoch === undefined || epoch === session.record.epoch)) {
      session.enqueue(call, (settled) => {
        this.#status.settled(session, call, settled);
        this.#samples.settled(session, settled);
        settle(settled);
      });
      return;
    }
    this.#settleUnsent(call, settle, session === undefined ? hasNoSession : hasReconnected);
  }

  /** The tools that the device listed in its current session. */
  toolSetOf(deviceId: DeviceId): ToolSet | undefined {
    return this.#table.get(deviceId)?.toolSet;
  }

  refreshTools(deviceId: DeviceId): boolean {
    const session = this.#table.get(deviceId);
    session?.session.refreshTools();
    return session !== undefined;
  }

  disconnect(deviceId: DeviceId): boolean {
    const session = this.#table.get(deviceId);
    session?.close('hub_closed');
    return session !== undefined;
  }

  count(): readonly SessionCount[] {
    return countSessions(this.#table.values());
  }

  /**
   * Admits no new sessions, and closes each live one when its calls have settled. Resolves when
   * none is left, or when the time is over.
   */
  drain(plan: DrainPlan): Promise<void> {
    this.#drain ??= new SessionDrain({
      ...plan,
      clock: this.context.clock,
      sessions: () => this.#table.values(),
      onLeaving: (session) => {
        this.#status.remove(session);
        this.#samples.remove(session);
      },
    });
    return this.#drain.finished;
  }

  /** Settles all calls, ends all sessions with `hub_stopping` and waits for their last rows. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    this.#drain?.stop();
    for (const unsubscribe of this.#unsubscribe) unsubscribe();
    this.#pace.stop();
    this.#logs.stop();
    this.#status.stop();
    this.#samples.stop();
    for (const session of [...this.#table.values()]) session.close('hub_stopping');
    const { clock, limits, logger } = this.context;
    const giveUpAt = clock.now() + limits.stopTimeoutMs;
    while (this.#unfinished > 0 && clock.now() < giveUpAt)
      await new Promise<void>((resolve) => void clock.setTimer(STOP_POLL_MS, resolve));
    if (this.#unfinished === 0) return;
    logger.warn(
      { sessions: this.#unfinished },
      'session ends were not written in time; they are closed when the lease of this process expires',
    );
    for (const session of [...this.#ending, ...this.#table.values()]) session.record.abandon();
  }

  /** Another process may have made the credentials void: this one must not remember them. */
  #expel(deviceId: DeviceId): void {
    this.context.registry.credentials.forget(deviceId);
    this.#expulsions.add(deviceId);
    this.disconnect(deviceId);
  }

  /** The device has restarted, perhaps by a request to another gateway. */
  #restarted(deviceId: DeviceId): void {
    this.#largeRequests.forget(deviceId);
    this.#table.get(deviceId)?.restarted();
  }

  /** Never inside `enqueue`, like the settlements of a session. */
  #settleUnsent({ callId }: SessionCall, settle: Settle, reason: UnsentReason): void {
    const settled = { callId, settledAt: this.context.clock.now(), ...reason };
    queueMicrotask(() => settle(settled));
  }

  /** Sessions whose end is not written. A closed session leaves the table a turn later. */
  get #unfinished(): number {
    return this.#table.size + this.#ending.size;
  }

  /** The device has a newer session at another gateway, unless a newer one is here already. */
  #takenElsewhere(session: DeviceSession): void {
    const { connection, deviceId } = session;
    if (this.#table.get(deviceId) !== session) return;
    this.supersede(deviceId);
    // Over TCP the hub connects, so the device cannot flap.
    if (connection.kind !== 'TCP') this.#flapping.takenElsewhere(deviceId, connection.kind);
  }

  #end(session: DeviceSession, reason: string): void {
    this.#turns.get(session)?.();
    this.#table.remove(session);
    this.#status.remove(session);
    this.#samples.remove(session);
    this.#logs.closed(session.deviceId, reason);
    this.#ending.add(session);
    void session.record.close(reason).finally(() => this.#ending.delete(session));
  }
}
