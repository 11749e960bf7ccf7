import type { Bus } from '@flotilla/bus';
import { noTicks } from '@flotilla/bus/no-ticks';
import { localBus } from '@flotilla/bus';
import type { DeviceId } from '@flotilla/mcp';
import { openRegistry } from '@flotilla/registry';
import type { ProcessLease, Registry } from '@flotilla/registry';
import { openTestDatabase } from '@flotilla/registry/test-database';
import type { TestDatabase } from '@flotilla/registry/test-database';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { silentLogger } from '../ingress.suite.js';
import { GatewayStage } from '../gateway-stage.suite.js';
import { Board } from './board.suite.js';
import { DialRules } from './dial-rules.js';

let database: TestDatabase;
let registry: Registry;
let lease: ProcessLease;
let bus: Bus;
let stage: GatewayStage;
const boards: Board[] = [];
let number = 0;

/** Short times for what takes minutes in production; an unreachable device is given up at once. */
const quick = {
  retryDelayMs: 10,
  closingTimeoutMs: 50,
  dialRoundMs: 50,
  dialQuietMs: 20,
  dialQuietMsMax: 200,
  dialTimeoutMs: 500,
  redialDelayMs: 50,
};

beforeAll(async () => {
  database = await openTestDatabase();
  bus = localBus(noTicks, silentLogger);
  registry = await openRegistry({ databaseUrl: database.databaseUrl });
});

afterAll(async () => {
  await registry.close();
  await bus.close();
  await database.close();
});

beforeEach(async () => {
  lease = await registry.takeLease();
  stage = await GatewayStage.set({ gatewayId: lease.id, registry, bus, limits: quick });
});

afterEach(async () => {
  await stage.close();
  await lease.release();
  for (const board of boards.splice(0)) board.stop();
});

async function boot(options?: Parameters<typeof Board.boot>[0]): Promise<Board> {
  const board = await Board.boot(options);
  boards.push(board);
  return board;
}

async function register(address: string, dialByAdmin = true): Promise<DeviceId> {
  const deviceId = `board-${(number += 1)}` as DeviceId;
  await registry.enrolments.register([
    { deviceId, name: undefined, tags: [], dialect: 'MCPU', transport: 'TCP', address, dialByAdmin },
  ]);
  return deviceId;
}

const entryOf = (deviceId: DeviceId, newerThan = 0) =>
  vi.waitFor(
    async () => {
      const found = await bus.directory.lookup(deviceId);
      if (found === undefined || found.epoch <= newerThan) throw new Error(`${deviceId} is not in the directory yet`);
      return found;
    },
    { timeout: 10_000 },
  );

describe('a microcontroller with an address', () => {
  it('on this machine is dialled only if an administrator set the address', async () => {
    const [board, other] = [await boot(), await boot()];
    await register(board.address, false);
    await entryOf(await register(other.address));
    expect([board.connections, other.connections]).toEqual([0, 1]);
  });

  it('is dialled, greeted after its boot messages, and listed with its pins', async () => {
    const board = await boot();
    const deviceId = await register(board.address);
    const { toolSetHash } = await entryOf(deviceId);
    expect(await registry.devices.find(deviceId)).toMatchObject({
      dialect: 'MCPU',
      presence: 'ONLINE',
      transport: 'TCP',
      reachability: 'ALWAYS',
      model: 'greenhouse',
      firmwareVersion: '2.3.1',
    });
    const toolSet = toolSetHash && (await registry.toolSets.get(toolSetHash));
    expect(toolSet && toolSet.tools.map(({ name, schemaKnown }) => [name, schemaKnown])).toEqual([
      ['gpio_write', true],
      ['water_bed', false],
    ]);
    expect(toolSet && toolSet.pins).toMatchObject([{ pin: 16, name: 'valve', type: 'digital_output' }]);
    expect(board.requests.map((line) => (JSON.parse(line) as { method: string }).method)).toEqual([
      'get_info',
      'list_tools',
    ]);
  });

  it('runs its tools by their names', async () => {
    const board = await boot();
    const deviceId = await register(board.address);
    await entryOf(deviceId);
    const settled = await stage.call({ deviceId, call: { ...callOf('water_bed'), arguments: { seconds: 3 } } });
    expect(settled.outcome).toMatchObject({
      kind: 'SUCCEEDED',
      result: { content: [{ type: 'text', text: '{"done":"water_bed"}' }] },
    });
    expect(board.requests.at(-1)).toContain('"method":"water_bed","params":{"seconds":3}}');
  });

  it('is dialled again after a lost connection, and the reset of its outputs is an event', async () => {
    const board = await boot();
    const deviceId = await register(board.address);
    const { epoch } = await entryOf(deviceId);
    board.drop();
    await entryOf(deviceId, epoch);
    expect(board.connections).toBe(2);
    expect((await stage.event('device.outputs_reset')).deviceId).toBe(deviceId);
    expect((await stage.event('device.disconnected')).data).toMatchObject({ reason: 'connection_lost' });
  });

  it('keeps its connection when nothing changes', async () => {
    const board = await boot();
    await entryOf(await register(board.address));
    await new Promise((resolve) => setTimeout(resolve, 5 * quick.dialRoundMs));
    expect(board.connections).toBe(1);
  });

  it('is disconnected when it is removed', async () => {
    const board = await boot();
    const deviceId = await register(board.address);
    await entryOf(deviceId);
    await registry.enrolments.remove(deviceId);
    await stage.event('device.disconnected');
    // The event is written before the session leaves the directory.
    await expect.poll(() => bus.directory.lookup(deviceId)).toBeUndefined();
  });

  it('is dialled by one process only, and by another when that one is gone', async () => {
    const board = await boot();
    const deviceId = await register(board.address);
    const { epoch } = await entryOf(deviceId);
    const otherRegistry = await openRegistry({ databaseUrl: database.databaseUrl });
    const otherLease = await otherRegistry.takeLease();
    expect(await otherRegistry.dials.take(otherLease.id, 100)).toEqual([]);
    const other = await GatewayStage.set({ gatewayId: otherLease.id, registry: otherRegistry, bus, limits: quick });
    expect(board.connections).toBe(1);
    await stage.close();
    await lease.release();
    expect((await entryOf(deviceId, epoch)).gatewayId).toBe(otherLease.id);
    await other.close();
    await otherLease.release();
    await otherRegistry.close();
    lease = await registry.takeLease();
    stage = await GatewayStage.set({ gatewayId: lease.id, registry, bus, limits: quick });
  });

  it.each([
    ['in the same order', 0],
    ['in another order at each lookup', 1],
  ])('is dialled at each address of a name whose server lists them %s', async (_order, step) => {
    await stage.close();
    const dialRules = new TwoAddresses(step);
    stage = await GatewayStage.set({ gatewayId: lease.id, registry, bus, limits: quick, dialRules });
    const board = await boot();
    const deviceId = await register(board.address);
    expect(await entryOf(deviceId)).toMatchObject({ gatewayId: lease.id });
  });

  it.each([
    ['never answers', () => undefined],
    ['closes at once', (socket: { destroy: () => void }) => socket.destroy()],
    [
      'answers garbage',
      (socket: { write: (text: string) => void }) => socket.write('null\n{"id":0,"error":1}\n[]\n{"result":{}\n'),
    ],
    [
      'floods',
      (socket: { write: (text: string) => boolean; on: (event: 'drain', pour: () => void) => void }) => {
        const pour = () => {
          while (socket.write(`${'x'.repeat(60_000)}\n`));
        };
        socket.on('drain', pour);
        pour();
      },
    ],
  ])('that %s does not affect others', async (_what, behave) => {
    const bad = await boot({ behave });
    await register(bad.address);
    await vi.waitFor(() => expect(bad.connections).toBeGreaterThan(0));
    const good = await boot();
    const deviceId = await register(good.address);
    await entryOf(deviceId);
    expect((await stage.call({ deviceId, call: callOf('water_bed') })).outcome.kind).toBe('SUCCEEDED');
  });
});

/** Names that lead to a closed port first, and then to the board. */
class TwoAddresses extends DialRules {
  readonly #lookups = new Map<string, number>();

  constructor(private readonly step: number) {
    super({ listed: [], isOnLoopback: true, ownPorts: () => [], services: [] });
  }

  override judge(address: string) {
    const lookups = this.#lookups.get(address) ?? 0;
    this.#lookups.set(address, lookups + 1);
    const addresses = ['127.0.0.2', '127.0.0.1'];
    if ((lookups * this.step) % 2 === 1) addresses.reverse();
    return Promise.resolve({ kind: 'allowed', addresses } as const);
  }
}

function callOf(tool: string) {
  return {
    callId: crypto.randomUUID() as never,
    tool,
    arguments: {},
    queueDeadlineAt: Date.now() + 2_000,
    callTimeoutMs: 2_000,
  };
}
