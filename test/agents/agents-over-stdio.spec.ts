/**
 * `flotilla mcp`, a program that an agent's host starts. The reference client uses it in both
 * revisions, while the hub stops and starts again.
 */
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { revisions } from '../src/agents/agent-client.js';
import { flotilla, flotillaBin } from '../src/api/command-line.js';
import { removeDataDir, startHub, type HubProcess } from '../src/hub/hub-process.js';
import { online } from '../src/jobs/job-api.js';
import { openSeverableHub, type SeverableHub } from '../src/hub/severable-hub.js';
import { startFleet, type SimulatedFleet } from '../src/devices/simulated-fleet.js';
import { PATIENCE } from '../src/patience.js';

let hub: HubProcess;
let road: SeverableHub;
let fleet: SimulatedFleet;

beforeAll(async () => {
  hub = await startHub();
  road = await openSeverableHub(hub);
  fleet = startFleet(hub, { devices: 1, profile: 'lamp' });
  await online(hub, 1);
});

afterAll(async () => {
  await road.close();
  await fleet.stop();
  expect(await hub.stop()).toBe(0);
  removeDataDir(hub.dataDir);
});

describe.each(revisions)('a host that speaks MCP %s', (revision) => {
  it('lists and calls, loses the hub and finds it again, and hears that the list may have changed', async () => {
    let changes = 0;
    const agent = new Client(
      { name: 'story', version: '1.0.0' },
      {
        versionNegotiation: { mode: revision === '2026-07-28' ? { pin: revision } : 'legacy' },
        listChanged: { tools: { onChanged: () => void changes++, autoRefresh: false } },
      },
    );
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [flotillaBin, 'mcp', '--url', road.httpUrl],
      env: { FLOTILLA_KEY: hub.adminKey },
    });
    await agent.connect(transport);
    const { tools } = await agent.listTools();
    const lamp = tools.find(({ name }) => name.endsWith('__self_lamp_turn_on'))?.name ?? '';
    expect((await agent.callTool({ name: lamp, arguments: {} })).isError ?? false).toBe(false);
    expect(
      (await agent.callTool({ name: 'nobody__nothing', arguments: {} }).catch(() => ({ isError: true }))).isError,
    ).toBe(true);
    await road.cut();
    await expect(agent.callTool({ name: lamp, arguments: {} })).rejects.toThrow(/Outcome unknown/);
    const listing = agent.listTools();
    await road.restore();
    expect((await listing).tools.map(({ name }) => name)).toContain(lamp);
    await expect.poll(() => changes, { timeout: 15_000 * PATIENCE }).toBeGreaterThan(0);
    await agent.close();
  });
});

describe('the relay', () => {
  it('writes nothing but protocol, and says what is wrong with a key as an answer', async () => {
    const request = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} };
    const input = `no JSON at all\n${JSON.stringify(request)}\n`;
    const child = flotilla({ ...hub, adminKey: 'wrong' }, ['mcp'], {
      input,
      started: (process) => process.stdout?.once('data', () => process.stdin?.end()),
    });
    const { stdout } = await child;
    for (const line of stdout
      .trim()
      .split('\n')
      .filter((text) => text !== ''))
      expect(JSON.parse(line)).toMatchObject({ jsonrpc: '2.0' });
  });

  it('ends when its host does, and needs a key', async () => {
    const [ended, keyless] = await Promise.all([flotilla(hub, ['mcp']), flotilla({ ...hub, adminKey: '' }, ['mcp'])]);
    expect([ended.code, ended.stdout]).toEqual([0, '']);
    expect([keyless.code, keyless.stdout]).toEqual([5, '']);
  });
});
