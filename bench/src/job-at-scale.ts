/**
 * The job engine with 100,000 targets, run as a child process: registry, bus and worker composed as
 * in `apps/hub`, with a real PostgreSQL. The gateway is simulated and answers each call after some
 * milliseconds, because one machine cannot hold so many sockets.
 */
import { createHash } from 'node:crypto';
import { rm } from 'node:fs/promises';
import type { CallServer } from '@flotilla/bus';
import { defaultRolloutLimits, Fleet, SingleCalls, TickWorker, CallRules } from '@flotilla/fleet';
import type { ToolSetHash } from '@flotilla/mcp';
import { eventually } from '@flotilla/test/eventually';
import pg from 'pg';
import type { JobScale } from './bench-messages.js';
import { clock, ignore, logger, openServices } from './services.js';

const DEVICES = 100_000;
const MAX_IN_FLIGHT = 2_000;
const ANSWER_AFTER_MS = 5;
const TOOL = 'self.audio_speaker.set_volume';

const { dataDir, postgres, registry, lease, bus } = await openServices();
const database = new pg.Client({ connectionString: postgres.databaseUrl });
await database.connect();

const answering: CallServer = {
  enqueue: ({ call }, settle) => {
    const sentAt = Date.now();
    setTimeout(() => {
      const result = { content: [{ type: 'text', text: 'true' }], isError: false } as const;
      settle({
        callId: call.callId,
        outcome: { kind: 'SUCCEEDED', certainty: 'YES', result },
        sentAt,
        settledAt: Date.now(),
      });
    }, ANSWER_AFTER_MS);
  },
  refreshTools: () => false,
  disconnect: () => false,
};
await bus.calls.serve(lease.id, answering);

const callRules = new CallRules([]);
const singleCalls = new SingleCalls(clock);
const fleet = new Fleet({ registry, bus, clock, logger, callRules, singleCalls, timeZone: 'UTC' });
// The jobs of this bench verify nothing and roll nothing out.
const verification = {
  rebootMs: 0,
  firmwareMs: 0,
  soakMs: 0,
  overdueMs: 0,
  leaseMs: 0,
  rejoinMs: 0,
  readbackDelayMs: 0,
  readbackMs: 0,
};
const rollout = { store: registry.rollouts, limits: defaultRolloutLimits, urlOf: ignore };
const worker = new TickWorker({ registry, bus, clock, logger, callRules, singleCalls, lease, verification, rollout });
await worker.start();

await addDevices();
// The first job warms up: code is compiled and memory is allocated.
await finishedJob('first');
process.send?.({ scale: await measured() });
await worker.stop();
await bus.close();
await lease.release();
await database.end();
await registry.close();
await postgres.stop();
await rm(dataDir, { recursive: true, force: true });
process.exit(0);

async function addDevices(): Promise<void> {
  const schema = {
    type: 'object',
    properties: { volume: { type: 'integer', minimum: 0, maximum: 100 } },
    required: ['volume'],
  };
  const tools = [{ name: TOOL, description: '', inputSchema: schema, userOnly: false, schemaKnown: true }];
  const hash = createHash('sha256').update(JSON.stringify(tools)).digest('hex') as ToolSetHash;
  await registry.toolSets.ensure({ hash, tools });
  await database.query(
    `INSERT INTO device (id, dialect, reachability, epoch, online, gateway_id, tool_set_hash)
     SELECT 'device-' || lpad(n::text, 7, '0'), 'XIAOZHI', 'ALWAYS', 1, true, $1, $2
     FROM generate_series(1, $3::int) AS n`,
    [lease.id, hash, DEVICES],
  );
  await database.query('ANALYZE device');
}

async function measured(): Promise<JobScale> {
  const commitsBefore = await commits();
  const bytesBefore = process.memoryUsage.rss();
  let bytesMost = bytesBefore;
  const sampler = setInterval(() => (bytesMost = Math.max(bytesMost, process.memoryUsage.rss())), 50);
  const { prepareMs, totalMs } = await finishedJob('second');
  clearInterval(sampler);
  return {
    prepareMs,
    perSecond: (DEVICES * 1_000) / totalMs,
    commits: (await commits()) - commitsBefore,
    memoryBytes: bytesMost - bytesBefore,
    cancelMs: await cancelledIn(),
  };
}

/** Runs a job; returns ms until it began to send and until its end. */
async function finishedJob(key: string): Promise<{ readonly prepareMs: number; readonly totalMs: number }> {
  const from = performance.now();
  const id = await makeJob(key);
  await reached(id, (state) => state !== 'PREPARING');
  const prepareMs = performance.now() - from;
  await reached(id, (state) => state === 'FINISHED');
  return { prepareMs, totalMs: performance.now() - from };
}

/** Cancels a job that has just begun to send; returns ms from the request to its end. */
async function cancelledIn(): Promise<number> {
  const id = await makeJob('cancelled', { perMinute: 1 });
  await reached(id, (state) => state === 'RUNNING');
  const from = performance.now();
  await fleet.cancelJob(id, false, actor());
  await reached(id, (state) => state === 'FINISHED');
  return performance.now() - from;
}

async function makeJob(key: string, pace: { readonly perMinute?: number } = {}): Promise<string> {
  const request = { tool: TOOL, arguments: { volume: 5 }, devices: { all: true }, maxInFlight: MAX_IN_FLIGHT, ...pace };
  const { job, refusal } = await fleet.createJob(request, key, actor());
  if (job === undefined) throw new Error(`The job was refused: ${refusal?.message ?? ''}`);
  return job.id;
}

async function reached(id: string, isThere: (state: string) => boolean): Promise<void> {
  const state = () =>
    database
      .query<{ state: string }>('SELECT state FROM job WHERE id = $1', [id])
      .then(({ rows }) => rows[0]?.state ?? '');
  await eventually(state, isThere, 300_000);
}

/** The statistics of PostgreSQL are up to ten seconds late. */
async function commits(): Promise<number> {
  await new Promise((resolve) => setTimeout(resolve, 11_000));
  const { rows } = await database.query<{ xact_commit: string }>(
    'SELECT xact_commit::text FROM pg_stat_database WHERE datname = current_database()',
  );
  return Number(rows[0]?.xact_commit ?? 0);
}

function actor() {
  return { id: 'KEY:bench', name: 'bench', mayCallUserOnly: true, mayChangeFirmware: true };
}
