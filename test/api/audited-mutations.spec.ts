/**
 * Every mutation of the served schema leaves an entry in the audit trail. A new mutation fails here
 * until its request, or the reason for no entry, is added.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventually } from '../src/eventually.js';
import { makeImage, uploadImage } from '../src/jobs/firmware-image.js';
import { keyOfPerson, signedInPerson } from '../src/api/second-person.js';
import { ask, send } from '../src/api/graphql-client.js';
import type { Acts } from '../src/api/acts/act-stage.js';
import { fleetActs } from '../src/api/acts/fleet-acts.js';
import { hubActs } from '../src/api/acts/hub-acts.js';
import { at, type Act } from '../src/api/acts/mutation-act.js';
import { workActs } from '../src/api/acts/work-acts.js';
import { servedSchema } from '../src/api/schema/graphql-schema.js';
import { removeDataDir, startHub, type HubProcess } from '../src/hub/hub-process.js';
import { WebhookReceiver } from '../src/hub/webhook-receiver.js';
import { online } from '../src/jobs/job-api.js';
import { startFleet, type SimulatedFleet } from '../src/devices/simulated-fleet.js';

/** Mutations without an audit entry, and why. */
const unaudited: Readonly<Record<string, string>> = {
  refreshTools: 'The device is asked what it can do; nothing is changed.',
  revertJob:
    'The entries are those of its jobs, as with createJob; it needs a finished roll-out, which has another story.',
  revokeAgentGrant: 'The entry is `grant.revoked`; it needs an agent that a person connected, which has another story.',
  acknowledgeAlert: 'The entry is `alert.acknowledged`; it needs an alert, which has another story.',
  changePassword: 'The entry is `user.password_changed`; it needs a signed-in person, which has another story.',
};

const receiver = new WebhookReceiver();
let hub: HubProcess;
let fleet: SimulatedFleet;
let acts: Acts;
/** Ids and other things that one mutation gives for the next. */
const known: Record<string, string> = {};

beforeAll(async () => {
  await receiver.listen();
  hub = await startHub({ env: { FLOTILLA_APPROVALS: 'on', FLOTILLA_WEBHOOK_URLS: receiver.url } });
  fleet = startFleet(hub, { devices: 3, profile: 'screen-camera' });
  await online(hub, 3);
  known['person'] = await keyOfPerson(await signedInPerson(hub), ['JOBS_WRITE', 'TOOLS_CALL', 'TOOLS_CALL_PRIVILEGED']);
  const stage = { hub, receiverUrl: receiver.url, known };
  acts = { ...fleetActs(stage), ...workActs(stage), ...hubActs(stage) };
  known['image'] = (await uploadImage(hub, makeImage())).body.id ?? '';
});

afterAll(async () => {
  await fleet.stop();
  expect(await hub.stop()).toBe(0);
  receiver.close();
  removeDataDir(hub.dataDir);
});

/** Only entries of callers: the hub adds some for its jobs meanwhile. */
async function latestEntry(): Promise<number> {
  const { auditEntries } = await ask<{ auditEntries: { nodes: { sequence: number; actor: string }[] } }>(
    hub,
    '{ auditEntries(first: 20) { nodes { sequence actor } } }',
  );
  return auditEntries.nodes.find(({ actor }) => actor !== 'hub')?.sequence ?? 0;
}

async function perform(mutation: string, { args, variables, select = '', keep, key }: Act): Promise<void> {
  const declared = Object.keys(variables).map((name) => `$${name}`);
  const values = Object.fromEntries(
    Object.entries(variables).map(([name, value]) => [name.split(':')[0] ?? '', value]),
  );
  const fields = `{ userErrors { code message } ${select} }`;
  const query = `mutation (${declared.join(', ')}) { answer: ${mutation}${args} ${fields} }`;
  const { data, errors } = await send(hub, query, values, key?.() ?? hub.adminKey);
  expect(errors, mutation).toBeUndefined();
  const answer = data?.['answer'] as Readonly<Record<string, unknown>>;
  expect(answer['userErrors'], mutation).toEqual([]);
  if (typeof answer['secret'] === 'string') known['secret'] = answer['secret'];
  if (keep !== undefined) known[keep[0]] = String(at(answer, keep[1]));
}

it('every mutation leaves an entry on the audit trail', async () => {
  const served = Object.keys((await servedSchema(hub)).getMutationType()?.getFields() ?? {});
  expect([...Object.keys(acts), ...Object.keys(unaudited)].sort()).toEqual(served.sort());
  for (const [mutation, each] of Object.entries(acts)) {
    for (const act of each) {
      const made = await act();
      const before = await latestEntry();
      await perform(mutation, made);
      await eventually(latestEntry, (latest) => latest > before, 5_000).catch(() =>
        expect.fail(`${mutation} left no entry.`),
      );
    }
  }
});
