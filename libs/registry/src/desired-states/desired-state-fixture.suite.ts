/** A migrated database with processes and desired states, for specs of their stores. */
import { randomUUID } from 'node:crypto';
import type { ComplianceState } from '@flotilla/desired-state';
import type { DeviceId, HubProcessId } from '@flotilla/mcp';
import { openJobFixture } from '../jobs/job-fixture.suite.js';
import { AT } from '../jobs/new-job.suite.js';
import type { JobFixture } from '../jobs/job-fixture.suite.js';
import { ArgumentSeal } from '../secrets/argument-seal.js';
import type { DesiredStateRow, DesiredTargetRow, NewDesiredState, SavedDesiredState } from './desired-state.js';
import { DesiredStateReads } from './desired-state-reads.js';
import { DesiredStateStore } from './desired-state-store.js';
import { DesiredStateQueue } from './queue/desired-state-queue.js';
import type { FencedTarget } from './queue/desired-state-queue.js';

const VOLUME = 'self.audio_speaker.set_volume';
export const by = { actor: 'spec' };

export interface DesiredStateFixture {
  readonly jobs: JobFixture;
  readonly store: DesiredStateStore;
  readonly queue: DesiredStateQueue;
  readonly reads: DesiredStateReads;
  create(change?: Partial<NewDesiredState>): Promise<DesiredStateRow>;
  /** The fence of the owner, who takes it if it has none. */
  fenceOf(state: DesiredStateRow, owner?: HubProcessId): Promise<number>;
  /** Devices by state, as the counters and as the entries have it. */
  counted(state: DesiredStateRow): Promise<Readonly<Record<string, number>>>;
  existing(state: DesiredStateRow): Promise<Readonly<Record<string, number>>>;
  close(): Promise<void>;
}

export function planOf(change: Partial<NewDesiredState> = {}): NewDesiredState {
  return {
    id: randomUUID(),
    name: randomUUID(),
    devices: { all: true },
    tool: VOLUME,
    arguments: { volume: 30 },
    mode: 'ENFORCE',
    onDrift: 'HOLD',
    holdSeconds: 1_800,
    priority: 0,
    window: undefined,
    waves: undefined,
    abort: undefined,
    maxInFlight: 200,
    perMinute: undefined,
    enabled: true,
    readback: { tool: 'self.get_device_status', path: 'audio_speaker.volume', argument: 'volume' },
    savedById: 'KEY:spec',
    secretsById: 'KEY:spec',
    createdBy: 'spec',
    idempotencyKey: randomUUID(),
    requestHash: 'hash',
    ...change,
  };
}

/** An edit of it. */
export function editOf(state: DesiredStateRow, change: Partial<SavedDesiredState> = {}): SavedDesiredState {
  const { idempotencyKey, requestHash, createdBy, ...saved } = planOf({ ...state });
  void [idempotencyKey, requestHash, createdBy];
  return { ...saved, ...change };
}

export async function openDesiredStateFixture(): Promise<DesiredStateFixture> {
  const jobs = await openJobFixture();
  const { db } = jobs;
  const [store, queue] = [new DesiredStateStore(db, new ArgumentSeal('spec')), new DesiredStateQueue(db)];
  const countsOf = async (text: string, { id }: DesiredStateRow) => {
    const rows = await db.query<{ readonly state: string; readonly targets: number }>({ text }, [id]);
    return Object.fromEntries(rows.map(({ state, targets }) => [state, targets]));
  };
  return {
    jobs,
    store,
    queue,
    reads: new DesiredStateReads(db),
    create: async (change) => {
      const answer = await store.create(planOf(change), { statesMax: 1_000, at: AT, by });
      if (answer.kind !== 'saved') throw new TypeError(answer.kind);
      return answer.state;
    },
    fenceOf: async ({ id }, owner = jobs.owner) => {
      await queue.takeOwnership(owner);
      const found = (await queue.owned(owner)).find(({ state }) => state.id === id);
      if (found === undefined) throw new TypeError(`${owner} does not own ${id}`);
      return found.fence;
    },
    counted: (state) =>
      countsOf('SELECT state, targets FROM desired_state_counter WHERE desired_state_id = $1 AND targets <> 0', state),
    existing: (state) =>
      countsOf(
        'SELECT state, count(*)::int AS targets FROM desired_state_target WHERE desired_state_id = $1 GROUP BY state',
        state,
      ),
    close: () => jobs.close(),
  };
}

export function targetOf(
  { id, generation }: Pick<DesiredStateRow, 'id' | 'generation'>,
  deviceId: string,
  state: ComplianceState,
  change: Partial<DesiredTargetRow> = {},
): DesiredTargetRow {
  return {
    desiredStateId: id,
    deviceId: deviceId as DeviceId,
    state,
    since: AT,
    observedGeneration: generation,
    syncedGeneration: 0,
    reported: undefined,
    reportedAt: undefined,
    attempts: 0,
    nextTryAt: undefined,
    edgeAt: undefined,
    reverts: [],
    error: undefined,
    blockedBy: [],
    isSending: false,
    ...change,
  };
}

export function fencedWith(fence: number, rows: readonly DesiredTargetRow[], isGone = false): readonly FencedTarget[] {
  return rows.map((row) => ({ fence, row, isGone }));
}
