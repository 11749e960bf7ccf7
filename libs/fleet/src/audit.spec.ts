import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { admin, answers, openHub, operator, startJob } from './fleet-fixture.suite.js';
import type { HubFixture, HubProcess } from './fleet-fixture.suite.js';

describe('what is on the audit trail', () => {
  let fixture: HubFixture;
  let hub: HubProcess;

  beforeAll(async () => {
    fixture = await openHub();
    hub = fixture.hub;
    await hub.connect(['board']);
  });
  afterAll(() => fixture.close());

  const of = async (subject: string) => [...(await hub.registry.audit.page({ subject }, { first: 50 })).rows].reverse();

  it('has the whole life of a job with actor and address; its calls have no own entries', async () => {
    const caller = { ...admin, remoteAddress: '192.0.2.7' };
    const { job } = await hub.fleet.createJob(
      { tool: 'self.lamp.turn_on', arguments: {}, devices: { ids: ['board', 'away'] } },
      randomUUID(),
      caller,
    );
    if (job === undefined) throw new TypeError('No job.');
    await hub.finished(job.id);
    const entries = await of(`job:${job.id}`);
    expect(entries.map(({ action, actor }) => [action, actor])).toEqual([
      ['job.created', 'admin'],
      ['job.prepared', 'hub'],
      ['job.finished', 'hub'],
    ]);
    expect(entries[0]).toMatchObject({ remoteAddress: '192.0.2.7', data: { tool: 'self.lamp.turn_on' } });
    expect(entries[2]).toMatchObject({
      remoteAddress: undefined,
      data: { from: 'RUNNING', to: 'FINISHED', conclusion: 'SUCCEEDED' },
    });
    expect(await of('device:board')).toEqual([]);
  });

  it('has one entry for a change that several callers tried at once', async () => {
    await hub.disconnect('board');
    const id = await startJob(hub, ['board']);
    await hub.clock.until(async () => (await hub.job(id)).state).toBe('RUNNING');
    await Promise.all(Array.from({ length: 6 }, () => hub.fleet.pauseJob(id, operator)));
    await hub.fleet.cancelJob(id, false, admin);
    await hub.finished(id);
    expect((await of(`job:${id}`)).map(({ action }) => action)).toEqual([
      'job.created',
      'job.prepared',
      'job.paused',
      'job.cancelled',
      'job.finished',
    ]);
    await hub.connect(['board']);
  });

  it('records privileged calls before and after, refused calls once, and no ordinary call', async () => {
    const knownAtSend: string[] = [];
    hub.gateway.behave = (routed, settle) =>
      void of('device:board').then((entries) => {
        knownAtSend.push(
          ...entries.map(({ data }) => String(data['callId'])).filter((id) => id === routed.call.callId),
        );
        settle(answers('true'));
      });
    const { call } = await hub.fleet.callTool({ deviceId: 'board', tool: 'self.reboot', arguments: {} }, admin);
    await hub.fleet.callTool({ deviceId: 'board', tool: 'self.reboot', arguments: {} }, operator);
    await hub.fleet.callTool({ deviceId: 'board', tool: 'self.get_device_status', arguments: {} }, admin);
    expect(knownAtSend).toEqual([call?.id]);
    const entries = await of('device:board');
    expect(entries.map(({ action, actor, data }) => [action, actor, data['outcome'], data['errorCode']])).toEqual([
      ['call.privileged', 'admin', undefined, undefined],
      ['call.ended', 'admin', 'SUCCEEDED', undefined],
      ['call.privileged', 'operator', 'REJECTED', 'TOOL_FORBIDDEN'],
    ]);
    expect(entries[0]?.data).toEqual({ callId: call?.id, tool: 'self.reboot', arguments: {} });
    expect(entries[1]?.data).toMatchObject({ callId: call?.id, tool: 'self.reboot' });
  });

  it('is one chain over all of this', async () => {
    expect(await hub.registry.audit.verify()).toMatchObject({ kind: 'intact' });
  });
});
