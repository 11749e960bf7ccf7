/** Recurring jobs for specs: a hub with devices, and a worker whose timers only the spec wakes. */
import { randomUUID } from 'node:crypto';
import type { Job } from '@flotilla/jobs';
import type { RecurringJobRow, Scope } from '@flotilla/registry';
import type { Actor } from '../actor.js';
import { noApprovals } from '../approvals/approval-rules.js';
import { CallRules } from '../calls/call-rules.js';
import { boardTools, openHub, quickVerification, silent } from '../fleet-fixture.suite.js';
import type { HubFixture, HubOptions, HubProcess } from '../fleet-fixture.suite.js';
import type { RecurringJobRequest } from './recurring-request.js';
import { RecurringRuns } from './recurring-runs.js';
import type { RecurringRunDeps } from './recurring-runs.js';

export const VOLUME = 'self.audio_speaker.set_volume';

export class RecurringFixture {
  readonly hub: HubProcess;
  /** The timers that wait. */
  readonly timers = new Set<{ readonly delayMs: number; readonly wake: () => void }>();

  static async open(deviceIds: readonly string[], options: HubOptions = {}): Promise<RecurringFixture> {
    const fixture = await openHub(options);
    await fixture.hub.connect(deviceIds, boardTools);
    return new RecurringFixture(fixture);
  }

  private constructor(private readonly fixture: HubFixture) {
    this.hub = fixture.hub;
  }

  close(): Promise<void> {
    return this.fixture.close();
  }

  runs(registry: RecurringRunDeps['registry'] = this.hub.registry): RecurringRuns {
    const clock = {
      now: () => this.hub.clock.now(),
      setTimer: (delayMs: number, wake: () => void) => {
        const timer = { delayMs, wake };
        this.timers.add(timer);
        return () => this.timers.delete(timer);
      },
    };
    return new RecurringRuns({
      registry,
      bus: this.hub.bus,
      clock,
      logger: silent,
      callRules: new CallRules([]),
      verification: quickVerification,
      approvals: noApprovals,
      mustBeSigned: false,
      downloadOrigin: () => undefined,
    });
  }

  /** A key: runs need an owner that exists. */
  async owner(devices?: Actor['devices'], scopes: readonly Scope[] = ['JOBS_WRITE', 'TOOLS_CALL']): Promise<Actor> {
    const made = await this.hub.registry.apiKeys.create(
      { name: 'scheduler', scopes, devices, expiresAt: undefined },
      { keysMax: 1_000, at: this.hub.clock.now(), by: { actor: 'spec' } },
    );
    if (made.kind !== 'created') throw new TypeError(made.kind);
    const { id } = made.key;
    const rights = { mayCallUserOnly: false, mayChangeFirmware: false };
    return { id: `KEY:${id}`, name: 'scheduler', ...rights, ...(devices && { devices }) };
  }

  async created(change: Partial<RecurringJobRequest>, by: Actor): Promise<RecurringJobRow> {
    const saved = await this.hub.fleet.createRecurringJob(requestOf(change), randomUUID(), by);
    if ('refusal' in saved) throw new TypeError(saved.refusal.message);
    return saved.job;
  }

  async found(id: string): Promise<RecurringJobRow> {
    const job = await this.hub.registry.recurringJobs.find(id);
    if (job === undefined) throw new TypeError('No such recurring job.');
    return job;
  }

  /** The latest first. */
  async jobsOf({ id }: RecurringJobRow): Promise<readonly Job[]> {
    return (await this.hub.registry.jobs.page({ recurringJobId: id }, { first: 50 })).rows;
  }

  /** Lets the time pass until the job is due, and `lateMs` more. */
  async whenDue({ id }: RecurringJobRow, lateMs = 10): Promise<void> {
    const dueAt = (await this.found(id)).nextRunAt ?? 0;
    this.hub.clock.advance(dueAt + lateMs - this.hub.clock.now());
  }

  async eventsOf({ id }: RecurringJobRow): Promise<readonly Readonly<Record<string, unknown>>[]> {
    const page = await this.hub.registry.events.page({ types: ['recurring_job.*'] }, 'AT_DESC', { first: 50 });
    return page.rows.filter(({ data }) => data['recurringJobId'] === id).map(({ type, data }) => ({ type, ...data }));
  }

  async eventTypesOf(job: RecurringJobRow): Promise<readonly unknown[]> {
    return (await this.eventsOf(job)).map(({ type }) => type);
  }

  async tag(ids: readonly string[], change: { readonly add?: string[]; readonly remove?: string[] }): Promise<void> {
    const tags = { add: [], remove: [], ...change, tagsMax: 50 };
    await this.hub.registry.devices.tag({ ids }, tags, { actor: 'spec' });
  }
}

export function requestOf(change: Partial<RecurringJobRequest>): RecurringJobRequest {
  return {
    name: randomUUID(),
    cron: '0 * * * *',
    timeZone: 'UTC',
    job: volumeOf({ ids: ['x'] }),
    missed: 'SKIP',
    overlap: 'SKIP',
    until: undefined,
    enabled: true,
    ...change,
  };
}

export function volumeOf(devices: RecurringJobRequest['job']['devices']): RecurringJobRequest['job'] {
  return { tool: VOLUME, arguments: { volume: 20 }, devices };
}
