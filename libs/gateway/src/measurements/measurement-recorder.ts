/**
 * Records numbers that devices report, as the recording rules say. Reports wait in memory until the
 * rules and the last points of their device are known; nothing here delays a device or a caller.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Bus } from '@flotilla/bus';
import type { DeviceId } from '@flotilla/mcp';
import { fleetPathsMax, RegistryError } from '@flotilla/registry';
import type { MeasurementStore, RecordingRuleStore, RefusedPoint } from '@flotilla/registry';
import { chooseRule, isStored, matchesPath } from '@flotilla/signals';
import type { Point, ReportedNumber } from '@flotilla/signals';
import { LRUCache } from 'lru-cache';
import type { GatewayLogger } from '../gateway-logger.js';
import type { EventLog } from '../sessions/event-log.js';
import { RecordingRuleCache } from './recording-rule-cache.js';
import type { CompiledRule } from './recording-rule-cache.js';

interface MeasurementRecorderOptions {
  readonly registry: {
    readonly measurements: Pick<MeasurementStore, 'add' | 'latestOf' | 'whenRefused'>;
    readonly recordingRules: Pick<RecordingRuleStore, 'list' | 'matching'>;
  };
  readonly feed: Pick<Bus['feed'], 'subscribe'>;
  readonly events: Pick<EventLog, 'write'>;
  readonly clock: { now(): number };
  readonly logger: GatewayLogger;
  /** Between two attempts while PostgreSQL is away, ms. */
  readonly retryMs?: number;
}

/** Numbers of one moment that a device reported. */
export interface Report {
  readonly deviceId: DeviceId;
  readonly at: number;
  readonly numbers: readonly ReportedNumber[];
}

/** Paths of one device. */
export const devicePathsMax = 200;
/** Devices whose last points are in memory: some 100 MB with ten paths each. */
const devicesMax = 50_000;
/** Reports that wait for PostgreSQL. Further ones are dropped, and counted in the log. */
const waitingMax = 20_000;
const retryMsDefault = 1_000;
/** Devices of one read. */
const devicesPerRead = 1_000;
/** An event about a full device or fleet is written once per rule in this time, ms. */
const limitEventEveryMs = 3_600_000;

interface Known {
  readonly last: Map<string, Point>;
  /** Rules that cover the device, of the rules with this number. */
  rules: readonly CompiledRule[];
  generation: number;
  checkedAt: number;
}

export class MeasurementRecorder {
  readonly #rules: RecordingRuleCache;
  readonly #known = new LRUCache<string, Known>({ max: devicesMax });
  #waiting: Report[] = [];
  #running: Promise<void> | undefined;
  readonly #limitEvents = new Map<string, number>();
  #end: () => void = () => undefined;
  readonly #stopped = new AbortController();
  #isAwayReported = false;
  #dropped = 0;

  constructor(private readonly options: MeasurementRecorderOptions) {
    this.#rules = new RecordingRuleCache(options);
  }

  /** Reads the rules, and again at once when one changes. */
  start(): void {
    this.#end = this.options.feed.subscribe('recordingRules', () => this.#rules.expire());
    this.options.registry.measurements.whenRefused((points) => this.#refused(points));
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    this.#end();
    await this.#running;
  }

  /** Whether a rule may want numbers of this source. Unknown rules want all. */
  wants(source: string): boolean {
    return this.#rules.wants(source);
  }

  /** Never waits and never throws. */
  take(report: Report): void {
    if (this.#stopped.signal.aborted || report.numbers.length === 0) return;
    if (this.#waiting.length >= waitingMax) this.#dropped += 1;
    else this.#waiting.push(report);
    this.#running ??= this.#run();
  }

  async #run(): Promise<void> {
    while (this.#waiting.length > 0) {
      // Reports of one turn of the event loop share the reads.
      await new Promise((resolve) => setImmediate(resolve));
      const reports = this.#waiting.splice(0, devicesPerRead);
      try {
        await this.#record(reports);
        this.#isAwayReported = false;
      } catch (error) {
        if (isAway(error)) await this.#keep(reports, error);
        else this.options.logger.warn({ error, reports: reports.length }, 'reported numbers were not recorded');
      }
    }
    // In the same step, so that a report that comes now is not left waiting.
    this.#running = undefined;
  }

  /** The oldest stay: newer ones beyond the limit are dropped. */
  async #keep(reports: readonly Report[], error: unknown): Promise<void> {
    const { logger, retryMs = retryMsDefault } = this.options;
    const waiting = [...reports, ...this.#waiting];
    this.#waiting = this.#stopped.signal.aborted ? [] : waiting.slice(0, waitingMax);
    this.#dropped += waiting.length - this.#waiting.length;
    if (this.#stopped.signal.aborted) return this.#reportDropped(error);
    if (!this.#isAwayReported) logger.warn({ error }, 'PostgreSQL does not answer; reported numbers wait');
    this.#isAwayReported = true;
    await sleep(retryMs, undefined, { signal: this.#stopped.signal }).catch(() => undefined);
  }

  #reportDropped(error?: unknown): void {
    if (this.#dropped === 0) return;
    const details = { reports: this.#dropped, ...(error !== undefined && { error }) };
    this.options.logger.warn(details, 'reported numbers were dropped: PostgreSQL did not answer in time');
    this.#dropped = 0;
  }

  async #record(reports: readonly Report[]): Promise<void> {
    const rules = await this.#rules.current();
    // Without a rule none of them was wanted.
    if (rules.list.length === 0) this.#dropped = 0;
    this.#reportDropped();
    const wanted = reports.filter(({ numbers }) =>
      numbers.some(({ path }) => rules.list.some(({ pattern }) => matchesPath(pattern, path))),
    );
    await this.#learn([...new Set(wanted.map(({ deviceId }) => deviceId))], rules);
    for (const report of wanted) this.#decide(report);
  }

  /** Reads the last points of devices that are not known, and which rules cover the others. */
  async #learn(
    deviceIds: readonly DeviceId[],
    rules: { readonly list: readonly CompiledRule[]; readonly generation: number },
  ): Promise<void> {
    const now = this.options.clock.now();
    const unknown = deviceIds.filter((id) => !this.#known.has(id));
    if (unknown.length > 0) {
      const latest = await this.options.registry.measurements.latestOf(unknown);
      for (const id of unknown) {
        const last = new Map((latest.get(id) ?? []).map((point) => [point.path, point]));
        this.#known.set(id, { last, rules: [], generation: -1, checkedAt: -Infinity });
      }
    }
    const stale = deviceIds.filter((id) => {
      const known = this.#known.get(id);
      return known !== undefined && this.#rules.isStale(known, now);
    });
    if (stale.length === 0) return;
    const covering = await this.#rules.covering(stale);
    for (const id of stale) {
      const known = this.#known.get(id);
      if (known) Object.assign(known, { rules: covering(id), generation: rules.generation, checkedAt: now });
    }
  }

  #decide({ deviceId, at, numbers }: Report): void {
    const known = this.#known.get(deviceId);
    if (known === undefined) return;
    const now = this.options.clock.now();
    for (const { path, value } of numbers) {
      const rule = chooseRule(known.rules, path, () => true);
      if (rule === undefined) continue;
      const last = known.last.get(path);
      if (!isStored(rule, { last, next: { at, value }, now })) continue;
      if (last === undefined && known.last.size >= devicePathsMax) {
        this.#report({ deviceId, path, ruleId: rule.id }, 'DEVICE', devicePathsMax);
        continue;
      }
      if (this.options.registry.measurements.add({ deviceId, path, at, value, ruleId: rule.id }))
        known.last.set(path, { at, value });
    }
  }

  #refused(points: readonly RefusedPoint[]): void {
    for (const point of points) {
      this.#known.get(point.deviceId)?.last.delete(point.path);
      this.#report(point, 'FLEET', fleetPathsMax);
    }
  }

  #report({ deviceId, path, ruleId }: RefusedPoint, scope: 'DEVICE' | 'FLEET', limit: number): void {
    const now = this.options.clock.now();
    const key = scope === 'FLEET' ? `${ruleId} fleet` : `${ruleId} ${deviceId}`;
    if (now - (this.#limitEvents.get(key) ?? -Infinity) < limitEventEveryMs) return;
    if (this.#limitEvents.size >= devicesMax) this.#limitEvents.clear();
    this.#limitEvents.set(key, now);
    const about = scope === 'DEVICE' ? (deviceId as DeviceId) : undefined;
    this.options.events.write('measurements.limit_reached', about, { ruleId, path, limit, scope });
  }
}

function isAway(error: unknown): boolean {
  return error instanceof RegistryError && error.code === 'DATABASE_UNAVAILABLE';
}
