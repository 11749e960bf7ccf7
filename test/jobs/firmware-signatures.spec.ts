/**
 * Firmware signatures over the API of a hub that requires them, and a stored file that was
 * replaced.
 */
import { createHash, generateKeyPairSync, sign, type KeyObject } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ask, send } from '../src/api/graphql-client.js';
import { keyOfPerson, signedInPerson } from '../src/api/second-person.js';
import { startFleet, type SimulatedFleet } from '../src/devices/simulated-fleet.js';
import { eventually } from '../src/eventually.js';
import { removeDataDir, startHub, type HubProcess } from '../src/hub/hub-process.js';
import { makeImage, uploadImage } from '../src/jobs/firmware-image.js';
import { finished, online } from '../src/jobs/job-api.js';

const board = 'bread-compact-wifi';
const build = generateKeyPairSync('ed25519');
const stranger = generateKeyPairSync('ed25519');
const pemOf = (key: KeyObject) => key.export({ format: 'pem', type: 'spki' }).toString();
const rawOf = (key: KeyObject) => key.export({ format: 'der', type: 'spki' }).subarray(-32);
const signatureOf = (file: Uint8Array, { privateKey } = build) => sign(null, file, privateKey).toString('base64');

let hub: HubProcess;
let fleet: SimulatedFleet;

beforeAll(async () => {
  hub = await startHub({ env: { FLOTILLA_FIRMWARE_SIGNATURES: 'required', FLOTILLA_APPROVALS: 'firmware' } });
  fleet = startFleet(hub, { devices: 1, profile: 'lamp', args: ['--speed', '20'] });
  await online(hub, 1);
});
afterAll(async () => {
  await fleet.stop();
  expect(await hub.stop()).toBe(0);
  expect(hub.log()).not.toMatch(/unhandled/i);
  removeDataDir(hub.dataDir);
});

const files = () =>
  readdirSync(path.join(hub.dataDir, 'files'), { recursive: true, withFileTypes: true }).flatMap((each) =>
    each.isFile() ? path.join(each.parentPath, each.name) : [],
  );
const addKey = async (publicKey: string, name = 'build server') => {
  const query = `mutation ($input: FirmwareSigningKeyInput!) { addFirmwareSigningKey(input: $input) {
    firmwareSigningKey { id name publicKey fingerprint } userErrors { code message path } } }`;
  interface Added {
    readonly firmwareSigningKey: { readonly id: string } | null;
    readonly userErrors: readonly { readonly code: string; readonly message: string }[];
  }
  return (await ask<{ addFirmwareSigningKey: Added }>(hub, query, { input: { name, publicKey } }))
    .addFirmwareSigningKey;
};
const removeKey = (id: string | undefined) =>
  ask(hub, 'mutation ($id: ID!) { removeFirmwareSigningKey(id: $id) { deletedId userErrors { code } } }', { id });
const publish = async (id: string | undefined) => {
  const query = `mutation ($id: ID!) {
    publishFirmwareImage(id: $id, models: ["${board}"]) { firmwareImage { id } userErrors { code message } } }`;
  return (await ask<{ publishFirmwareImage: object }>(hub, query, { id })).publishFirmwareImage;
};
const signerOf = async (id: string | undefined) => {
  const query = 'query ($id: ID!) { firmwareImage(id: $id) { signedBy { name fingerprint } } }';
  return (await ask<{ firmwareImage: { signedBy: object | null } }>(hub, query, { id })).firmwareImage.signedBy;
};
const unsigned = {
  firmwareImage: null,
  userErrors: [{ code: 'CONFLICT', message: expect.stringContaining('signature') as unknown }],
};

describe('a signing key', () => {
  it.each([
    ['an RSA key', pemOf(generateKeyPairSync('rsa', { modulusLength: 1024 }).publicKey), /rsa.*Ed25519/],
    ['an X25519 key', pemOf(generateKeyPairSync('x25519').publicKey), /x25519.*Ed25519/],
    ['a private key', build.privateKey.export({ format: 'pem', type: 'pkcs8' }).toString(), /private key/],
    ['31 bytes', Buffer.alloc(31, 7).toString('base64'), /cannot be read/],
    ['words', 'my key', /cannot be read/],
  ])('that is %s is refused', async (_what, publicKey, message) => {
    expect(await addKey(publicKey)).toMatchObject({
      firmwareSigningKey: null,
      userErrors: [{ code: 'INVALID', message: expect.stringMatching(message) }],
    });
  });

  it('is added as PEM or base64, once, and its fingerprint is the SHA-256 of the raw key', async () => {
    const raw = rawOf(build.publicKey);
    const shown = { publicKey: raw.toString('base64'), fingerprint: createHash('sha256').update(raw).digest('hex') };
    const { firmwareSigningKey: first } = await addKey(raw.toString('base64'));
    expect(first).toMatchObject({ name: 'build server', ...shown });
    expect(await addKey(pemOf(build.publicKey))).toMatchObject({
      firmwareSigningKey: null,
      userErrors: [{ code: 'CONFLICT' }],
    });
    await removeKey(first?.id);
    const { firmwareSigningKey: again } = await addKey(pemOf(build.publicKey));
    expect(again).toMatchObject(shown);
    await removeKey(again?.id);
    const { auditEntries } = await ask<{ auditEntries: { nodes: { action: string; data: object }[] } }>(
      hub,
      `{ auditEntries(filter: { subject: "signing_key:${first?.id}" }) { nodes { action data } } }`,
    );
    expect(auditEntries.nodes.map(({ action }) => action)).toEqual(['signing_key.removed', 'signing_key.added']);
    expect(auditEntries.nodes[0]?.data).toEqual({ name: 'build server', fingerprint: shown.fingerprint });
  });
});

describe('an upload', () => {
  const file = makeImage({ version: '3.0.0' });
  let keyId: string | undefined;

  it('with a signature that nothing verifies is refused, and nothing is kept', async () => {
    const refused = async (signature: string) => {
      const answer = await uploadImage(hub, file, { signature });
      return [answer.status, answer.body.code, files().length];
    };
    expect(await refused(signatureOf(file))).toEqual([422, 'SIGNATURE_KEY_UNKNOWN', 0]);
    keyId = (await addKey(pemOf(build.publicKey))).firmwareSigningKey?.id;
    expect(await refused(signatureOf(file, stranger))).toEqual([422, 'SIGNATURE_INVALID', 0]);
    expect(await refused(signatureOf(makeImage({ version: '3.0.1' })))).toEqual([422, 'SIGNATURE_INVALID', 0]);
    expect(await refused('not a signature')).toEqual([422, 'SIGNATURE_INVALID', 0]);
    expect(await refused(Buffer.alloc(63).toString('base64'))).toEqual([422, 'SIGNATURE_INVALID', 0]);
  });

  it('without one is kept and not published, until the same file comes with one', async () => {
    const { body } = await uploadImage(hub, file);
    expect(await signerOf(body.id)).toBeNull();
    expect(await publish(body.id)).toEqual(unsigned);
    expect((await uploadImage(hub, file, { signature: signatureOf(file) })).body.id).toBe(body.id);
    expect(await signerOf(body.id)).toMatchObject({ name: 'build server' });
    expect(files()).toHaveLength(1);
    expect(await publish(body.id)).toMatchObject({ userErrors: [] });
  });

  it('counts as unsigned when its key is removed, and as signed when it is added again', async () => {
    const { body } = await uploadImage(hub, file, { signature: signatureOf(file) });
    const roll = `mutation ($input: CreateJobInput!) {
        createJob(input: $input, idempotencyKey: "unsigned") { job { id } userErrors { code message } } }`;
    const input = { firmwareImageId: body.id, devices: { all: true } };
    await removeKey(keyId);
    expect(await signerOf(body.id)).toBeNull();
    expect(await publish(body.id)).toEqual(unsigned);
    expect(await ask(hub, roll, { input })).toMatchObject({
      createJob: { job: null, userErrors: unsigned.userErrors },
    });
    await addKey(pemOf(build.publicKey));
    expect(await signerOf(body.id)).not.toBeNull();
    const plain = { tool: 'self.upgrade_firmware', arguments: { url: `${hub.httpUrl}/x.bin` }, devices: { all: true } };
    expect(await ask(hub, roll, { input: plain })).toMatchObject({
      createJob: { job: null, userErrors: [{ code: 'URL_FORBIDDEN' }] },
    });
  });
});

describe('a roll-out', () => {
  const rollOut = async (imageId: string | undefined, idempotencyKey: string) => {
    const query = `mutation ($input: CreateJobInput!, $idempotencyKey: String!) {
      createJob(input: $input, idempotencyKey: $idempotencyKey) { job { id state approvalTargetCount } } }`;
    const input = { firmwareImageId: imageId, devices: { all: true } };
    const { createJob } = await ask<{ createJob: { job: { id: string } } }>(hub, query, { input, idempotencyKey });
    return createJob.job;
  };

  it('of a file that was exchanged in the storage does not reach its device, and is an event', async () => {
    const file = makeImage({ version: '4.0.0' });
    const { body } = await uploadImage(hub, file, { signature: signatureOf(file) });
    await publish(body.id);
    const preview = `query ($input: CreateJobInput!) { previewJob(input: $input) { warnings { code message } } }`;
    expect(await ask(hub, preview, { input: { firmwareImageId: body.id, devices: { all: true } } })).toMatchObject({
      previewJob: {
        warnings: [
          { code: 'PLAIN_HTTP_DOWNLOAD', message: expect.stringContaining(hub.httpUrl) as unknown },
          { code: 'NEEDS_APPROVAL' },
          { code: 'FORMER_IMAGE_MISSING' },
        ],
      },
    });
    const stored = files().find((each) => readFileSync(each).equals(file)) ?? '';
    writeFileSync(stored, makeImage({ version: '4.0.0', dataBytes: file.length }));
    const job = await rollOut(body.id, 'exchanged');
    expect(job).toMatchObject({ state: 'AWAITING_APPROVAL', approvalTargetCount: 1 });
    const approve = 'mutation ($id: ID!) { approveJob(id: $id) { userErrors { code } } }';
    expect(await ask(hub, approve, { id: job.id })).toEqual({ approveJob: { userErrors: [{ code: 'CONFLICT' }] } });
    const second = await keyOfPerson(await signedInPerson(hub), ['ADMIN']);
    expect((await send(hub, approve, { id: job.id }, second)).data).toEqual({ approveJob: { userErrors: [] } });
    const events = await eventually(
      async () =>
        (
          await ask<{ events: { nodes: { data: object }[] } }>(
            hub,
            '{ events(filter: { types: ["firmware.corrupt"] }) { nodes { data } } }',
          )
        ).events.nodes,
      (nodes) => nodes.length > 0,
    );
    expect(events).toMatchObject([
      { data: { imageId: body.id, version: '4.0.0', sha256: createHash('sha256').update(file).digest('hex') } },
    ]);
    await ask(hub, 'mutation ($id: ID!) { cancelJob(id: $id, force: true) { userErrors { code } } }', { id: job.id });
    await finished(hub, job.id);
    const { devices } = await ask<{ devices: { nodes: { firmwareVersion: string }[] } }>(
      hub,
      '{ devices { nodes { firmwareVersion } } }',
    );
    expect(devices.nodes[0]?.firmwareVersion).not.toBe('4.0.0');
  });
});
