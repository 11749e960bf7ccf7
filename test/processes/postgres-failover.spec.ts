/**
 * The primary of PostgreSQL is killed during a job, and its synchronous replica is promoted: what
 * was accepted is there, nothing ran twice, and the hub finds the new primary itself.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ask, send } from '../src/api/graphql-client.js';
import { startFleet, type SimulatedFleet } from '../src/devices/simulated-fleet.js';
import { eventually } from '../src/eventually.js';
import {
  isPostgresInstalled,
  postgresPassword,
  startFailoverPostgres,
  type FailoverPostgres,
} from '../src/hub/failover-postgres.js';
import { removeDataDir, startHub, type HubProcess } from '../src/hub/hub-process.js';
import { finished, jobOf, online, readJob, sumOf, targetsOf } from '../src/jobs/job-api.js';

const DEVICES = 24;
const turnOn = 'self.lamp.turn_on';
const status = 'self.get_device_status';

interface Made {
  readonly id: string;
  readonly outcome: string;
}

describe.skipIf(!isPostgresInstalled())('a hub whose PostgreSQL fails over', () => {
  let postgres: FailoverPostgres;
  let hub: HubProcess;
  let fleet: SimulatedFleet;
  let ids: readonly string[];

  beforeAll(async () => {
    postgres = await startFailoverPostgres();
    hub = await startHub({
      env: {
        DATABASE_URL: postgres.url,
        FLOTILLA_ADMIN_KEY: randomBytes(32).toString('hex'),
        FLOTILLA_DEVICE_SECRET: randomBytes(32).toString('hex'),
      },
    });
    const args = ['--answer-delay-ms', '150'];
    fleet = startFleet(hub, { devices: DEVICES, profile: 'lamp', transport: 'mixed', seed: 47, args });
    await online(hub, DEVICES);
    const { devices } = await ask<{ devices: { nodes: { id: string }[] } }>(hub, '{ devices { nodes { id } } }');
    ids = devices.nodes.map(({ id }) => id);
  });
  afterAll(async () => {
    await fleet.stop();
    expect(await hub.stop()).toBe(0);
    expect(hub.log()).not.toMatch(/unhandled|callback_threw/i);
    expect(hub.log()).not.toContain(postgresPassword);
    expect(hub.log()).not.toContain(encodeURIComponent(postgresPassword));
    removeDataDir(hub.dataDir);
    await postgres.stop();
  });

  /** The call that the hub accepted, or undefined if it refused one, which must have a reason. */
  async function call(): Promise<Made | undefined> {
    const query = `mutation ($input: CallToolInput!) {
      callTool(input: $input) { call { id outcome } userErrors { code message } } }`;
    const { data, errors } = await send(hub, query, { input: { deviceId: ids[0], tool: status, timeoutMs: 5_000 } });
    const answer = data?.['callTool'] as { call: Made | null; userErrors: { code: string }[] } | null | undefined;
    if (answer?.call) return answer.call;
    expect(['UNAVAILABLE', 'OVERLOADED']).toContain(errors?.[0]?.extensions?.code ?? answer?.userErrors[0]?.code);
    return undefined;
  }

  it('loses nothing that it accepted, repeats nothing, and goes on with the replica', async () => {
    const before = (await fleet.counts()).devices;
    const accepted: Made[] = [];
    const callOnce = async (): Promise<boolean> => {
      const made = await call();
      if (made !== undefined) accepted.push(made);
      return made !== undefined;
    };
    const id = await jobOf(hub, { tool: turnOn, devices: { ids }, maxInFlight: 2 }, randomUUID());
    await callOnce();
    await eventually(
      () => readJob(hub, id),
      ({ progress }) => progress.succeeded >= 4,
    );
    // The last thing that the primary accepts.
    const waiting = await jobOf(hub, { tool: status, devices: { ids } }, randomUUID());
    await postgres.killPrimary();

    // Calls of this moment are answered, and recorded later.
    await callOnce();
    const said = await eventually(
      () => send(hub, '{ jobs(first: 1) { nodes { id } } }'),
      ({ errors }) => errors !== undefined,
    );
    expect(said.errors?.[0]).toMatchObject({
      message: expect.stringMatching(/^PostgreSQL does not answer/) as string,
      extensions: { code: 'UNAVAILABLE' },
    });
    await eventually(
      () => fetch(`${hub.httpUrl}/health/ready`).then((response) => response.status),
      (code) => code === 503,
    );
    await callOnce();
    await postgres.promote();
    await eventually(callOnce, (isAccepted) => isAccepted, 60_000);

    const job = await finished(hub, id, 60_000);
    expect(sumOf(job)).toBe(DEVICES);
    const after = (await fleet.counts()).devices;
    const targets = await targetsOf(hub, id);
    expect(targets).toHaveLength(DEVICES);
    for (const { deviceId, outcome } of targets) {
      const ran = (after[deviceId]?.[turnOn] ?? 0) - (before[deviceId]?.[turnOn] ?? 0);
      expect(ran).toBeLessThanOrEqual(1);
      if (outcome === 'SUCCEEDED') expect(ran).toBe(1);
      else expect(outcome).toBe('UNKNOWN');
    }
    expect(targets.filter(({ outcome }) => outcome === 'SUCCEEDED')).toHaveLength(job.progress.succeeded);
    expect((await finished(hub, waiting, 60_000)).progress).toMatchObject({ total: DEVICES, succeeded: DEVICES });

    const recorded = 'query ($id: ID!) { device(id: $id) { calls(first: 50) { nodes { id outcome } } } }';
    const calls = await eventually(
      async () =>
        (await ask<{ device: { calls: { nodes: Made[] } } }>(hub, recorded, { id: ids[0] })).device.calls.nodes,
      (nodes) => nodes.length >= accepted.length,
    );
    const outcomes = new Map(calls.map((made) => [made.id, made.outcome]));
    expect(calls).toHaveLength(outcomes.size);
    for (const made of accepted) expect(outcomes.get(made.id)).toBe(made.outcome);
  });
});
