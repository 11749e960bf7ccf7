/** Microcontrollers of the stories about agents, and the notices of a scoped key about them. */
import { expect } from 'vitest';
import type { Client as PgClient } from 'pg';
import { ask } from '../api/graphql-client.js';
import { deviceThat, isOnline } from '../devices/device-api.js';
import { McpuBoard } from '../devices/mcpu-board.js';
import { eventually } from '../eventually.js';
import type { HubProcess } from '../hub/hub-process.js';
import { connectAgent } from './agent-client.js';
import { insertKey } from './agent-keys.js';

export class AgentBoards {
  readonly #boards: McpuBoard[] = [];

  constructor(private readonly hub: HubProcess) {}

  /** Resolves when the board is online. */
  async add(deviceId: string, board: McpuBoard): Promise<void> {
    this.#boards.push(board);
    const query =
      'mutation ($input: RegisterDeviceInput!) { registerDevice(input: $input) { userErrors { code message } } }';
    const input = { deviceId, dialect: 'MCPU', address: board.address };
    expect(await ask(this.hub, query, { input })).toMatchObject({ registerDevice: { userErrors: [] } });
    await deviceThat(this.hub, deviceId, isOnline, 15_000);
  }

  get first(): McpuBoard | undefined {
    return this.#boards[0];
  }

  get count(): number {
    return this.#boards.length;
  }

  stop(): void {
    for (const board of this.#boards) board.stop();
  }
}

/** A scoped agent is notified of its devices, in a fleet that other agents see compactly. */
export async function expectNoticesOfOwnDevices(hub: HubProcess, pg: PgClient, boards: AgentBoards): Promise<void> {
  let news = 0;
  const key = await insertKey(pg, ['DEVICES_READ', 'TOOLS_CALL'], { devices: { search: 'greenhouse' } });
  const agent = await connectAgent(hub, { key, onToolsChanged: () => (news += 1) });
  const names = async () => (await agent.listTools()).tools.map(({ name }) => name);
  const own = ['greenhouse-1__gpio_read', 'greenhouse-1__gpio_write'];
  expect((await names()).sort()).toEqual([...own, 'read_measurements']);
  await boards.add('greenhouse-2', await McpuBoard.boot());
  await eventually(
    () => news,
    (count) => count > 0,
  );
  expect((await names()).sort()).toEqual([
    ...own,
    'greenhouse-2__gpio_read',
    'greenhouse-2__gpio_write',
    'read_measurements',
  ]);
  await agent.close();
}
