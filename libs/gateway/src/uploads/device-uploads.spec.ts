import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { clientIdMax } from '@flotilla/mcp';
import type { DeviceId } from '@flotilla/mcp';
import { RegistryError } from '@flotilla/registry';
import type { Registry } from '@flotilla/registry';
import sharp from 'sharp';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import type { ScreenPermits } from './screen-permits.js';
import { openUploadHub } from './upload-hub.suite.js';
import type { UploadHub } from './upload-hub.suite.js';
import { jpeg, photoParts, post } from './upload-requests.suite.js';
import type { VisionAnswerer } from './vision-answerer.js';
import { VisionError } from './vision-answerer.js';

const camera = '02:5e:7a:10:c4:01' as DeviceId;
let hub: UploadHub;
let registry: Registry;
let httpUrl: string;
let permits: ScreenPermits;
let say: VisionAnswerer['answer'] | undefined;

/** A session of the device in PostgreSQL, and its token. */
async function session(
  deviceId: DeviceId,
  connectedAt = Date.now(),
): Promise<{ readonly token: string; readonly epoch: number }> {
  const about = { dialect: 'XIAOZHI', transport: 'MQTT', reachability: 'ALWAYS', remoteAddress: undefined } as const;
  const { epoch } = await registry.devices.connect({ deviceId, connectedAt, ...about });
  const reached = { localAddress: '127.0.0.1', host: undefined };
  const vision = hub.uploads.visionFor({ deviceId, connectedAt, reached });
  expect(vision?.url).toBe(`${httpUrl}/vision`);
  return { token: vision?.token ?? '', epoch };
}

function headersOf(deviceId: string, token: string): Record<string, string> {
  return { 'Device-Id': deviceId, 'Client-Id': 'uuid', Authorization: `Bearer ${token}` };
}

beforeAll(async () => {
  const answer: VisionAnswerer['answer'] = (...asked) => (say ? say(...asked) : Promise.resolve('A red mug.'));
  hub = await openUploadHub({ answer });
  ({ registry, httpUrl, permits } = hub);
});
afterEach(() => {
  say = undefined;
});
afterAll(() => hub.close());

describe('POST /vision', () => {
  it('keeps the photo, asks about it, and answers in the firmware’s format under its size', async () => {
    const { token } = await session(camera);
    say = async ({ question, contentType, picture }) =>
      `${question} ${contentType} ${picture.length} ${'ß'.repeat(10_000)}`;
    const picture = await jpeg();
    const reply = await post(`${httpUrl}/vision`, photoParts('what is it?', picture), {
      headers: headersOf(camera, token),
    });
    expect(reply).toMatchObject({ status: 200, body: { success: true, action: 'RESPONSE' } });
    expect(reply.body['response']).toContain(`what is it? image/jpeg ${picture.length} ß`);
    expect(Buffer.byteLength(JSON.stringify(reply.body))).toBeLessThan(6_000);
    const upload = await vi.waitFor(async () => {
      const found = await registry.uploads.find(String(reply.body['uploadId']));
      expect(found?.thumbnailKey).toBeDefined();
      return found;
    });
    expect(upload).toMatchObject({
      kind: 'PHOTO',
      deviceId: camera,
      question: 'what is it?',
      sizeBytes: picture.length,
    });
    expect(upload?.answer).toContain('what is it? image/jpeg');
    expect(await readdir(path.join(hub.folder, 'uploads'))).toHaveLength(2);
    expect(hub.events).toMatchObject([
      { type: 'upload.received', deviceId: camera, data: { uploadId: upload?.id, kind: 'PHOTO' } },
    ]);
  });

  it('answers in time when the model does not, and keeps the photo', async () => {
    const device = '02:5e:7a:10:c4:02' as DeviceId;
    const { token } = await session(device);
    say = (_photo, signal) =>
      new Promise((_resolve, reject) =>
        signal.addEventListener('abort', () => reject(new VisionError('The vision model did not answer in time.'))),
      );
    const reply = await post(`${httpUrl}/vision`, photoParts('?', await jpeg()), { headers: headersOf(device, token) });
    expect(reply).toMatchObject({
      status: 200,
      body: { success: false, message: 'The photo was stored. The vision model did not answer in time.' },
    });
    expect((await registry.uploads.page({ deviceId: device }, { first: 5 })).rows).toHaveLength(1);
  });

  it('keeps a picture that cannot be decoded, without a thumbnail', async () => {
    const device = '02:5e:7a:10:c4:03' as DeviceId;
    const { token } = await session(device);
    const spoilt = Buffer.concat([(await jpeg()).subarray(0, 200), Buffer.alloc(500)]);
    const reply = await post(`${httpUrl}/vision`, photoParts('?', spoilt), { headers: headersOf(device, token) });
    expect(reply.status).toBe(200);
  });

  it('accepts only a token of the device’s present session, with its Device-Id', async () => {
    const device = '02:5e:7a:10:c4:04' as DeviceId;
    const { token, epoch } = await session(device, Date.now() - 1_000);
    const parts = photoParts('?', await jpeg());
    const ask = async (headers: Record<string, string>) => (await post(`${httpUrl}/vision`, parts, { headers })).status;
    expect(await ask({})).toBe(401);
    expect(await ask({ 'Device-Id': device })).toBe(401);
    expect(await ask(headersOf(camera, token))).toBe(401);
    expect(await ask(headersOf(device, `${token}x`))).toBe(401);
    expect(
      await ask(
        headersOf(device, hub.signer.pathOf({ purpose: 'preview', id: 'x', expiresAt: Date.now() + 9_000 }).slice(11)),
      ),
    ).toBe(401);
    expect(await ask({ ...headersOf(device, token), Authorization: token })).toBe(401);
    expect(await ask(headersOf(device.toUpperCase(), token))).toBe(200);
    const newer = await session(device);
    expect(await ask(headersOf(device, token))).toBe(401);
    expect(await ask(headersOf(device, newer.token))).toBe(200);
    await registry.devices.closeSession({
      deviceId: device,
      epoch: newer.epoch,
      reason: 'device_closed',
      at: Date.now(),
    });
    expect(await ask(headersOf(device, newer.token))).toBe(401);
    expect(epoch).toBeLessThan(newer.epoch);
  });

  it('accepts a photo of a device whose MQTT client id is no MAC address, of the greatest length', async () => {
    const device = 'Robot-'.padEnd(clientIdMax, '7') as DeviceId;
    const { token } = await session(device);
    const reply = await post(`${httpUrl}/vision`, photoParts('?', await jpeg()), { headers: headersOf(device, token) });
    expect(reply.status).toBe(200);
  });

  it('rejects what is too large, no form, no picture, or incomplete, and keeps nothing of it', async () => {
    const device = '02:5e:7a:10:c4:05' as DeviceId;
    const { token } = await session(device);
    const before = await hub.picturesKept();
    const headers = headersOf(device, token);
    const large = Buffer.concat([await jpeg(), Buffer.alloc(6 * 1024 * 1024)]);
    const refusal = async (parts: readonly Buffer[], more: Parameters<typeof post>[2] = {}) =>
      post(`${httpUrl}/vision`, parts, { headers, ...more });
    expect(await refusal(photoParts('?', large))).toMatchObject({
      status: 413,
      body: { success: false, code: 'REQUEST_TOO_LARGE' },
    });
    expect(
      await refusal([Buffer.from('{}')], { headers: { ...headers, 'Content-Type': 'application/json' } }),
    ).toMatchObject({
      status: 400,
    });
    expect(await refusal(photoParts('?', Buffer.from('<svg onload="alert(1)"/>')))).toMatchObject({ status: 415 });
    expect(await refusal(photoParts('?', await jpeg()).slice(0, 3))).toMatchObject({
      status: 400,
      body: { code: 'BAD_USER_INPUT' },
    });
    expect(await hub.picturesKept()).toEqual(before);
    expect((await registry.uploads.page({ deviceId: device }, { first: 5 })).rows).toEqual([]);
  });

  it('answers a body that stops, and forgets one whose sender is gone', async () => {
    const device = '02:5e:7a:10:c4:06' as DeviceId;
    const { token } = await session(device);
    const headers = headersOf(device, token);
    const parts = photoParts('?', await jpeg()).slice(0, 3);
    expect(await post(`${httpUrl}/vision`, parts, { headers, after: 'leave' })).toMatchObject({
      status: 408,
      body: { code: 'TOO_SLOW' },
    });
    const before = await hub.picturesKept();
    await expect(post(`${httpUrl}/vision`, parts, { headers, after: 'cut' })).rejects.toThrow();
    const reply = await vi.waitFor(async () => {
      const again = await post(`${httpUrl}/vision`, photoParts('?', await jpeg()), { headers });
      expect(again.status).toBe(200);
      return again;
    });
    await vi.waitFor(async () => expect(await hub.picturesKept()).toHaveLength(before.length + 1));
    expect((await registry.uploads.page({ deviceId: device }, { first: 5 })).rows.map(({ id }) => id)).toEqual([
      reply.body['uploadId'],
    ]);
  });

  it('keeps the bytes of a photo whose row may have been written', async () => {
    const device = '02:5e:7a:10:c4:09' as DeviceId;
    const { token } = await session(device);
    const add = registry.uploads.add.bind(registry.uploads);
    vi.spyOn(registry.uploads, 'add').mockImplementationOnce(async (upload) => {
      await add(upload);
      throw new RegistryError('DATABASE_UNAVAILABLE', 'PostgreSQL did not answer within 5 s.');
    });
    const before = await hub.picturesKept();
    const reply = await post(`${httpUrl}/vision`, photoParts('?', await jpeg()), { headers: headersOf(device, token) });
    expect(reply).toMatchObject({ status: 503, body: { code: 'UNAVAILABLE' } });
    expect((await registry.uploads.page({ deviceId: device }, { first: 5 })).rows).toHaveLength(1);
    expect(await hub.picturesKept()).toHaveLength(before.length + 1);
  });

  it('accepts one upload of a device at a time', async () => {
    const device = '02:5e:7a:10:c4:07' as DeviceId;
    const { token } = await session(device);
    const headers = headersOf(device, token);
    const parts = photoParts('?', await jpeg());
    // Neither ends, so the one that is read first holds the upload slot until it times out.
    const both = [1, 2].map(() => post(`${httpUrl}/vision`, parts.slice(0, 3), { headers, after: 'leave' }));
    const statuses = (await Promise.all(both)).map(({ status }) => status);
    expect(statuses.sort()).toEqual([408, 429]);
  });

  it('accepts a few uploads of a device in a minute', async () => {
    const device = '02:5e:7a:10:c4:08' as DeviceId;
    const { token } = await session(device);
    const headers = headersOf(device, token);
    const parts = photoParts('?', await jpeg());
    const statuses: number[] = [];
    for (let count = 0; count < 5; count++) statuses.push((await post(`${httpUrl}/vision`, parts, { headers })).status);
    expect(statuses).toEqual([200, 200, 200, 200, 429]);
  });
});

describe('a device’s screen', () => {
  const ticketId = '0192aa00-0000-7000-8000-00000000000a';

  it('is posted to an address that works once', async () => {
    const url = permits.snapshotUrl(camera, ticketId, Date.now() + 5_000) ?? '';
    expect(url.replace(httpUrl, '')).toMatch(/^\/t\/snapshot\/[\w.-]+$/);
    const parts = photoParts('a field that no screen sends', await jpeg());
    expect(await post(url, parts)).toMatchObject({ status: 200, body: { success: true } });
    const upload = await registry.uploads.findByTicket(ticketId);
    expect(upload).toMatchObject({ kind: 'SNAPSHOT', deviceId: camera, question: undefined });
    const kept = await hub.picturesKept();
    expect(await post(url, parts)).toMatchObject({ status: 404, body: { code: 'NOT_FOUND' } });
    await vi.waitFor(async () => expect((await registry.uploads.findByTicket(ticketId))?.thumbnailKey).toBeDefined());
    expect(new Set(await hub.picturesKept())).toEqual(new Set(kept));
  });

  it('is not posted to an address that is expired, changed, or has another purpose', async () => {
    const parts = photoParts('', await jpeg());
    const expired = permits.snapshotUrl(camera, '0192aa00-0000-7000-8000-00000000000b', Date.now() - 1_000) ?? '';
    const preview = (permits.previewUrl('x', Date.now() + 5_000) ?? '').replace('preview', 'snapshot');
    for (const url of [expired, preview, `${httpUrl}/t/snapshot/x`]) expect((await post(url, parts)).status).toBe(404);
  });

  it('fetches a picture as a PNG of its size, with the length', async () => {
    const wide = await sharp({ create: { width: 2_000, height: 1_000, channels: 3, background: 'red' } })
      .jpeg()
      .toBuffer();
    const ticket = '0192aa00-0000-7000-8000-00000000000c';
    await post(permits.snapshotUrl(camera, ticket, Date.now() + 5_000) ?? '', photoParts('', wide));
    const upload = await registry.uploads.findByTicket(ticket);
    const response = await fetch(permits.previewUrl(upload?.id ?? '', Date.now() + 5_000) ?? '');
    const shown = Buffer.from(await response.arrayBuffer());
    expect(response.headers.get('content-length')).toBe(String(shown.length));
    expect(await sharp(shown).metadata()).toMatchObject({ format: 'png', width: 320, height: 160 });
    expect((await fetch(permits.previewUrl(upload?.id ?? '', Date.now() - 1_000) ?? '')).status).toBe(404);
    expect(
      (await fetch(permits.previewUrl('0192aa00-0000-7000-8000-0000000000ff', Date.now() + 5_000) ?? '')).status,
    ).toBe(404);
  });

  it('fetches a picture together with many others', async () => {
    const picture = await sharp({ create: { width: 1_000, height: 1_000, channels: 3, background: 'red' } })
      .jpeg()
      .toBuffer();
    const ticket = '0192aa00-0000-7000-8000-00000000000d';
    await post(permits.snapshotUrl(camera, ticket, Date.now() + 5_000) ?? '', photoParts('', picture));
    const upload = await registry.uploads.findByTicket(ticket);
    const url = permits.previewUrl(upload?.id ?? '', Date.now() + 60_000) ?? '';
    const shown = await Promise.all(Array.from({ length: 10 }, () => fetch(url)));
    expect(shown.map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => 200));
    await Promise.all(shown.map((response) => response.arrayBuffer()));
  });
});
