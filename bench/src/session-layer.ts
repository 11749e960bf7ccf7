/**
 * The hub of the first bench, run as a child process: registry, bus, gateway and fleet composed as
 * in `apps/hub`. Instead of the API, a loop calls every device again after each recorded answer. A
 * counted call that is missing in the table ends the bench.
 */
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { openLocalBus } from '@flotilla/bus';
import { Fleet, SingleCalls, ToolGate } from '@flotilla/fleet';
import { FleetSecretAuth, Gateway } from '@flotilla/gateway';
import { openRegistry, startEmbeddedPostgres } from '@flotilla/registry';
import type { Clock } from '@flotilla/session';
import pg from 'pg';
import { BENCH_DEVICE_SECRET, type MeasureRequest } from './bench-messages.js';
import { measure } from './round-trips.js';

const clock: Clock = {
  now: Date.now,
  setTimer: (delayMs, wake) => {
    const timer = setTimeout(wake, delayMs);
    return () => clearTimeout(timer);
  },
};
const ignore = () => undefined;
const warn = (details: object, message: string) => void process.stderr.write(`${message} ${JSON.stringify(details)}\n`);
const logger = { debug: ignore, info: ignore, warn, error: warn };

const dataDir = await mkdtemp(path.join(tmpdir(), 'flotilla-bench-'));
await chmod(dataDir, 0o755);
const postgres = await startEmbeddedPostgres({ dataDir });
const registry = await openRegistry({ databaseUrl: postgres.databaseUrl, dataDir, logger });
const lease = await registry.takeLease({ aloneOnDatabase: true });
const bus = await openLocalBus({ databaseUrl: postgres.databaseUrl, logger });
const auth = new FleetSecretAuth({ secret: BENCH_DEVICE_SECRET, clock });
const gateway = new Gateway({
  gatewayId: lease.id,
  registry,
  bus,
  clock,
  auth,
  udp: { host: '127.0.0.1', port: 0 },
  logger,
});
await gateway.start();
await bus.calls.serve(lease.id, gateway.callServer);
const fleet = new Fleet({ registry, bus, clock, logger, gate: new ToolGate([]), singleCalls: new SingleCalls(clock) });

const ready = new Set<string>();
bus.feed.subscribe('device', ({ deviceId, presence }) => {
  if (presence === 'ONLINE') ready.add(deviceId);
  process.send?.({ connected: ready.size });
});
const server = createServer({ noDelay: true }, (socket) => gateway.acceptMqtt(socket));
await new Promise<void>((resolve) => server.listen({ host: '127.0.0.1', port: 0, backlog: 4096 }, resolve));
const address = server.address();
process.send?.({ port: typeof address === 'object' && address ? address.port : 0 });

const actor = { id: 'KEY:bench', name: 'bench', mayCallUserOnly: true, mayChangeFirmware: true };
let recorded = 0;
let isRunning = false;

async function callAgainAndAgain(deviceId: string): Promise<void> {
  while (isRunning) {
    const { call } = await fleet.callTool(
      { deviceId, tool: 'self.audio_speaker.set_volume', arguments: { volume: 42 } },
      actor,
    );
    if (call?.outcome !== 'SUCCEEDED')
      throw new Error(`A call ended ${call?.outcome ?? 'refused'}: ${call?.error?.message ?? ''}`);
    recorded++;
  }
}

async function checkRecords(): Promise<void> {
  const database = new pg.Client({ connectionString: postgres.databaseUrl });
  await database.connect();
  const { rows } = await database.query<{ count: number }>(
    "SELECT count(*)::int AS count FROM call WHERE actor = 'bench'",
  );
  await database.end();
  if (rows[0]?.count !== recorded)
    throw new Error(`${recorded} calls were counted, ${rows[0]?.count ?? 0} are on record`);
}

process.on('message', (request: MeasureRequest) => {
  isRunning = true;
  const lanes = [...ready].map((deviceId) => callAgainAndAgain(deviceId));
  void measure(() => recorded, request).then(async (result) => {
    isRunning = false;
    await Promise.all(lanes);
    await checkRecords();
    process.send?.({ result });
  });
});

process.once('SIGTERM', () => {
  void (async () => {
    server.close();
    await gateway.stop();
    await bus.close();
    await lease.release();
    await registry.close();
    await postgres.stop();
    await rm(dataDir, { recursive: true, force: true });
    process.exit(0);
  })();
});
