/** Firmware images over HTTP and GraphQL, on a real server, a real database and a real folder. */
import { createHash } from 'node:crypto';
import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Scope } from '@flotilla/registry';
import { keyOf, openApi, type OpenApi } from './mounted-api.suite.js';

let api: OpenApi;
beforeAll(async () => {
  api = await openApi();
});
afterAll(() => api.close());

/** Not an application image; those have a story. */
const picture = new Uint8Array(5000).fill(7);
const assets = (version: string) => ({ kind: 'ASSETS', version });

function formOf(
  file: Uint8Array<ArrayBuffer> | undefined,
  fields: Readonly<Record<string, string>> = {},
  late: Readonly<Record<string, string>> = {},
): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  if (file) form.append('file', new Blob([file]), 'xiaozhi.bin');
  for (const [name, value] of Object.entries(late)) form.append(name, value);
  return form;
}

function withFile(form: FormData, name: string): FormData {
  form.append(name, new Blob(['another']), 'another.bin');
  return form;
}

async function post(
  body: FormData | string,
  scopes: readonly Scope[] = ['FIRMWARE_WRITE'],
): Promise<{ status: number; body: Record<string, string> }> {
  const response = await fetch(`${api.httpUrl}/api/firmware`, {
    method: 'POST',
    headers: { authorization: `Bearer ${keyOf(scopes)}` },
    body,
  });
  return { status: response.status, body: (await response.json()) as Record<string, string> };
}

async function uploaded(version: string): Promise<string> {
  const { body, status } = await post(formOf(picture, assets(version)));
  expect({ status, body }).toMatchObject({ status: 201, body: { id: expect.stringMatching(/^[0-9a-f-]{36}$/) } });
  return body['id'] ?? '';
}

const members = `id kind fileName project version chip idfVersion sizeBytes sha256 elfSha256
  uploadedAt publishedAt withdrawnAt notes models`;
const publish = (id: string, models: readonly string[], scopes: readonly Scope[] = ['ADMIN']) =>
  api.ask(
    `mutation ($id: ID!, $models: [String!]!) { publishFirmwareImage(id: $id, models: $models, notes: "Sounds better") {
      firmwareImage { ${members} } userErrors { code message path } } }`,
    { id, models },
    scopes,
  );

async function keptFiles(): Promise<number> {
  let count = 0;
  for await (const blob of api.blobs.list('firmware/')) count += Number(blob.key !== '');
  return count;
}

describe('POST /api/firmware', () => {
  it('stores assets with the version from the uploader', async () => {
    const id = await uploaded('1.2.0');
    const { data } = await api.ask(`query ($id: ID!) { firmwareImage(id: $id) { ${members} } }`, { id });
    expect(data).toEqual({
      firmwareImage: {
        id,
        kind: 'ASSETS',
        fileName: 'xiaozhi.bin',
        project: 'assets',
        version: '1.2.0',
        chip: 'any',
        idfVersion: null,
        sizeBytes: 5000,
        sha256: createHash('sha256').update(picture).digest('hex'),
        elfSha256: null,
        uploadedAt: expect.any(String),
        publishedAt: null,
        withdrawnAt: null,
        notes: null,
        models: [],
      },
    });
  });

  it('answers with the same id for the same file', async () => {
    const first = await uploaded('1.2.1');
    const kept = await keptFiles();
    expect(await uploaded('1.2.1')).toBe(first);
    expect(await keptFiles()).toBe(kept);
  });

  it.each([
    ['what is no image', picture, {}, 422, 'NOT_AN_IMAGE'],
    ['an empty file', new Uint8Array(), assets('1.0'), 422, 'NOT_AN_IMAGE'],
    ['assets without a version', picture, { kind: 'ASSETS' }, 400, 'INVALID'],
    ['assets of a version that no device can read', picture, assets('new'), 422, 'VERSION_UNUSABLE'],
    ['firmware passed off as assets', new Uint8Array([0xe9, 3, 2, 1]), assets('1.0'), 400, 'INVALID'],
    ['a version for firmware, which has its own', picture, { version: '1.0' }, 400, 'INVALID'],
  ])('refuses %s and keeps nothing', async (_what, file, fields, status, code) => {
    const kept = await keptFiles();
    expect(await post(formOf(file, fields))).toMatchObject({
      status,
      body: { code, message: expect.stringMatching(/\w+ \w+/) },
    });
    expect(await keptFiles()).toBe(kept);
  });

  it.each([
    ['no file', formOf(undefined, { kind: 'FIRMWARE' }), /no file/],
    ['fields behind the file', formOf(picture, assets('1.0'), { kind: 'ASSETS' }), /"kind" comes after the file/],
    ['unknown fields', formOf(picture, { chip: 'esp32' }), /no field "chip"/],
    ['another kind', formOf(picture, { kind: 'FONTS' }), /FIRMWARE or ASSETS/],
    ['no form at all', 'bytes', /form/i],
    ['two files', withFile(formOf(picture), 'file'), /one file named "file" is expected/],
    [
      'two files, of which the first is sound',
      withFile(formOf(picture, assets('1.0')), 'file'),
      /one file named "file" is expected/,
    ],
    ['a file of another name', withFile(formOf(undefined), 'image'), /"image"/],
  ])('refuses %s', async (_what, form, message) => {
    const kept = await keptFiles();
    // Each twice: what broke the process would have been heard by the second.
    for (let time = 0; time < 2; time++)
      expect(await post(form)).toMatchObject({
        status: 400,
        body: { code: 'BAD_USER_INPUT', message: expect.stringMatching(message) },
      });
    expect(await keptFiles()).toBe(kept);
  });

  it('refuses an oversized file during the upload', async () => {
    const kept = await keptFiles();
    const huge = new Uint8Array(65 * 1024 * 1024);
    expect(await post(formOf(huge.fill(1), { kind: 'ASSETS', version: '1.0' }))).toMatchObject({
      status: 413,
      body: { code: 'TOO_LARGE' },
    });
    expect(await keptFiles()).toBe(kept);
  });

  it('stores nothing of an interrupted upload', async () => {
    const kept = await keptFiles();
    const sending = request(`${api.httpUrl}/api/firmware`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${keyOf(['FIRMWARE_WRITE'])}`,
        'content-type': 'multipart/form-data; boundary=x',
        'content-length': 100_000,
      },
    });
    sending.on('error', () => undefined);
    sending.write(
      '--x\r\ncontent-disposition: form-data; name="kind"\r\n\r\nASSETS\r\n' +
        '--x\r\ncontent-disposition: form-data; name="version"\r\n\r\n1.0\r\n' +
        '--x\r\ncontent-disposition: form-data; name="file"; filename="a.bin"\r\n\r\n',
    );
    await new Promise((resolve) => sending.write(picture, resolve));
    sending.destroy();
    await new Promise((resolve) => sending.once('close', resolve));
    expect(await keptFiles()).toBe(kept);
  });

  it('is for FIRMWARE_WRITE', async () => {
    expect(await post(formOf(picture), ['DEVICES_WRITE', 'JOBS_WRITE'])).toMatchObject({
      status: 403,
      body: { code: 'FORBIDDEN' },
    });
  });
});

describe('a firmware image', () => {
  it('is published for boards, once per version', async () => {
    const first = await uploaded('3.0.0');
    const { body } = await post(formOf(new Uint8Array([1, 2, 3]), assets('3.0.0')));
    const second = body['id'] ?? '';
    const { data } = await publish(first, ['lamp', 'clock']);
    expect(data).toMatchObject({
      publishFirmwareImage: {
        firmwareImage: { models: ['clock', 'lamp'], notes: 'Sounds better', publishedAt: expect.any(String) },
        userErrors: [],
      },
    });
    const conflict = await publish(second, ['robot', 'lamp']);
    expect(conflict.data).toMatchObject({
      publishFirmwareImage: { firmwareImage: null, userErrors: [{ code: 'CONFLICT', path: ['models', '1'] }] },
    });
    expect(JSON.stringify(conflict.data)).toContain(first);
    const withdraw = `mutation ($id: ID!) { withdrawFirmwareImage(id: $id) {
      firmwareImage { withdrawnAt models } userErrors { code } } }`;
    expect((await api.ask(withdraw, { id: first })).data).toMatchObject({
      withdrawFirmwareImage: { firmwareImage: { models: [] } },
    });
    expect((await publish(second, ['robot', 'lamp'])).data).toMatchObject({ publishFirmwareImage: { userErrors: [] } });
  });

  it('is published for other boards in place of the former ones', async () => {
    const id = await uploaded('3.0.2');
    await publish(id, ['lamp', 'clock']);
    const replace = `mutation ($id: ID!) { publishFirmwareImage(id: $id, models: ["clock"], replaceModels: true) {
      firmwareImage { models withdrawnAt notes } userErrors { code } } }`;
    expect((await api.ask(replace, { id })).data).toMatchObject({
      publishFirmwareImage: { firmwareImage: { models: ['clock'], withdrawnAt: null, notes: 'Sounds better' } },
    });
  });

  it('is published only with boards and the right scope', async () => {
    const id = await uploaded('3.1.0');
    const refusals = async (models: readonly string[], which = id) =>
      (await publish(which, models)).data as { publishFirmwareImage: { userErrors: { code: string }[] } };
    expect((await refusals([])).publishFirmwareImage.userErrors).toMatchObject([{ code: 'INVALID' }]);
    expect((await refusals(['lamp', ' '])).publishFirmwareImage.userErrors).toMatchObject([
      { code: 'INVALID', path: ['models', '1'] },
    ]);
    expect((await refusals(['lamp'], 'nonsense')).publishFirmwareImage.userErrors).toMatchObject([
      { code: 'NOT_FOUND' },
    ]);
    expect((await publish(id, ['lamp'], ['JOBS_WRITE'])).codes).toEqual(['FORBIDDEN']);
  });

  it('is deleted with its bytes while nothing names it', async () => {
    const id = await uploaded('3.2.0');
    const kept = await keptFiles();
    const remove = () =>
      api.ask(`mutation ($id: ID!) { deleteFirmwareImage(id: $id) { firmwareImage { id } userErrors { code } } }`, {
        id,
      });
    await publish(id, ['gadget']);
    expect((await remove()).data).toMatchObject({
      deleteFirmwareImage: { firmwareImage: null, userErrors: [{ code: 'CONFLICT' }] },
    });
    await api.ask(`mutation ($id: ID!) { withdrawFirmwareImage(id: $id) { userErrors { code } } }`, { id });
    expect((await remove()).data).toMatchObject({ deleteFirmwareImage: { firmwareImage: { id }, userErrors: [] } });
    expect(await keptFiles()).toBe(kept - 1);
    expect((await remove()).data).toMatchObject({ deleteFirmwareImage: { userErrors: [{ code: 'NOT_FOUND' }] } });
  });

  it('adds an event for each change', async () => {
    const { rows } = await api.registry.events.page(
      { types: ['firmware.uploaded', 'firmware.published', 'firmware.withdrawn'] },
      'AT_ASC',
      { first: 100 },
    );
    expect(new Set(rows.map(({ type }) => type))).toEqual(
      new Set(['firmware.uploaded', 'firmware.published', 'firmware.withdrawn']),
    );
    expect(rows[0]?.data).toMatchObject({ kind: 'ASSETS', version: '1.2.0', actor: keyOf(['FIRMWARE_WRITE']) });
  });

  it('is listed latest first', async () => {
    const { data } = await api.ask(
      `{ firmwareImages(first: 2) { nodes { version } pageInfo { hasNextPage endCursor } } }`,
      {},
      ['DEVICES_READ'],
    );
    expect(data).toMatchObject({
      firmwareImages: { nodes: [{ version: '3.1.0' }, { version: '3.0.2' }], pageInfo: { hasNextPage: true } },
    });
  });
});
