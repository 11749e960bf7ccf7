/**
 * What PostgreSQL, the directory and the feed learn of one session, in the order in which it happened and fenced by its epoch. It waits for them, the
 * device's sockets never do: while PostgreSQL is away it tries again, and devices stay connected.
 */
import type { Bus } from '@flotilla/bus';
import type { DeviceInfo, HubProcessId, ToolSetHash } from '@flotilla/mcp';
import { diffToolSets } from '@flotilla/mcp';
import type {
  CallStore,
  DeviceStore,
  EventStore,
  OpenedSession,
  ReadyFacts,
  ReadyResult,
  ToolSet,
  ToolSetStore,
} from '@flotilla/registry';
import type { Clock } from '@flotilla/session';
import type { GatewayLimits } from '../gateway-limits.js';
import type { GatewayLogger } from '../gateway-logger.js';
import type { Arrival } from './session-host.js';

/** As much of the registry as sessions need. */
export interface SessionStores {
  readonly devices: Pick<DeviceStore, 'connecting' | 'ready' | 'closed' | 'report'>;
  readonly toolSets: Pick<ToolSetStore, 'ensure' | 'get'>;
  readonly events: Pick<EventStore, 'append'>;
  readonly calls: Pick<CallStore, 'record' | 'isOverloaded'>;
}

export interface RecordContext {
  readonly gatewayId: HubProcessId;
  readonly registry: SessionStores;
  readonly bus: Pick<Bus, 'directory' | 'feed'>;
  readonly clock: Clock;
  readonly limits: GatewayLimits;
  readonly logger: GatewayLogger;
}

/** What a greeting and a listing told. Without `toolSet` the listing failed, and the device keeps the tools it had. */
export interface SessionFacts {
  readonly info: DeviceInfo;
  readonly toolSet: ToolSet | undefined;
  readonly isComplete: boolean;
}

export interface SessionRecordOptions {
  readonly arrival: Arrival;
  /** ms since the Unix epoch; its vision token names it. */
  readonly connectedAt: number;
  /** The opening of the device's session before this one: epochs are given in the order of connections. */
  readonly after: Promise<void> | undefined;
  /** The device has a newer session, at another gateway. May come more than once, and after the end. */
  readonly onSuperseded: () => void;
}

/** Names per list of one event: a row need not carry hundreds. */
const NAMES_MAX = 100;

export class SessionRecord {
  /** Number of this connection; undefined until PostgreSQL gave it. */
  epoch: number | undefined;
  /** Settles when the epoch is known, or the session ended without one. Never rejects. */
  readonly opened: Promise<void>;
  #announced = Promise.resolve();
  #facts: SessionFacts | undefined;
  /** Facts that the first write took along, until they are announced. */
  #writtenAtStart: { readonly facts: SessionFacts; readonly answer: ReadyResult } | undefined;
  #isAnnouncing = false;
  #wasAnnounced = false;
  #isClosed = false;
  #isAbandoned = false;
  /** Ends the wait of the first write for what the device tells of itself. */
  #waitNoLonger: () => void = () => undefined;
  readonly #waited: Promise<void>;

  constructor(
    private readonly context: RecordContext,
    private readonly options: SessionRecordOptions,
  ) {
    this.#waited = new Promise((resolve) => {
      const cancel = context.clock.setTimer(context.limits.readinessWaitMs, resolve);
      this.#waitNoLonger = () => {
        cancel();
        resolve();
      };
    });
    this.opened = this.#open(options.connectedAt);
  }

  /** The session is ready, or its tools or version changed. Of several in a row only the last is written. */
  announce(facts: SessionFacts): void {
    this.#facts = facts;
    this.#waitNoLonger();
    if (this.#isAnnouncing) return;
    this.#isAnnouncing = true;
    this.#announced = this.#announceAll();
  }

  /** Somewhere a session of this device began that has this epoch; it may be this very one, or older. */
  compare(epoch: number): void {
    void this.opened.then(() => {
      if (this.epoch !== undefined && this.epoch < epoch) this.options.onSuperseded();
    });
  }

  /** The session ended; to be called once. Resolves when the end is written. */
  async close(reason: string): Promise<void> {
    this.#isClosed = true;
    this.#waitNoLonger();
    const at = this.context.clock.now();
    if (this.#wasAnnounced) await this.#leaveDirectory();
    await this.opened;
    await this.#announced;
    const { epoch } = this;
    if (epoch === undefined) return;
    await this.#leaveDirectory();
    const { deviceId } = this.options.arrival;
    const wasNewest = await this.#persist(
      'session end',
      () => this.context.registry.devices.closed({ deviceId, epoch, reason, at }),
      false,
    );
    // A device that was taken over is not gone, though its newer session may end before it ever has an epoch: then only this row says that it is.
    if (wasNewest === true)
      this.context.bus.feed.publish(
        'device',
        reason === 'taken_over' ? { deviceId } : { deviceId, presence: 'OFFLINE' },
      );
    const { will } = this.options.arrival;
    // [MQTT-3.1.2-8]: not after DISCONNECT; and a hub that stops says nothing about the device.
    if (will && reason !== 'device_closed' && reason !== 'hub_stopping') this.event('device.will', { ...will, epoch });
    this.event('device.disconnected', { reason, epoch });
  }

  /** Gives up what could not be written: the process ends, and the lease's sweep will close the session. */
  abandon(): void {
    this.#isAbandoned = true;
  }

  /** Writes an event of this device and feeds it. */
  event(type: string, data: Readonly<Record<string, unknown>>): void {
    const { deviceId } = this.options.arrival;
    const row = this.context.registry.events.append({ type, deviceId, at: this.context.clock.now(), data });
    this.context.bus.feed.publish('event', row);
  }

  /** A device that is ready soon is written once. One that takes its time is on record before. */
  async #open(connectedAt: number): Promise<void> {
    await this.options.after;
    await this.#waited;
    const facts = this.#isClosed ? undefined : this.#facts;
    this.#facts = undefined;
    const opened = await this.#persist('session start', () => this.#writeStart(connectedAt, facts));
    if (opened === undefined) return;
    const { epoch, ready } = opened;
    this.epoch = epoch;
    this.context.bus.feed.publish('session', { deviceId: this.options.arrival.deviceId, epoch });
    if (facts !== undefined && ready !== undefined) this.#writtenAtStart = { facts, answer: ready };
  }

  async #announceAll(): Promise<void> {
    await this.opened;
    const first = this.#writtenAtStart;
    this.#writtenAtStart = undefined;
    if (first !== undefined && this.epoch !== undefined) await this.#written(this.epoch, first.facts, first.answer);
    while (this.#facts !== undefined && !this.#isClosed) {
      const facts = this.#facts;
      this.#facts = undefined;
      await this.#announceOnce(facts);
    }
    this.#isAnnouncing = false;
  }

  async #announceOnce(facts: SessionFacts): Promise<void> {
    const { epoch } = this;
    if (epoch === undefined) return;
    const answer = await this.#persist('session ready', () => this.#writeReady(epoch, facts));
    if (answer !== undefined) await this.#written(epoch, facts, answer);
  }

  async #written(epoch: number, facts: SessionFacts, answer: ReadyResult): Promise<void> {
    if (!answer.isCurrent) {
      this.options.onSuperseded();
      return;
    }
    if (!this.#isClosed) await this.#enterDirectory(epoch, facts.toolSet?.hash ?? answer.previousToolSetHash);
    // Also of a session that has ended meanwhile: the next one finds the device as this one left it, and would tell nothing.
    await this.#tell(epoch, facts, answer);
  }

  async #enterDirectory(epoch: number, toolSetHash: ToolSetHash | undefined): Promise<void> {
    const { gatewayId, bus } = this.context;
    const { deviceId } = this.options.arrival;
    await this.#persist('directory entry', () => bus.directory.put({ deviceId, gatewayId, epoch, toolSetHash }));
    if (!this.#isClosed)
      bus.feed.publish('device', this.#wasAnnounced ? { deviceId } : { deviceId, presence: 'ONLINE' });
  }

  async #writeStart(connectedAt: number, facts: SessionFacts | undefined): Promise<OpenedSession> {
    const { deviceId, kind, dialect = 'XIAOZHI', remoteAddress } = this.options.arrival;
    const reachability = kind === 'WEBSOCKET' && dialect === 'XIAOZHI' ? 'IN_CONVERSATION' : 'ALWAYS';
    const ready = facts && (await this.#readyFacts(facts));
    return this.context.registry.devices.connecting({
      deviceId,
      dialect,
      transport: kind,
      reachability,
      remoteAddress,
      connectedAt,
      ready,
    });
  }

  async #writeReady(epoch: number, facts: SessionFacts): Promise<ReadyResult> {
    const ready = await this.#readyFacts(facts);
    return this.context.registry.devices.ready({ deviceId: this.options.arrival.deviceId, epoch, ...ready });
  }

  /** As they are written; their tool set is stored then. */
  async #readyFacts({ info, toolSet, isComplete }: SessionFacts): Promise<ReadyFacts> {
    const { context } = this;
    if (toolSet !== undefined) await context.registry.toolSets.ensure(toolSet);
    return {
      gatewayId: context.gatewayId,
      ...info,
      toolSetHash: toolSet?.hash,
      toolsComplete: isComplete,
      at: context.clock.now(),
    };
  }

  /** The events of an announcement. */
  async #tell(epoch: number, facts: SessionFacts, answer: ReadyResult): Promise<void> {
    const { kind, dialect, remoteAddress } = this.options.arrival;
    if (!this.#wasAnnounced)
      this.event('device.connected', { transport: kind, remoteAddress: remoteAddress ?? null, epoch });
    // A board initialises its pins for each connection. [mcpu §0]
    if (!this.#wasAnnounced && dialect === 'MCPU' && epoch > 1) this.event('device.outputs_reset', { epoch });
    this.#wasAnnounced = true;
    const { firmwareVersion } = facts.info;
    if (
      answer.previousFirmwareVersion !== undefined &&
      firmwareVersion !== undefined &&
      answer.previousFirmwareVersion !== firmwareVersion
    )
      this.event('firmware.changed', { from: answer.previousFirmwareVersion, to: firmwareVersion });
    if (facts.toolSet !== undefined && facts.toolSet.hash !== answer.previousToolSetHash)
      await this.#tellTools(facts.toolSet, answer);
  }

  async #tellTools(toolSet: ToolSet, { previousToolSetHash }: ReadyResult): Promise<void> {
    const { toolSets } = this.context.registry;
    const former = previousToolSetHash;
    const before =
      former === undefined ? undefined : await this.#persist('former tools', () => toolSets.get(former), false);
    if (this.#isAbandoned) return;
    const { added, removed, changed } = diffToolSets(before ? before.tools : [], toolSet.tools);
    this.event('tools.changed', {
      toolSetHash: toolSet.hash,
      added: added.slice(0, NAMES_MAX),
      removed: removed.slice(0, NAMES_MAX),
      changed: changed.slice(0, NAMES_MAX),
    });
  }

  async #leaveDirectory(): Promise<void> {
    const { epoch } = this;
    if (epoch === undefined) return;
    const { deviceId } = this.options.arrival;
    await this.#persist('directory entry', () => this.context.bus.directory.remove(deviceId, epoch), false);
  }

  /** Tries until it works, once at least; undefined when given up, because the session has ended (`endsWithSession`) or the process does. */
  async #persist<Value>(what: string, write: () => Promise<Value>, endsWithSession = true): Promise<Value | undefined> {
    const { limits, clock, logger } = this.context;
    for (
      let delayMs = limits.retryDelayMs;
      !this.#isAbandoned;
      delayMs = Math.min(delayMs * 2, limits.retryDelayMsMax)
    ) {
      try {
        return await write();
      } catch (error) {
        if (delayMs === limits.retryDelayMs)
          logger.warn({ error, deviceId: this.options.arrival.deviceId, what }, 'not written, trying again');
        await new Promise<void>((resolve) => void clock.setTimer(delayMs, resolve));
      }
      if (endsWithSession && this.#isClosed) break;
    }
    return undefined;
  }
}
