/**
 * Secrets in arguments reach the device, and are in no answer of the hub, in no copy of its
 * database, and not in its log.
 */
import { randomUUID } from 'node:crypto';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connectAgent } from '../src/agents/agent-client.js';
import { makeKey } from '../src/api/api-keys.js';
import { ask, send } from '../src/api/graphql-client.js';
import { deviceThat } from '../src/devices/device-api.js';
import { answerAsFirmware, requestIn } from '../src/devices/firmware.js';
import { RawMqttDevice } from '../src/devices/raw-mqtt-device.js';
import { eventually } from '../src/eventually.js';
import { removeDataDir, startHub, type HubProcess } from '../src/hub/hub-process.js';
import { openTestDatabase, type TestDatabase } from '../src/hub/test-database.js';
import { createDesiredState, readDesiredState } from '../src/jobs/desired-state-api.js';
import { finished, jobOf } from '../src/jobs/job-api.js';

const MAC = '02:5e:00:00:00:01';
const SECRET = 'correct horse battery staple';
const text = { type: 'string' };
const tools = [
  {
    name: 'self.wifi.set',
    description: '',
    inputSchema: { type: 'object', properties: { ssid: text, password: text } },
  },
  {
    name: 'self.door.say',
    description: '',
    inputSchema: { type: 'object', properties: { message: text } },
    annotations: { audience: ['user'] },
  },
];
const input = { tool: 'self.wifi.set', arguments: { ssid: 'net', password: SECRET } };
const shown = { ssid: 'net', password: '***' };

describe('secrets in arguments', () => {
  let database: TestDatabase;
  let hub: HubProcess;
  let device: RawMqttDevice;
  const got: unknown[] = [];

  const adminKey = randomUUID();
  const start = async (dataDir?: string) => {
    const env = { DATABASE_URL: database.url, FLOTILLA_ADMIN_KEY: adminKey };
    hub = await startHub({ env, ...(dataDir === undefined ? {} : { dataDir }) });
  };
  const connect = async () => {
    const answer = (message: string) => {
      const request = requestIn(message);
      if (request?.method === 'tools/call') got.push(request.params?.arguments);
      return answerAsFirmware(message, { tools });
    };
    device = await RawMqttDevice.connect(hub, MAC, { answer });
    await deviceThat(hub, MAC, (found) => found.tools.length > 1);
  };
  /** Every row of every table. */
  const everythingStored = async () => {
    const client = new Client({ connectionString: database.url });
    await client.connect();
    const { rows } = await client.query<{ name: string }>(
      `SELECT format('%I.%I', table_schema, table_name) AS name FROM information_schema.tables
       WHERE table_type = 'BASE TABLE' AND table_schema NOT IN ('pg_catalog', 'information_schema')`,
    );
    const texts: string[] = [];
    for (const { name } of rows) {
      const { rows: stored } = await client.query<{ row: string }>(`SELECT t::text AS row FROM ${name} t`);
      texts.push(...stored.map(({ row }) => row));
    }
    await client.end();
    const everything = texts.join('\n');
    expect(everything).toContain(input.tool);
    return everything;
  };

  beforeAll(async () => {
    database = await openTestDatabase({ migrated: true });
    await start();
    await connect();
  });
  afterAll(async () => {
    device.drop();
    expect(await hub.stop()).toBe(0);
    expect(hub.log()).not.toContain(SECRET);
    removeDataDir(hub.dataDir);
    await database.close();
  });

  it('reach the device by a call, and are masked in answers and records', async () => {
    const query = 'mutation ($input: CallToolInput!) { callTool(input: $input) { call { id outcome arguments } } }';
    const { callTool } = await ask<{ callTool: { call: { id: string } } }>(hub, query, {
      input: { ...input, deviceId: MAC },
    });
    expect(callTool.call).toMatchObject({ outcome: 'SUCCEEDED', arguments: shown });
    expect(got).toEqual([input.arguments]);
    expect(await everythingStored()).not.toContain(SECRET);
  });

  it('wait outside the database for a device, reach it after a restart, and are gone with the job', async () => {
    device.drop();
    await deviceThat(hub, MAC, (found) => found.presence === 'OFFLINE');
    const id = await jobOf(hub, { ...input, devices: { ids: [MAC] } }, randomUUID());
    expect(await everythingStored()).not.toContain(SECRET);
    const { dataDir } = hub;
    await hub.kill();
    await start(dataDir);
    await connect();
    await finished(hub, id);
    expect(got).toEqual([input.arguments, input.arguments]);
    const read = `{ jobs { nodes { arguments } } calls { nodes { arguments } }
        events(first: 200) { nodes { data } } auditEntries(first: 100) { nodes { data } } }`;
    const answer = await ask<{ jobs: { nodes: object[] } }>(hub, read);
    expect(answer.jobs.nodes).toEqual([{ arguments: shown }]);
    expect(JSON.stringify(answer)).not.toContain(SECRET);
    for (const path of [`/api/jobs/${id}/results.jsonl`, `/api/jobs/${id}/results.csv`, '/api/audit.jsonl']) {
      const exported = await fetch(`${hub.httpUrl}${path}`, { headers: { authorization: `Bearer ${adminKey}` } });
      expect(exported.status).toBe(200);
      expect(await exported.text()).not.toContain(SECRET);
    }
    const again = `mutation ($id: ID!, $key: String!) { rerunJob(id: $id, outcomes: [SUCCEEDED], idempotencyKey: $key) {
        userErrors { code path } } }`;
    expect(await ask(hub, again, { id, key: randomUUID() })).toEqual({
      rerunJob: { userErrors: [{ code: 'INVALID', path: ['arguments'] }] },
    });
  });

  it('have the arguments of tools for users only beside them, for viewers who may not call these', async () => {
    const args = { message: 'the code is 4711' };
    const query = 'mutation ($input: CallToolInput!) { callTool(input: $input) { call { id outcome arguments } } }';
    const { callTool } = await ask<{ callTool: { call: { id: string } } }>(hub, query, {
      input: { deviceId: MAC, tool: 'self.door.say', arguments: args },
    });
    expect(callTool.call).toMatchObject({ outcome: 'SUCCEEDED', arguments: args });
    const job = await jobOf(hub, { tool: 'self.door.say', arguments: args, devices: { ids: [MAC] } }, randomUUID());
    await finished(hub, job);
    const read = `query ($call: ID!, $job: ID!) { call(id: $call) { arguments } job(id: $job) { arguments }
        calls { nodes { tool arguments } } }`;
    const variables = { call: callTool.call.id, job };
    const scopes = ['DEVICES_READ', 'JOBS_READ', 'TOOLS_CALL'] as const;
    const plain = (await send(hub, read, variables, (await makeKey(hub, scopes)).secret)).data;
    expect(plain).toMatchObject({ call: { arguments: { message: '***' } }, job: { arguments: { message: '***' } } });
    expect(JSON.stringify(plain)).not.toContain('4711');
    const privileged = (
      await send(hub, read, variables, (await makeKey(hub, [...scopes, 'TOOLS_CALL_PRIVILEGED'])).secret)
    ).data;
    expect(privileged).toMatchObject({ call: { arguments: args }, job: { arguments: args } });
  });

  it('have those of recurring jobs and desired states beside them, in the API and for agents', async () => {
    const tool = 'self.door.say';
    const args = { message: 'the code is 4712' };
    const readback = { tool: 'self.door.last', path: 'message', argument: 'message' };
    const policy = { pattern: tool, idempotent: true, disruptive: false, readback };
    await ask(hub, 'mutation ($input: ToolPolicyInput!) { setToolPolicy(input: $input) { userErrors { message } } }', {
      input: policy,
    });
    const devices = { ids: [MAC] };
    const { id } = await createDesiredState(hub, { name: 'say', tool, arguments: args, devices }, randomUUID());
    const recurring = { name: 'say', cron: '@yearly', timeZone: 'UTC', job: { tool, arguments: args, devices } };
    const create = `mutation ($input: RecurringJobInput!, $key: String!) {
        createRecurringJob(input: $input, idempotencyKey: $key) { recurringJob { id } userErrors { message } } }`;
    const made = await ask<{ createRecurringJob: { recurringJob: { id: string } } }>(hub, create, {
      input: recurring,
      key: randomUUID(),
    });
    await eventually(
      () => readDesiredState(hub, id),
      ({ summary }) => summary.targeted === 1,
    );
    const query = `{ recurringJobs { nodes { job } } desiredStates { nodes { arguments edits { input }
        targets { nodes { desired desiredState { arguments } } } } } }`;
    const shownTo = async (more: readonly 'TOOLS_CALL_PRIVILEGED'[]) => {
      const { secret: key } = await makeKey(hub, ['DEVICES_READ', 'JOBS_READ', 'TOOLS_CALL', 'EVENTS_READ', ...more]);
      const agent = await connectAgent(hub, { key });
      const results = [];
      for (const [name, selected] of [
        ['desired_states', id],
        ['recurring_jobs', made.createRecurringJob.recurringJob.id],
      ] as const)
        for (const given of [{}, { id: selected }]) results.push(await agent.callTool({ name, arguments: given }));
      await agent.close();
      const { data, errors } = await send(hub, query, {}, key);
      expect(errors).toBeUndefined();
      return [data, ...results].map((answer) => JSON.stringify(answer));
    };
    for (const answer of await shownTo([])) {
      expect(answer).not.toContain('4712');
      expect(answer).toContain('***');
    }
    for (const answer of await shownTo(['TOOLS_CALL_PRIVILEGED'])) expect(answer).toContain('4712');
  });
});
