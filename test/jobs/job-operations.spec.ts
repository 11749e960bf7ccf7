/**
 * An operator's work around a job: preview, approval, schedule, rerun, export, and the audit trail
 * of it all.
 */
import { createHash, randomUUID } from 'node:crypto';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeKey } from '../src/api/api-keys.js';
import { connectAgent } from '../src/agents/agent-client.js';
import { ask, send } from '../src/api/graphql-client.js';
import { removeDataDir, startHub, type HubProcess } from '../src/hub/hub-process.js';
import { finished, jobOf, online, readJob } from '../src/jobs/job-api.js';
import { startFleet, type SimulatedFleet } from '../src/devices/simulated-fleet.js';
import { openTestDatabase, type TestDatabase } from '../src/hub/test-database.js';

const DEVICES = 40;
const volume = { tool: 'self.audio_speaker.set_volume', arguments: { volume: 7 }, devices: { all: true } };

describe('around a job', () => {
  let database: TestDatabase;
  let client: Client;
  let hub: HubProcess;
  let fleet: SimulatedFleet;

  beforeAll(async () => {
    database = await openTestDatabase();
    const env = { DATABASE_URL: database.url, FLOTILLA_ADMIN_KEY: `admin-${randomUUID()}`, FLOTILLA_APPROVALS: 'on' };
    hub = await startHub({
      env: { ...env, FLOTILLA_APPROVAL_DEVICES: '1', FLOTILLA_DEVICE_URLS: 'https://files.example' },
    });
    client = new Client({ connectionString: database.url });
    await client.connect();
    fleet = startFleet(hub, { devices: DEVICES, profile: 'mixed' });
    await online(hub, DEVICES);
  });

  afterAll(async () => {
    await fleet.stop();
    await client.end();
    await hub.stop();
    removeDataDir(hub.dataDir);
    await database.close();
  });

  async function keyWith(scopes: readonly string[]): Promise<string> {
    const secret = `spec-${randomUUID()}`;
    const hash = createHash('sha256').update(secret).digest('hex');
    await client.query('INSERT INTO api_key (id, name, prefix, secret_hash, scopes) VALUES ($1, $2, $3, $4, $5)', [
      randomUUID(),
      `key of ${scopes.join(' ')}`,
      'spec',
      hash,
      scopes,
    ]);
    return secret;
  }

  const setPolicy = (input: Readonly<Record<string, unknown>>) =>
    ask(
      hub,
      `mutation ($input: ToolPolicyInput!) {
        setToolPolicy(input: $input) { toolPolicy { pattern } userErrors { message } } }`,
      {
        input,
      },
    );
  const file = (path: string) =>
    fetch(`${hub.httpUrl}${path}`, { headers: { authorization: `Bearer ${hub.adminKey}` } });
  const actions = async (id: string): Promise<readonly string[]> => {
    const query = `query ($subject: String!) {
        auditEntries(filter: { subject: $subject }) { nodes { action actor remoteAddress } } }`;
    const { auditEntries } = await ask<{
      auditEntries: { nodes: { action: string; actor: string; remoteAddress: string | null }[] };
    }>(hub, query, { subject: `job:${id}` });
    expect(auditEntries.nodes.every(({ actor, remoteAddress }) => (actor === 'hub') === (remoteAddress === null))).toBe(
      true,
    );
    return auditEntries.nodes.map(({ action }) => action).reverse();
  };

  it('the preview says what the job then has', async () => {
    const query = `query ($input: CreateJobInput!) { previewJob(input: $input) {
      targetCount onlineCount missingToolCount argumentErrors { deviceCount } waves blastRadius
      sample { id } userErrors { code } } }`;
    const { previewJob } = await ask<{ previewJob: { targetCount: number; missingToolCount: number } }>(hub, query, {
      input: volume,
    });
    expect(previewJob).toMatchObject({ targetCount: DEVICES, onlineCount: DEVICES, waves: [], userErrors: [] });
    const job = await finished(hub, await jobOf(hub, volume, 'as previewed'));
    expect(job.progress).toMatchObject({ total: previewJob.targetCount, rejected: previewJob.missingToolCount });
  });

  it('a policy changes what an answer means, and those that failed are run again when it is put right', async () => {
    await setPolicy({ pattern: volume.tool, idempotent: false, disruptive: false, failureText: 'true' });
    const parent = await jobOf(hub, volume, 'misjudged');
    const { failed } = (await finished(hub, parent)).progress;
    expect(failed).toBeGreaterThan(0);
    await setPolicy({ pattern: volume.tool, idempotent: true, disruptive: false, failureText: 'false' });
    const query = `mutation ($id: ID!) {
      rerunJob(id: $id, outcomes: [FAILED], idempotencyKey: "again") {
        job { id parentJobId } userErrors { message } } }`;
    const { rerunJob } = await ask<{ rerunJob: { job: { id: string; parentJobId: string } } }>(hub, query, {
      id: parent,
    });
    expect(rerunJob.job.parentJobId).toBe(parent);
    expect((await finished(hub, rerunJob.job.id)).progress).toMatchObject({ total: failed, succeeded: failed });

    const lines = (await (await file(`/api/jobs/${parent}/results.jsonl`)).text()).trimEnd().split('\n');
    expect(
      lines.map((line) => (JSON.parse(line) as { outcome: string }).outcome).filter((outcome) => outcome === 'FAILED'),
    ).toHaveLength(failed);
    const csv = (await (await file(`/api/jobs/${parent}/results.csv`)).text()).trimEnd().split('\r\n');
    expect(csv).toHaveLength(DEVICES + 1);
    expect((await file(`/api/jobs/${randomUUID()}/results.csv`)).status).toBe(404);
    expect(await actions(parent)).toEqual(['job.created', 'job.prepared', 'job.finished']);
  });

  it('a job starts when it was asked to, and sends only within its window', async () => {
    const startAt = new Date(Date.now() + 1_500).toISOString();
    const later = await jobOf(hub, { ...volume, startAt }, 'later');
    expect((await readJob(hub, later)).state).toBe('SCHEDULED');
    expect((await finished(hub, later)).progress.total).toBe(DEVICES);
    expect(await actions(later)).toEqual(['job.created', 'job.started', 'job.prepared', 'job.finished']);
    const hour = (ahead: number) => new Date(Date.now() + ahead * 3_600_000).toISOString().slice(11, 16);
    const open = await jobOf(hub, { ...volume, window: { from: hour(-1), to: hour(1), zone: 'UTC' } }, 'open');
    expect((await finished(hub, open)).conclusion).not.toBe('EXPIRED');
    const shut = await jobOf(
      hub,
      { ...volume, window: { from: hour(2), to: hour(3), zone: 'UTC' }, expiresInSeconds: 2 },
      'shut',
    );
    expect((await finished(hub, shut)).conclusion).toBe('EXPIRED');
    expect(await actions(shut)).toEqual(['job.created', 'job.prepared', 'job.paused', 'job.expired', 'job.finished']);
  });

  it('a disruptive tool waits for a second key, and one of firmware for its scope', async () => {
    const { devices } = await ask<{ devices: { nodes: { id: string }[] } }>(
      hub,
      '{ devices(first: 1) { nodes { id } } }',
    );
    const ids = [devices.nodes[0]?.id ?? ''];
    const id = await jobOf(hub, { tool: 'self.reboot', devices: { ids } }, 'restart');
    expect((await readJob(hub, id)).state).toBe('AWAITING_APPROVAL');
    const approve = 'mutation ($id: ID!) { approveJob(id: $id) { job { approvedBy } userErrors { code } } }';
    expect((await send(hub, approve, { id })).data).toEqual({
      approveJob: { job: null, userErrors: [{ code: 'CONFLICT' }] },
    });
    const own = await makeKey(hub, ['JOBS_WRITE', 'TOOLS_CALL', 'TOOLS_CALL_PRIVILEGED']);
    const refused = { approveJob: { job: null, userErrors: [{ code: 'CONFLICT' }] } };
    expect((await send(hub, approve, { id }, own.secret)).data, 'a key of the same person').toEqual(refused);
    const plain = await keyWith(['JOBS_READ', 'JOBS_WRITE', 'TOOLS_CALL', 'DEVICES_READ']);
    const isOwn = 'query ($id: ID!) { job(id: $id) { createdByViewer } }';
    expect((await send(hub, isOwn, { id })).data).toEqual({ job: { createdByViewer: true } });
    expect((await send(hub, isOwn, { id }, plain)).data).toEqual({ job: { createdByViewer: false } });
    expect((await send(hub, approve, { id }, plain)).data).toMatchObject({
      approveJob: { userErrors: [{ code: 'TOOL_FORBIDDEN' }] },
    });
    const second = await keyWith(['JOBS_WRITE', 'TOOLS_CALL', 'TOOLS_CALL_PRIVILEGED']);
    const deny =
      'mutation ($id: ID!) { denyJob(id: $id, reason: "not today") { job { state conclusion } userErrors { code } } }';
    expect((await send(hub, deny, { id }, second)).data).toMatchObject({
      denyJob: { job: { state: 'FINISHED', conclusion: 'DENIED' } },
    });
    expect(await actions(id)).toEqual(['job.created', 'job.denied']);
    const approved = await jobOf(hub, { tool: 'self.reboot', devices: { ids } }, 'restart after all');
    expect((await send(hub, approve, { id: approved }, second)).data).toMatchObject({
      approveJob: { job: { approvedBy: 'key of JOBS_WRITE TOOLS_CALL TOOLS_CALL_PRIVILEGED' }, userErrors: [] },
    });
    expect((await finished(hub, approved)).progress.total).toBe(1);
    expect((await actions(approved)).slice(0, 2)).toEqual(['job.created', 'job.approved']);

    const upgrade = `mutation ($id: ID!) {
      callTool(input: { deviceId: $id, tool: "self.upgrade_firmware",
      arguments: { url: "https://files.example/x.bin" } }) { call { outcome } userErrors { code } } }`;
    expect((await send(hub, upgrade, { id: ids[0] }, second)).data).toMatchObject({
      callTool: { call: { outcome: 'REJECTED' }, userErrors: [{ code: 'TOOL_FORBIDDEN' }] },
    });
  });

  it('single calls of one person disrupt few devices, over all their keys and agents', async () => {
    const found = await ask<{ devices: { nodes: { id: string }[] } }>(
      hub,
      '{ devices(first: 3, filter: { presence: ONLINE, hasTool: "self.reboot" }) { nodes { id } } }',
    );
    const [first, second] = found.devices.nodes.map(({ id }) => id);
    const restart = `mutation ($id: ID!) {
      callTool(input: { deviceId: $id, tool: "self.reboot" }) { call { outcome } userErrors { code message } } }`;
    const own = await makeKey(hub, ['DEVICES_READ', 'TOOLS_CALL', 'TOOLS_CALL_PRIVILEGED']);
    expect((await send(hub, restart, { id: first })).data).toMatchObject({ callTool: { userErrors: [] } });
    const userErrors = [{ code: 'APPROVAL_REQUIRED', message: expect.stringContaining('createJob') as unknown }];
    expect((await send(hub, restart, { id: second }, own.secret)).data).toEqual({
      callTool: { call: { outcome: 'REJECTED' }, userErrors },
    });
    const agent = await connectAgent(hub, { key: own.secret });
    const answer = await agent.callTool({ name: 'call_tool', arguments: { device: second, tool: 'self.reboot' } });
    expect(answer.isError).toBe(true);
    expect(JSON.stringify(answer)).toMatch(/APPROVAL_REQUIRED.*createJob/);
    await agent.close();
  });
});
