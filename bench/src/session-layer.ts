/**
 * The hub of the first bench, run as a child process: registry, bus, gateway and fleet composed as
 * in `apps/hub`. Instead of the API, a loop calls every device again after each recorded answer. A
 * counted call that is missing in the table ends the bench.
 */
import { rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { Fleet, SingleCalls, CallRules } from '@flotilla/fleet';
import { FleetSecretAuth, Gateway } from '@flotilla/gateway';
import pg from 'pg';
import { BENCH_DEVICE_SECRET, type MeasureRequest } from './bench-messages.js';
import { measure } from './round-trips.js';
import { clock, logger, openServices } from './services.js';

const { dataDir, postgres, registry, lease, bus } = await openServices();
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
const fleet = new Fleet({
  registry,
  bus,
  clock,
  logger,
  callRules: new CallRules([]),
  singleCalls: new SingleCalls(clock),
  timeZone: 'UTC',
});

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
