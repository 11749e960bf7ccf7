import { randomUUID } from 'node:crypto';
import { defaultToolPolicy } from '@flotilla/jobs';
import type { DeviceTool } from '@flotilla/mcp';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { admin, answers, openHub, startJob } from './fleet-fixture.suite.js';
import type { HubFixture, HubProcess } from './fleet-fixture.suite.js';
import { requestOf as recurring } from './recurring/recurring-fixture.suite.js';

const SECRET = 'correct horse battery staple';
const wifi = 'self.wifi.set';
const text = { type: 'string' };
const tools: readonly DeviceTool[] = [
  {
    name: wifi,
    description: '',
    userOnly: false,
    inputSchema: { type: 'object', properties: { ssid: text, password: text } },
  },
  {
    name: 'self.theme.set',
    description: '',
    userOnly: true,
    inputSchema: { type: 'object', properties: { ssid: text } },
  },
  { name: 'self.wifi.get', description: '', userOnly: false, inputSchema: { type: 'object', properties: {} } },
];
const asked = { tool: wifi, arguments: { ssid: 'net', password: SECRET } };
const shown = { ssid: 'net', password: '***' };

describe('arguments whose names look secret', () => {
  let fixture: HubFixture;
  let hub: HubProcess;

  beforeAll(async () => {
    fixture = await openHub({ withWorker: false });
    hub = fixture.hub;
    await hub.connect(['board', 'second'], tools);
    await hub.fleet.setToolPolicy({ ...defaultToolPolicy, pattern: wifi, disruptive: true }, admin);
  });
  beforeEach(() => {
    hub.gateway.behave = (_, settle) => settle(answers('true'));
    hub.gateway.forget();
  });
  afterAll(() => fixture.close());

  const sent = (process = hub) =>
    process.gateway.seen.filter(({ call }) => call.tool === wifi).map(({ call }) => call.arguments);

  it('reach the device, and are masked in the answer, record, repetition and audit trail of a call', async () => {
    const request = { ...asked, deviceId: 'board', idempotencyKey: randomUUID() };
    const { call } = await hub.fleet.callTool(request, admin);
    expect(sent()).toEqual([asked.arguments]);
    expect(call).toMatchObject({ outcome: 'SUCCEEDED', arguments: shown });
    expect((await hub.registry.calls.find(call?.id ?? ''))?.arguments).toEqual(shown);
    expect((await hub.fleet.callTool(request, admin)).call).toMatchObject({ id: call?.id, arguments: shown });
    const other = { ...request, arguments: { ...asked.arguments, password: 'another' } };
    expect((await hub.fleet.callTool(other, admin)).refusal?.code).toBe('IDEMPOTENCY_KEY_REUSED');
    expect(JSON.stringify((await hub.registry.audit.page({}, { first: 50 })).rows)).not.toContain(SECRET);
    expect(sent()).toHaveLength(1);
  });

  it('are refused as masks by a call, which has nothing stored that they could stand for', async () => {
    const answer = await hub.fleet.callTool({ ...asked, arguments: shown, deviceId: 'board' }, admin);
    expect(answer).toMatchObject({ refusal: { code: 'INVALID', path: ['input', 'arguments'] } });
    const plain = { ...asked, arguments: { ssid: '***' }, deviceId: 'board' };
    expect((await hub.fleet.callTool(plain, admin)).call?.outcome).toBe('SUCCEEDED');
    expect(sent()).toEqual([plain.arguments]);
  });

  it('are not the reason to refuse a user-only tool, because only that refusal is audited', async () => {
    const request = { tool: 'self.theme.set', arguments: { ssid: '***', password: '***' }, deviceId: 'board' };
    const answer = await hub.fleet.callTool(request, { ...admin, mayCallUserOnly: false });
    expect(answer).toMatchObject({ refusal: { code: 'TOOL_FORBIDDEN', path: ['input', 'tool'] } });
  });

  it('of a job reach devices from another process after a restart, and a rerun needs them again', async () => {
    const id = await startJob(hub, ['board', 'second'], asked);
    expect((await hub.job(id)).arguments).toEqual(shown);
    const next = await fixture.startAnother();
    await next.connect(['board', 'second'], tools);
    next.gateway.behave = ({ deviceId }, settle) => settle(answers(deviceId === 'board' ? 'true' : 'failed'));
    await next.worker.start();
    await next.finished(id);
    expect(sent(next)).toEqual([asked.arguments, asked.arguments]);
    const { rows } = await next.registry.calls.page({ jobId: id }, { first: 9 });
    expect(rows.map((row) => row.arguments)).toEqual([shown, shown]);
    const request = { outcomes: ['SUCCEEDED'] as const };
    const refused = await next.fleet.rerunJob(id, request, randomUUID(), admin);
    expect(refused.refusal).toMatchObject({
      code: 'INVALID',
      message: expect.stringContaining('Give the arguments again'),
    });
    const key = randomUUID();
    const { job } = await next.fleet.rerunJob(id, { ...request, arguments: asked.arguments }, key, admin);
    expect(job?.arguments).toEqual(shown);
    await next.finished(job?.id as never);
    expect(sent(next)).toHaveLength(4);
    expect((await next.fleet.rerunJob(id, { ...request, arguments: asked.arguments }, key, admin)).job?.id).toBe(
      job?.id,
    );
    await next.clock.during(next.worker.stop());
  });

  it('are compared with the value that is read back, and no message contains them', async () => {
    const worker = await fixture.startAnother();
    await worker.connect(['board', 'second'], tools);
    await worker.fleet.setToolPolicy(
      {
        ...defaultToolPolicy,
        pattern: wifi,
        verification: 'READBACK',
        readback: { tool: 'self.wifi.get', path: 'password', argument: 'password' },
      },
      admin,
    );
    worker.gateway.behave = ({ deviceId, call }, settle) =>
      settle(
        answers(
          call.tool === wifi ? 'true' : JSON.stringify({ password: deviceId === 'board' ? SECRET : `${SECRET}!` }),
        ),
      );
    await worker.worker.start();
    const id = await startJob(worker, ['board', 'second'], asked);
    await worker.finished(id);
    expect(await worker.progress(id)).toMatchObject({ succeeded: 1, verifyFailed: 1 });
    const [page] = await worker.registry.jobs.targets([id], {}, { first: 9 });
    expect(JSON.stringify(page?.rows.map(({ error }) => error))).not.toContain(SECRET);
    await worker.fleet.setToolPolicy({ ...defaultToolPolicy, pattern: wifi }, admin);
    await worker.clock.during(worker.worker.stop());
  });

  it('are never sent as masks: without the key the job reports what is missing', async () => {
    const id = await startJob(hub, ['board'], asked);
    const stranger = await fixture.startAnother('of another hub');
    await stranger.connect(['board'], tools);
    await stranger.worker.start();
    await stranger.finished(id);
    expect(stranger.gateway.seen).toEqual([]);
    const [groups] = await stranger.registry.jobs.failureGroups([id], 5);
    expect(groups).toMatchObject([
      { outcome: 'REJECTED', code: 'ARGUMENTS_INVALID', message: expect.stringContaining('Create the job again') },
    ]);
  });

  it.each([
    [wifi, shown, admin],
    ['self.theme.set', { ssid: '***', password: '***' }, { ...admin, mayCallUserOnly: false }],
  ])('of a recurring job of %s stay, where it is disabled without their key', async (tool, masked, actor) => {
    const plan = recurring({ job: { ...asked, tool, devices: { ids: ['board'] } } });
    const made = await hub.fleet.createRecurringJob(plan, randomUUID(), admin);
    const id = 'job' in made ? made.job.id : '';
    const { fleet } = await fixture.startAnother('of another hub');
    const edit = { ...plan, job: { ...plan.job, arguments: masked } };
    const refused = { refusal: { code: 'INVALID', path: ['input', 'job', 'arguments'] } };
    expect(await fleet.updateRecurringJob(id, edit, actor)).toMatchObject(refused);
    const off = { ...edit, enabled: false };
    expect(await fleet.updateRecurringJob(id, { ...off, cron: '@daily' }, actor)).toMatchObject(refused);
    expect(await fleet.updateRecurringJob(id, off, actor)).toMatchObject({ job: { enabled: false } });
    const stored = await hub.registry.recurringJobs.find(id);
    expect(stored).toMatchObject({ enabled: false, nextRunAt: undefined, request: { arguments: shown } });
    expect(await hub.registry.recurringJobs.requestOf(id)).toMatchObject({ arguments: asked.arguments });
  });

  it('of a recurring job that another person saves stay with this person, where it is disabled meanwhile', async () => {
    const plan = recurring({ job: { ...asked, devices: { ids: ['board'] } } });
    const made = await hub.fleet.createRecurringJob(plan, randomUUID(), admin);
    const id = 'job' in made ? made.job.id : '';
    const read = await hub.registry.recurringJobs.find(id);
    const another = { ...admin, id: 'USER:another' };
    const job = { ...plan.job, arguments: { ssid: 'other', password: SECRET } };
    await hub.fleet.updateRecurringJob(id, { ...plan, cron: '@daily', job }, another);
    const { fleet, registry } = await fixture.startAnother('of another hub');
    vi.spyOn(registry.recurringJobs, 'find').mockResolvedValueOnce(read);
    const off = { ...plan, enabled: false, job: { ...plan.job, arguments: shown } };
    expect(await fleet.updateRecurringJob(id, off, admin)).toMatchObject({ refusal: { code: 'CONFLICT' } });
    const stored = await hub.registry.recurringJobs.find(id);
    expect(stored).toMatchObject({ enabled: true, cron: '@daily', savedById: another.id, secretsById: another.id });
  });
});
