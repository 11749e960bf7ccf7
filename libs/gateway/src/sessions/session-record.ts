/**
 * Records one session in PostgreSQL, the directory and the feed, in order and fenced by its epoch.
 * While PostgreSQL is unavailable the record retries and the device stays connected. It does not
 * wait for an unavailable directory.
 */
import type { DeviceInfo, ToolSetHash } from '@flotilla/mcp';
import { diffToolSets } from '@flotilla/mcp';
import type { EventType, ReadyFacts, ReadyResult, ToolSet } from '@flotilla/registry';
import { familyTraits } from './family-traits.js';
import type { RecordContext } from './record-context.js';
import { retryWrite } from './retry-write.js';
import type { DeviceConnection } from './session-host.js';
import { storeTools } from './store-tools.js';

/** Greeting and listing. Without `toolSet` the listing failed, and the device keeps its tools. */
export interface SessionFacts {
  readonly info: DeviceInfo;
  readonly toolSet: ToolSet | undefined;
  readonly isComplete: boolean;
}

interface SessionRecordOptions {
  readonly connection: DeviceConnection;
  /** ms since the Unix epoch; the vision token of the session contains it. */
  readonly connectedAt: number;
  /** The opening of the session before this one: epochs follow the order of connections. */
  readonly after: Promise<void> | undefined;
  /** The device has a newer session elsewhere. May be called repeatedly, also after the end. */
  readonly onSuperseded: () => void;
}

/** Maximum of names in each list of an event. */
const NAMES_MAX = 100;

export class SessionRecord {
  /** The session epoch; undefined until PostgreSQL returned it. */
  epoch: number | undefined;
  /** Settles when the epoch is known, or the session ended without one. Never rejects. */
  readonly opened: Promise<void>;
  #announced = Promise.resolve();
  #facts: SessionFacts | undefined;
  /** Facts of the first write, until they are announced. */
  #writtenAtStart: { readonly facts: SessionFacts; readonly answer: ReadyResult } | undefined;
  #isAnnouncing = false;
  #wasAnnounced = false;
  #isClosed = false;
  #isAbandoned = false;
  #isKeptListed = false;
  /** Ends the wait of the first write for the listing. */
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

  /** Records that the session is ready or changed. Of several calls only the last is written. */
  announce(facts: SessionFacts): void {
    this.#facts = facts;
    this.#waitNoLonger();
    // Otherwise the ended timer would stay in memory as long as the session.
    this.#waitNoLonger = () => undefined;
    if (this.#isAnnouncing) return;
    this.#isAnnouncing = true;
    this.#announced = this.#announceAll();
  }

  /** A session of this device began with this epoch: perhaps this session, or an older one. */
  compare(epoch: number): void {
    void this.opened.then(() => {
      if (this.epoch !== undefined && this.epoch < epoch) this.superseded();
    });
  }

  /** The device has a newer session, by the feed or PostgreSQL, or was removed. */
  superseded(): void {
    this.options.onSuperseded();
  }

  /** Records the end; called once. Resolves when it is written. */
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
    const { deviceId } = this.options.connection;
    const wasNewest = await this.#persist(
      'session end',
      () => this.context.registry.devices.closeSession({ deviceId, epoch, reason, at }),
      false,
    );
    // After a takeover the device is still online, although its newer session has no epoch yet.
    if (wasNewest === true)
      this.context.bus.feed.publish(
        'device',
        reason === 'taken_over' ? { deviceId } : { deviceId, presence: 'OFFLINE' },
      );
    const { will } = this.options.connection;
    // Not after DISCONNECT [MQTT-3.1.2-8], and not when the hub stops.
    if (will && reason !== 'device_closed' && reason !== 'hub_stopping') this.event('device.will', { ...will, epoch });
    this.event('device.disconnected', { reason, epoch });
  }

  /** Keeps the directory entry after the end, so that callers learn here that the device moves. */
  keepListed(): void {
    this.#isKeptListed = true;
  }

  /** Gives up pending writes: the process ends, and the sweep of its lease closes the session. */
  abandon(): void {
    this.#isAbandoned = true;
  }

  /** Writes an event of this device and publishes it. */
  event(type: EventType, data: Readonly<Record<string, unknown>>): void {
    this.context.events.write(type, this.options.connection.deviceId, data);
  }

  /** Waits a moment for the listing, so that most sessions need one write. */
  async #open(connectedAt: number): Promise<void> {
    await this.options.after;
    await this.#waited;
    const facts = this.#isClosed ? undefined : this.#facts;
    this.#facts = undefined;
    const opened = await this.#persist('session start', () => this.#writeStart(connectedAt, facts));
    if (opened === undefined) return;
    const { epoch, ready, stored } = opened;
    this.epoch = epoch;
    this.context.bus.feed.publish('session', { deviceId: this.options.connection.deviceId, epoch });
    if (stored !== undefined && ready !== undefined) this.#writtenAtStart = { facts: stored, answer: ready };
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
    const written = await this.#persist('session ready', () => this.#writeReady(epoch, facts));
    if (written !== undefined) await this.#written(epoch, written.stored, written.answer);
  }

  /**
   * After a write with these facts: enters the directory, and writes the events of what changed.
   * `answer` has what PostgreSQL knew before.
   */
  async #written(epoch: number, facts: SessionFacts, answer: ReadyResult): Promise<void> {
    if (!answer.isCurrent) return this.superseded();
    if (!this.#isClosed) await this.#enterDirectory(epoch, facts.toolSet?.hash ?? answer.previousToolSetHash);
    // Also after the end: the next session compares with this one, and would see no change.
    await this.#report(epoch, facts, answer);
  }

  async #enterDirectory(epoch: number, toolSetHash: ToolSetHash | undefined): Promise<void> {
    const { gatewayId, bus } = this.context;
    const { deviceId } = this.options.connection;
    await this.#tryOnce(() => bus.directory.put({ deviceId, gatewayId, epoch, toolSetHash }));
    if (!this.#isClosed)
      bus.feed.publish('device', this.#wasAnnounced ? { deviceId } : { deviceId, presence: 'ONLINE' });
  }

  async #writeStart(connectedAt: number, facts: SessionFacts | undefined) {
    const { deviceId, kind, dialect, remoteAddress } = this.options.connection;
    const stored = facts && (await storeTools(this.context, deviceId, facts));
    const opened = await this.context.registry.devices.connect({
      deviceId,
      dialect,
      transport: kind,
      reachability: familyTraits[dialect].reachabilityOver(kind),
      remoteAddress,
      connectedAt,
      ready: stored && this.#readyFacts(stored),
    });
    return { ...opened, stored };
  }

  async #writeReady(epoch: number, facts: SessionFacts) {
    const { deviceId } = this.options.connection;
    const stored = await storeTools(this.context, deviceId, facts);
    const answer = await this.context.registry.devices.ready({ deviceId, epoch, ...this.#readyFacts(stored) });
    return { stored, answer };
  }

  #readyFacts({ info, toolSet, isComplete }: SessionFacts): ReadyFacts {
    const { gatewayId, clock } = this.context;
    return { gatewayId, ...info, toolSetHash: toolSet?.hash, toolsComplete: isComplete, at: clock.now() };
  }

  /** Writes the events of an announcement. */
  async #report(epoch: number, facts: SessionFacts, answer: ReadyResult): Promise<void> {
    const { kind, dialect, remoteAddress } = this.options.connection;
    if (!this.#wasAnnounced)
      this.event('device.connected', { transport: kind, remoteAddress: remoteAddress ?? null, epoch });
    if (!this.#wasAnnounced && familyTraits[dialect].resetsOutputs && epoch > 1)
      this.event('device.outputs_reset', { epoch });
    this.#wasAnnounced = true;
    const { firmwareVersion } = facts.info;
    if (
      answer.previousFirmwareVersion !== undefined &&
      firmwareVersion !== undefined &&
      answer.previousFirmwareVersion !== firmwareVersion
    )
      this.event('firmware.changed', { from: answer.previousFirmwareVersion, to: firmwareVersion });
    if (facts.toolSet !== undefined && facts.toolSet.hash !== answer.previousToolSetHash)
      await this.#reportTools(facts.toolSet, answer);
  }

  async #reportTools(toolSet: ToolSet, { previousToolSetHash }: ReadyResult): Promise<void> {
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
    const { epoch, context, options } = this;
    if (epoch === undefined || this.#isKeptListed) return;
    await this.#tryOnce(() => context.bus.directory.remove(options.connection.deviceId, epoch));
  }

  /** The directory repeats or expires what failed: no row or event waits until it is available. */
  async #tryOnce(command: () => Promise<void>): Promise<void> {
    try {
      await command();
    } catch (error) {
      const { deviceId } = this.options.connection;
      this.context.logger.debug({ error, deviceId }, 'the directory did not take a change of a session');
    }
  }

  /** Retries until it succeeds, or until the process or (`endsWithSession`) the session ends. */
  async #persist<Value>(what: string, write: () => Promise<Value>, endsWithSession = true): Promise<Value | undefined> {
    if (this.#isAbandoned) return undefined;
    const isWanted = () => !this.#isAbandoned && !(endsWithSession && this.#isClosed);
    const about = { deviceId: this.options.connection.deviceId, what };
    return retryWrite(this.context, { about, write, isWanted });
  }
}
