/**
 * The MCP server: the reference client of the MCP SDK finds, calls and reads devices of both
 * families in one fleet.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectNoticesOfOwnDevices, type AgentBoards } from '../src/agents/agent-boards.js';
import { connectAgent, revisions } from '../src/agents/agent-client.js';
import { openShortLived, textOf, type ShortLivedKey } from '../src/agents/agent-keys.js';
import { openAgentStage, type AgentStage } from '../src/agents/agent-stage.js';
import { McpuBoard } from '../src/devices/mcpu-board.js';
import { startFleet } from '../src/devices/simulated-fleet.js';
import { eventually } from '../src/eventually.js';
import { ask } from '../src/api/graphql-client.js';
import type { HubProcess } from '../src/hub/hub-process.js';
import { finished, online } from '../src/jobs/job-api.js';

let stage: AgentStage;
let hub: HubProcess;
let lamps: readonly string[];
let boards: AgentBoards;
let shortLived: ShortLivedKey;

beforeAll(async () => {
  stage = await openAgentStage();
  ({ hub, lamps, boards } = stage);
  shortLived = await openShortLived(hub, stage.pg);
});

afterAll(() => stage.close());

describe.each(revisions)('an agent that speaks MCP %s', (revision) => {
  it('lists the tools of both families, turns a lamp of each on, and reads them back', async () => {
    const agent = await connectAgent(hub, { revision });
    const { tools } = await agent.listTools();
    const lamp = `${lamps[0]?.replaceAll(':', '_') ?? ''}__self_lamp_turn_on`;
    expect(tools.map(({ name }) => name)).toEqual(
      expect.arrayContaining([lamp, 'greenhouse-1__gpio_write', 'greenhouse-1__gpio_read']),
    );
    for (const { name } of tools) expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
    const reader = tools.find(({ name }) => name === 'greenhouse-1__gpio_read');
    expect(reader?.annotations).toEqual({ readOnlyHint: true, destructiveHint: false, idempotentHint: true });
    expect(reader?.description).toContain('untrusted');
    const hints = new Map(tools.map(({ name, annotations }) => [name, annotations]));
    expect(hints.get(lamp)).toEqual({});
    const on = await agent.callTool({ name: lamp, arguments: {} });
    expect(on.isError ?? false).toBe(false);
    const state = await agent.callTool({ name: lamp.replace('turn_on', 'get_state'), arguments: {} });
    expect(textOf(state)).toContain('true');
    expect(
      (await agent.callTool({ name: 'greenhouse-1__gpio_write', arguments: { pin: 16, value: true } })).isError ??
        false,
    ).toBe(false);
    expect(boards.first?.level).toBe(1);
    const read = await agent.callTool({ name: 'greenhouse-1__gpio_read', arguments: { pin: 16 } });
    expect(read.structuredContent).toMatchObject({
      source: 'device',
      untrusted: expect.any(String),
      value: { value: 1 },
    });
    expect(read.content).toMatchObject([{ type: 'text', text: expect.stringContaining('untrusted') }, {}]);
    await agent.close();
  });

  it('hears when a device comes', async () => {
    let news = 0;
    const agent = await connectAgent(hub, { revision, onToolsChanged: () => (news += 1) });
    await boards.add(`late-${revision}`, await McpuBoard.boot());
    await eventually(
      () => news,
      (count) => count > 0,
    );
    expect((await agent.listTools()).tools.map(({ name }) => name)).toContain(`late-${revision}__gpio_write`);
    await agent.close();
  });

  it('reads devices, their pins and their state as resources', async () => {
    const agent = await connectAgent(hub, { revision });
    const { resources } = await agent.listResources();
    expect(resources.map(({ uri }) => uri)).toContain('flotilla://devices/greenhouse-1/pins');
    const { contents } = await agent.readResource({ uri: 'flotilla://devices/greenhouse-1/pins' });
    expect(JSON.stringify(contents)).toContain('Lamp over the bed');
    await expect(agent.readResource({ uri: 'flotilla://devices/unknown' })).rejects.toThrow();
    await agent.close();
  });
});

describe('the MCP server', () => {
  it('says what was not sent, and why', async () => {
    const agent = await connectAgent(hub);
    const wrong = await agent.callTool({ name: 'greenhouse-1__gpio_write', arguments: { pin: 99, value: true } });
    expect(wrong.isError).toBe(true);
    expect(textOf(wrong)).toMatch(/ARGUMENTS_INVALID.*Nothing was sent/s);
    await expect(agent.callTool({ name: 'greenhouse-1__fly', arguments: {} })).rejects.toThrow(/no tool/);
    await agent.close();
  });

  it('shows a key what it may call, and records the calls under its name', async () => {
    const [caller, reader] = [
      await stage.keyWith(['DEVICES_READ', 'TOOLS_CALL']),
      await stage.keyWith(['DEVICES_READ']),
    ];
    const agent = await connectAgent(hub, { key: caller });
    const names = (await agent.listTools()).tools.map(({ name }) => name);
    expect(names).toContain('greenhouse-1__gpio_write');
    expect(names.some((name) => name.endsWith('self_reboot'))).toBe(false);
    const reboot = await agent.callTool({
      name: `${lamps[0]?.replaceAll(':', '_') ?? ''}__self_reboot`,
      arguments: {},
    });
    expect(textOf(reboot)).toContain('TOOLS_CALL_PRIVILEGED');
    await agent.callTool({ name: 'greenhouse-1__gpio_read', arguments: { pin: 16 } });
    const query = '{ calls(filter: { deviceId: "greenhouse-1" }, first: 1) { nodes { tool actor } } }';
    expect(await ask(hub, query)).toEqual({
      calls: { nodes: [{ tool: 'gpio_read', actor: 'DEVICES_READ TOOLS_CALL' }] },
    });
    await agent.close();
    const onlooker = await connectAgent(hub, { key: reader });
    expect((await onlooker.listTools()).tools.map(({ name }) => name)).toEqual(['read_measurements']);
    expect(textOf(await onlooker.callTool({ name: 'greenhouse-1__gpio_read', arguments: { pin: 16 } }))).toContain(
      'TOOLS_CALL',
    );
    await onlooker.close();
  });

  it('finds, describes and calls in the compact mode, and runs a job after a preview', async () => {
    const agent = await connectAgent(hub, { mode: 'compact' });
    expect((await agent.listTools()).tools.map(({ name }) => name)).toEqual([
      'find_devices',
      'describe_device',
      'call_tool',
      'call_tool_on_many',
      'job_status',
      'create_recurring_job',
      'recurring_jobs',
      'create_desired_state',
      'desired_states',
      'read_measurements',
    ]);
    const found = await agent.callTool({ name: 'find_devices', arguments: { search: 'greenhouse' } });
    expect(found.structuredContent).toMatchObject({
      devices: [{ id: 'greenhouse-1', presence: 'ONLINE' }],
      more: false,
    });
    const described = await agent.callTool({ name: 'describe_device', arguments: { device: 'greenhouse-1' } });
    expect(described.structuredContent).toMatchObject({
      deviceSays: { model: 'greenhouse', firmwareVersion: '2.3.1' },
      tools: expect.arrayContaining([
        expect.objectContaining({
          name: 'gpio_read',
          mcpName: 'greenhouse-1__gpio_read',
          readOnly: true,
          destructive: false,
        }),
      ]),
    });
    const one = await agent.callTool({
      name: 'describe_device',
      arguments: { device: 'greenhouse-1', tool: 'gpio_write' },
    });
    const [writer, ...others] = (one.structuredContent as { readonly tools: readonly object[] }).tools;
    expect(others).toEqual([]);
    expect(writer).toMatchObject({ mcpName: 'greenhouse-1__gpio_write', schemaKnown: true });
    // No policy names it, so nothing is said of what it does.
    for (const unknown of ['readOnly', 'destructive', 'idempotent']) expect(writer).not.toHaveProperty(unknown);
    const call = { device: 'greenhouse-1', tool: 'gpio_write', arguments: { pin: 16, value: false } };
    expect((await agent.callTool({ name: 'call_tool', arguments: call })).isError ?? false).toBe(false);
    expect(boards.first?.level).toBe(0);
    expect(
      (await agent.callTool({ name: 'greenhouse-1__gpio_read', arguments: { pin: 16 } })).structuredContent,
    ).toMatchObject({
      value: { value: 0 },
    });
    const many = { tool: 'self.lamp.turn_on', ids: lamps };
    const preview = await agent.callTool({ name: 'call_tool_on_many', arguments: many });
    expect(preview.structuredContent).toMatchObject({ preview: true, devices: 2 });
    const start = { name: 'call_tool_on_many', arguments: { ...many, confirmDevices: 2, idempotencyKey: 'lamps on' } };
    const { job } = (await agent.callTool(start)).structuredContent as { readonly job: string };
    expect((await agent.callTool(start)).structuredContent).toMatchObject({ job });
    expect(await finished(hub, job)).toMatchObject({ conclusion: 'SUCCEEDED' });
    const status = await agent.callTool({ name: 'job_status', arguments: { job } });
    expect(status.structuredContent).toMatchObject({ state: 'FINISHED', progress: { succeeded: 2 } });
    await agent.close();
  });

  it('completes the id of a device from a part of it', async () => {
    const agent = await connectAgent(hub);
    const complete = async (uri: string, value: string) =>
      (await agent.complete({ ref: { type: 'ref/resource', uri }, argument: { name: 'id', value } })).completion;
    expect(await complete('flotilla://devices/{id}/pins', 'ouse-1')).toEqual({
      values: ['greenhouse-1'],
      hasMore: false,
    });
    expect((await complete('flotilla://devices/{id}', '')).values).toContain('greenhouse-1');
    expect(await complete('flotilla://others/{id}', 'green')).toEqual({ values: [] });
    await agent.close();
  });

  it('lists compactly by itself once there are more than a hundred tools', async () => {
    const more = startFleet(hub, { devices: 30, profile: 'lamp', seed: 7 });
    try {
      await online(hub, lamps.length + 1 + boards.count + 30);
      const agent = await connectAgent(hub);
      expect((await agent.listTools()).tools.map(({ name }) => name)).toContain('find_devices');
      await agent.close();
      const full = await connectAgent(hub, { mode: 'full' });
      expect((await full.listTools()).tools.length).toBeGreaterThan(100);
      await full.close();
      await expectNoticesOfOwnDevices(hub, stage.pg, boards);
    } finally {
      await more.stop();
    }
  });

  it('refuses pages of other origins, strangers, unknown modes and bodies without measure', async () => {
    const post = async (more: Readonly<Record<string, string>>, body = '{}', path = '/mcp') => {
      const headers = { 'content-type': 'application/json', ...more };
      return (await fetch(`${hub.httpUrl}${path}`, { method: 'POST', headers, body })).status;
    };
    const authorization = `Bearer ${hub.adminKey}`;
    expect(await post({ authorization, origin: 'https://evil.example' })).toBe(403);
    expect(await post({ authorization, origin: 'null' })).toBe(403);
    expect(await post({})).toBe(401);
    expect(await post({ authorization: 'Bearer none' })).toBe(401);
    expect(await post({ authorization }, '{}', '/mcp?mode=other')).toBe(400);
    expect(await post({ authorization }, `"${'x'.repeat(1_100_000)}"`)).toBe(413);
  });

  it('is closed to a key that has expired, and its stream has ended', async () => {
    await eventually(() => Date.now() > shortLived.expiresAt, Boolean);
    await shortLived.end;
    const headers = { authorization: `Bearer ${shortLived.key}`, 'content-type': 'application/json' };
    for (const method of ['GET', 'POST', 'DELETE']) {
      const answer = await fetch(`${hub.httpUrl}/mcp`, { method, headers, ...(method === 'POST' && { body: '{}' }) });
      expect([answer.status, answer.headers.get('www-authenticate')], method).toEqual([401, 'Bearer']);
    }
  });
});
