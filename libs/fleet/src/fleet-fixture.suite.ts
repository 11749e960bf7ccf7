/**
 * A hub without its edges, for specs: a real PostgreSQL, a real bus, and a gateway whose devices
 * answer as the spec says. Its time is that of a manual clock, which all its processes share.
 */
import { createHash, randomUUID } from 'node:crypto';
import { localBus } from '@flotilla/bus';
import type { Bus } from '@flotilla/bus';
import { verificationTimes } from '@flotilla/jobs';
import type { Job, JobProgress, VerificationTimes } from '@flotilla/jobs';
import type { DeviceId, DeviceTool, HubProcessId, JobId, ToolSetHash } from '@flotilla/mcp';
import { openRegistry } from '@flotilla/registry';
import type { JobStores, ProcessLease, Registry } from '@flotilla/registry';
import { openTestDatabase } from '@flotilla/registry/test-database';
import type { TestDatabase } from '@flotilla/registry/test-database';
import type { Clock } from '@flotilla/session';
import type { Actor } from './actor.js';
import { ClockTicks } from './clock-ticks.suite.js';
import { boardTools, FakeGateway } from './fake-gateway.suite.js';
import { FleetClock } from './fleet-clock.suite.js';
import type { JobRequest } from './jobs/commands/job-request.js';
import { Fleet } from './fleet.js';
import { JobRunner } from './jobs/job-runner.js';
import type { RunTuning } from './jobs/run-tuning.js';
import type { RolloutDeps } from './rollout/image-sends.js';
import { defaultRolloutLimits } from './rollout/rollout-limits.js';
import { TickWorker } from './worker/tick-worker.js';
import { SingleCalls } from './calls/single-calls.js';
import { CallRules } from './calls/call-rules.js';

export { answers, boardTools } from './fake-gateway.suite.js';

/** For specs of what PostgreSQL or a file system dates itself. */
export const realClock: Clock = {
  now: Date.now,
  setTimer: (delayMs, wake) => {
    const timer = setTimeout(wake, delayMs);
    return () => clearTimeout(timer);
  },
};
/** Verification at the pace of a spec. */
export const quickVerification: VerificationTimes = {
  ...verificationTimes,
  rebootMs: 3_000,
  firmwareMs: 4_000,
  soakMs: 300,
  overdueMs: 0,
  leaseMs: 300,
  rejoinMs: 15_000,
  readbackDelayMs: 50,
  readbackMs: 2_000,
};
export const silent = { info: () => undefined, warn: () => undefined, error: () => undefined };
export const operator: Actor = {
  id: 'KEY:operator',
  name: 'operator',
  mayCallUserOnly: false,
  mayChangeFirmware: false,
};
export const admin: Actor = { id: 'KEY:admin', name: 'admin', mayCallUserOnly: true, mayChangeFirmware: true };

/** One hub process. */
export interface HubProcess {
  readonly clock: FleetClock;
  readonly registry: Registry;
  readonly bus: Bus;
  readonly lease: ProcessLease;
  readonly gateway: FakeGateway;
  readonly fleet: Fleet;
  readonly worker: TickWorker;
  readonly rollout: RolloutDeps;
  readonly singleCalls: SingleCalls;
  readonly timeZone: string;
  /** Connects devices with these tools through the registry, as a gateway does. */
  connect(deviceIds: readonly string[], tools?: readonly DeviceTool[], firmwareVersion?: string): Promise<void>;
  disconnect(deviceId: string): Promise<void>;
  progress(jobId: JobId): Promise<JobProgress>;
  job(jobId: JobId): Promise<Job>;
  finished(jobId: JobId): Promise<Job>;
  close(): Promise<void>;
}

export interface HubFixture {
  readonly hub: HubProcess;
  /** Another process on the same database, the only one with a living lease from then on. */
  startAnother(argumentsSecret?: string): Promise<HubProcess>;
  close(): Promise<void>;
}

export interface HubOptions {
  readonly withWorker?: boolean;
  readonly tuning?: Partial<RunTuning>;
}

/** Not the zone of a machine that runs specs. */
export const hubTimeZone = 'Pacific/Chatham';

export async function openHub(options: HubOptions = {}): Promise<HubFixture> {
  const database = await openTestDatabase();
  const clock = new FleetClock();
  const shared = { clock, ticks: new ClockTicks(clock), database };
  const hubs: HubProcess[] = [];
  const start = async (argumentsSecret = 'of all processes'): Promise<HubProcess> => {
    const hub = await startProcess(shared, options.tuning ?? {}, argumentsSecret);
    hubs.push(hub);
    return hub;
  };
  const hub = await start();
  if (options.withWorker !== false) await hub.worker.start();
  return {
    hub,
    startAnother: start,
    close: async () => {
      for (const each of hubs) await each.close();
      await database.close();
    },
  };
}

interface Shared {
  readonly clock: FleetClock;
  readonly ticks: ClockTicks;
  readonly database: TestDatabase;
}

async function startProcess(
  { clock, ticks, database: { databaseUrl } }: Shared,
  tuning: Partial<RunTuning>,
  argumentsSecret: string,
): Promise<HubProcess> {
  const registry = clock.counted(await openRegistry({ databaseUrl, argumentsSecret }));
  const lease = await registry.takeLease({ aloneOnDatabase: true });
  const bus = localBus(ticks, silent);
  const gateway = new FakeGateway(clock);
  await bus.calls.serve(lease.id, gateway);
  const callRules = new CallRules(['https://files.example/']);
  const urlOf = (downloadId: string): string => `https://hub.example/t/download/${downloadId}`;
  const rollout = { store: registry.rollouts, limits: defaultRolloutLimits, urlOf };
  const singleCalls = new SingleCalls(clock);
  const deps = {
    registry,
    bus,
    clock,
    logger: silent,
    callRules,
    singleCalls,
    lease,
    verification: quickVerification,
    rollout,
    tuning,
    timeZone: hubTimeZone,
  };
  const fleet = new Fleet(deps);
  const worker = new TickWorker(deps);
  const job = async (jobId: JobId): Promise<Job> => {
    const found = await registry.jobs.find(jobId);
    if (found === undefined) throw new TypeError('No such job.');
    return found;
  };
  return {
    clock,
    registry,
    lease,
    bus,
    gateway,
    fleet,
    worker,
    job,
    rollout,
    singleCalls,
    timeZone: hubTimeZone,
    connect: (deviceIds, tools = boardTools, firmwareVersion = '1.0.0') =>
      connect({ clock, registry, bus, gateway, gatewayId: lease.id }, deviceIds, { tools, firmwareVersion }),
    disconnect: async (name) => {
      const deviceId = name as DeviceId;
      const epoch = gateway.epochs.get(deviceId) ?? 0;
      gateway.epochs.delete(deviceId);
      await bus.directory.remove(deviceId, epoch);
      await registry.devices.closeSession({ deviceId, epoch, reason: 'connection_lost', at: clock.now() });
    },
    progress: async (jobId) => {
      const progress = (await registry.jobs.progress([jobId])).get(jobId);
      if (progress === undefined) throw new TypeError('No such job.');
      return progress;
    },
    finished: async (jobId) => {
      await clock.until(async () => (await job(jobId)).state).toBe('FINISHED');
      return job(jobId);
    },
    close: async () => {
      await clock.during(worker.stop());
      await bus.close();
      await registry.close();
    },
  };
}

interface Ends {
  readonly clock: FleetClock;
  readonly registry: Registry;
  readonly bus: Bus;
  readonly gateway: FakeGateway;
  readonly gatewayId: HubProcessId;
}

async function connect(
  { clock, registry, bus, gateway, gatewayId }: Ends,
  names: readonly string[],
  { tools, firmwareVersion }: { readonly tools: readonly DeviceTool[]; readonly firmwareVersion: string },
): Promise<void> {
  const hash = createHash('sha256').update(JSON.stringify(tools)).digest('hex') as ToolSetHash;
  await registry.toolSets.ensure({ hash, tools: tools.map((each) => ({ ...each, schemaKnown: true })) });
  await Promise.all(
    names.map(async (name) => {
      const deviceId = name as DeviceId;
      const at = clock.now();
      const plain = {
        dialect: 'XIAOZHI',
        transport: 'MQTT',
        reachability: 'ALWAYS',
        remoteAddress: undefined,
      } as const;
      const { epoch } = await registry.devices.connect({ deviceId, ...plain, connectedAt: at });
      const known = { model: 'board', firmwareVersion, toolSetHash: hash, toolsComplete: true };
      await registry.devices.ready({ deviceId, epoch, gatewayId, ...known, at });
      gateway.epochs.set(deviceId, epoch);
      await bus.directory.put({ deviceId, gatewayId, epoch, toolSetHash: hash });
      bus.feed.publish('device', { deviceId, presence: 'ONLINE' });
    }),
  );
}

/**
 * A worker that can die like a killed process: its lease ends, and it stops writing at once.
 * `stores` replace those of the hub.
 */
export function mortalRunner(hub: HubProcess, stores: Partial<JobStores> = {}): JobRunner {
  const { bus, clock, lease, rollout, singleCalls } = hub;
  const registry = { ...hub.registry, ...stores };
  const given = { bus, clock, rollout, registry, singleCalls };
  const deps = { ...given, logger: silent, callRules: new CallRules([]), verification: quickVerification };
  return new JobRunner(deps, lease);
}

/** The store with some of its methods replaced. */
export function storeWith<Store extends object>(store: Store, replaced: Partial<Store>): Store {
  return new Proxy(store, {
    get(target, name) {
      const method: unknown = Reflect.get(replaced, name) ?? Reflect.get(target, name);
      return typeof method === 'function' ? method.bind(target) : method;
    },
  });
}

export function deviceNames(count: number, prefix = 'device'): readonly string[] {
  return Array.from({ length: count }, (_, index) => `${prefix}-${String(index).padStart(5, '0')}`);
}

/** Makes a job over these devices, or fails the test with its refusal. */
export async function startJob(
  hub: HubProcess,
  ids: readonly string[],
  change: Partial<JobRequest> = {},
): Promise<JobId> {
  const request = { tool: 'self.lamp.turn_on', arguments: {}, devices: { ids }, ...change };
  const { job, refusal } = await hub.fleet.createJob(request, randomUUID(), admin);
  if (job === undefined) throw new TypeError(`Refused: ${refusal?.message}`);
  return job.id;
}
