/**
 * What a desired state of 100,000 devices in sync costs while nothing happens, run as a child
 * process: registry, bus and worker composed as in `apps/hub`, with a real PostgreSQL. The gateway
 * is simulated and answers each call after some milliseconds.
 */
import { createHash } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import type { CallServer } from '@flotilla/bus';
import { CallRules, DesiredStateRunner, Fleet, noApprovals, SingleCalls } from '@flotilla/fleet';
import type { CallOutcome, ToolSetHash } from '@flotilla/mcp';
import { eventually } from '@flotilla/test/eventually';
import pg from 'pg';
import { logger, openServices, clock as realClock } from '../services.js';
import type { RestCost } from '../bench-messages.js';

const DEVICES = 100_000;
const ANSWER_AFTER_MS = 5;
const VOLUME = 'self.audio_speaker.set_volume';
const STATUS = 'self.get_device_status';
const WITHIN_MS = 600_000;
/** After it all values are old, so that each device of the sweep is read, as after an hour. */
const SKEW_MS = 600_000;
const SETTLE_MS = 40_000;
const REST_MS = 120_000;

let skewMs = 0;
const clock = { ...realClock, now: () => realClock.now() + skewMs };
const { dataDir, postgres, registry, lease, bus } = await openServices();
const database = new pg.Client({ connectionString: postgres.databaseUrl });
await database.connect();

let sets = 0;
let reads = 0;
const answering: CallServer = {
  enqueue: ({ call }, settle) => {
    const sentAt = Date.now();
    if (call.tool === VOLUME) sets++;
    else reads++;
    const text = call.tool === VOLUME ? 'true' : JSON.stringify({ audio_speaker: { volume: 30 } });
    const outcome: CallOutcome = {
      kind: 'SUCCEEDED',
      certainty: 'YES',
      result: { content: [{ type: 'text', text }], isError: false },
    };
    setTimeout(() => settle({ callId: call.callId, outcome, sentAt, settledAt: Date.now() }), ANSWER_AFTER_MS);
  },
  refreshTools: () => false,
  disconnect: () => false,
};
await bus.calls.serve(lease.id, answering);

const callRules = new CallRules([]);
const singleCalls = new SingleCalls(clock);
const deps = { registry, bus, clock, logger, callRules, singleCalls, timeZone: 'UTC' };
const fleet = new Fleet(deps);
const runner = new DesiredStateRunner({
  ...deps,
  lease,
  approvals: noApprovals,
  mustBeSigned: false,
  chance: () => 0.5,
});

await addDevices();
const id = await createState();
await runner.load();
await eventually(inSync, (count) => count === DEVICES, WITHIN_MS);
const sweeping = setInterval(() => void runner.load(), 5_000);
skewMs = SKEW_MS;
await pause(SETTLE_MS);
process.send?.({ rest: await measured() });
clearInterval(sweeping);
await runner.stop();
await bus.close();
await lease.release();
await database.end();
await registry.close();
await postgres.stop();
await rm(dataDir, { recursive: true, force: true });
process.exit(0);

async function measured(): Promise<RestCost> {
  // What adding 100,000 devices left behind is not collected at rest.
  globalThis.gc?.();
  const before = { cpu: process.cpuUsage(), sets, reads, bytes: process.memoryUsage().rss };
  await pause(REST_MS);
  const { user, system } = process.cpuUsage(before.cpu);
  return {
    devices: DEVICES,
    cpuPercent: ((user + system) / (REST_MS * 1_000)) * 100,
    sets: sets - before.sets,
    readsPerSecond: ((reads - before.reads) * 1_000) / REST_MS,
    memoryBytes: process.memoryUsage().rss - before.bytes,
  };
}

async function addDevices(): Promise<void> {
  const number = (name: string) => ({
    type: 'object',
    properties: { [name]: { type: 'integer', minimum: 0, maximum: 100 } },
    required: [name],
  });
  const tools = [
    { name: VOLUME, description: '', inputSchema: number('volume'), userOnly: false, schemaKnown: true },
    { name: STATUS, description: '', inputSchema: { type: 'object' }, userOnly: false, schemaKnown: true },
  ];
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

async function createState(): Promise<string> {
  const key = {
    name: 'bench',
    scopes: ['JOBS_WRITE', 'TOOLS_CALL'] as const,
    devices: undefined,
    expiresAt: undefined,
  };
  const made = await registry.apiKeys.create(key, { keysMax: 10, at: clock.now(), by: { actor: 'bench' } });
  if (made.kind !== 'created') throw new Error(`The key was not made: ${made.kind}`);
  const rights = { mayCallTools: true, mayCallUserOnly: false, mayChangeFirmware: false };
  const request = {
    name: 'at rest',
    devices: { all: true },
    tool: VOLUME,
    arguments: { volume: 30 },
    mode: 'ENFORCE' as const,
    onDrift: 'HOLD' as const,
    holdSeconds: 1_800,
    priority: 0,
    window: undefined,
    waves: undefined,
    abort: undefined,
    maxInFlight: 500,
    perMinute: undefined,
    enabled: true,
  };
  const saved = await fleet.createDesiredState(request, 'bench', {
    id: `KEY:${made.key.id}`,
    name: 'bench',
    ...rights,
  });
  if ('refusal' in saved) throw new Error(`The desired state was refused: ${saved.refusal.message}`);
  return saved.state.id;
}

async function inSync(): Promise<number> {
  const { rows } = await database.query<{ targets: number }>(
    "SELECT targets FROM desired_state_counter WHERE desired_state_id = $1 AND state = 'IN_SYNC'",
    [id],
  );
  return rows[0]?.targets ?? 0;
}
