/** The recording rules of the hub, compiled, and which of them cover a device. */
import { RegistryError } from '@flotilla/registry';
import type { RecordingRuleRow, RecordingRuleStore } from '@flotilla/registry';
import { latestFirst, parsePattern } from '@flotilla/signals';
import type { PathPattern } from '@flotilla/signals';

export interface CompiledRule extends RecordingRuleRow {
  readonly pattern: PathPattern;
}

interface CurrentRules {
  /** Latest saved first. */
  readonly list: readonly CompiledRule[];
  /** Grows when they change. */
  readonly generation: number;
}

interface RecordingRuleCacheOptions {
  readonly registry: { readonly recordingRules: Pick<RecordingRuleStore, 'list' | 'matching'> };
  readonly clock: { now(): number };
}

/** Rules are read again after this time, because the notification of a change may be lost. */
const rulesForMs = 30_000;
/** Devices get tags and groups meanwhile. */
const coveringForMs = 60_000;

export class RecordingRuleCache {
  #current: (CurrentRules & { readonly readAt: number; readonly sources: ReadonlySet<string> }) | undefined;
  #reading: Promise<CurrentRules> | undefined;
  #isExpired = false;

  constructor(private readonly options: RecordingRuleCacheOptions) {}

  expire(): void {
    this.#isExpired = true;
  }

  wants(source: string): boolean {
    return this.#isExpired || (this.#current?.sources.has(source) ?? true) || this.#isOld;
  }

  isStale(known: { readonly generation: number; readonly checkedAt: number }, now: number): boolean {
    return known.generation !== this.#current?.generation || isOver(known.checkedAt, coveringForMs, now);
  }

  async current(): Promise<CurrentRules> {
    if (this.#current !== undefined && !this.#isExpired && !this.#isOld) return this.#current;
    return (this.#reading ??= this.#read().finally(() => (this.#reading = undefined)));
  }

  /** The rules that cover each of these devices. */
  async covering(deviceIds: readonly string[]): Promise<(deviceId: string) => readonly CompiledRule[]> {
    const { list } = await this.current();
    const members = new Map<string, ReadonlySet<string>>();
    for (const rule of list) if (!coversAll(rule)) members.set(rule.id, await this.#matching(rule, deviceIds));
    return (deviceId) => list.filter((rule) => coversAll(rule) || members.get(rule.id)?.has(deviceId) === true);
  }

  /** A rule whose group was deleted covers no device, and must not end the others. */
  async #matching({ devices }: CompiledRule, deviceIds: readonly string[]): Promise<ReadonlySet<string>> {
    try {
      return await this.options.registry.recordingRules.matching(devices, deviceIds);
    } catch (error) {
      if (error instanceof RegistryError && error.code === 'ARGUMENT_INVALID') return new Set();
      throw error;
    }
  }

  get #isOld(): boolean {
    return this.#current === undefined || isOver(this.#current.readAt, rulesForMs, this.options.clock.now());
  }

  async #read(): Promise<CurrentRules> {
    this.#isExpired = false;
    const rows = await this.options.registry.recordingRules.list().catch((error: unknown) => {
      // The former rules must not count as current because this read began.
      this.#isExpired = true;
      throw error;
    });
    const list = rows
      .flatMap((row) => {
        const pattern = parsePattern(row.path);
        return 'problem' in pattern ? [] : [{ ...row, pattern }];
      })
      .sort(latestFirst);
    const isSame = JSON.stringify(list) === JSON.stringify(this.#current?.list);
    const generation = (this.#current?.generation ?? 0) + (isSame ? 0 : 1);
    const sources = new Set(list.map(({ pattern }) => pattern.source));
    this.#current = { list, generation, sources, readAt: this.options.clock.now() };
    return this.#current;
  }
}

/** Also where the time since is negative: the clock was set back. */
function isOver(since: number, forMs: number, now: number): boolean {
  return now < since || now - since >= forMs;
}

function coversAll({ devices }: RecordingRuleRow): boolean {
  return Object.entries(devices).every(([name, value]) => name === 'all' || value === undefined);
}
