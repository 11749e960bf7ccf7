import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import type { DeviceId } from '@flotilla/mcp';
import type { NewUpload, Scope } from '@flotilla/registry';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { keyOf, openApi, type OpenApi } from '../mount/mounted-api.suite.js';

const blobs = new Map<string, string>();
let api: OpenApi;

beforeAll(async () => {
  api = await openApi(
    {},
    {},
    {
      take: async (request) => {
        const body = (await buffer(request)).toString();
        if (body !== 'a picture')
          return { status: 415, code: 'UNSUPPORTED_PICTURE', message: 'This file is not a picture.' };
        return (
          (await api.registry.uploads.add(upload('image/png'))) ?? { status: 404, code: 'NOT_FOUND', message: 'used' }
        );
      },
      read: async (key) => {
        const text = blobs.get(key);
        return text === undefined ? undefined : { body: Readable.from([text]), sizeBytes: text.length, version: '1' };
      },
    },
  );
});

afterAll(() => api.close());

function upload(contentType: string): NewUpload {
  const id = api.registry.uploads.newId(Date.now());
  return {
    id,
    deviceId: 'camera' as DeviceId,
    kind: 'PHOTO',
    contentType,
    sizeBytes: 5,
    sha256: 'aa',
    storageKey: `uploads/${id}`,
    question: '?',
  };
}

/** A kept upload, with a thumbnail. */
async function kept(contentType: string): Promise<string> {
  const row = upload(contentType);
  await api.registry.uploads.add(row);
  blobs.set(row.storageKey, 'bytes').set(`${row.storageKey}.thumbnail`, 'small');
  await api.registry.uploads.setThumbnail(row.id, `${row.storageKey}.thumbnail`);
  return row.id;
}

async function get(
  path: string,
  scopes: readonly Scope[] | undefined = ['DEVICES_READ'],
  init: RequestInit = {},
): Promise<Response> {
  return fetch(api.httpUrl + path, { ...init, headers: { authorization: `Bearer ${keyOf(scopes)}` } });
}

describe('files of uploads', () => {
  it('are served with type and length, and headers that prevent execution', async () => {
    const id = await kept('image/jpeg');
    const response = await get(`/api/uploads/${id}`);
    expect(response.status).toBe(200);
    expect(await response.text()).toBe('bytes');
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'image/jpeg',
      'content-length': '5',
      'content-disposition': `inline; filename="${id}.jpg"`,
      'x-content-type-options': 'nosniff',
      'content-security-policy': "default-src 'none'; sandbox",
      'cache-control': 'private, max-age=3600',
    });
    const thumbnail = await get(`/api/uploads/${id}/thumbnail`);
    expect([thumbnail.headers.get('content-type'), await thumbnail.text()]).toEqual(['image/jpeg', 'small']);
  });

  it.each(['text/html', 'image/svg+xml', 'application/octet-stream'])(
    'of the type %s are only for saving',
    async (contentType) => {
      const response = await get(`/api/uploads/${await kept(contentType)}`);
      expect(response.headers.get('content-type')).toBe('application/octet-stream');
      expect(response.headers.get('content-disposition')).toBe('attachment');
      await response.text();
    },
  );

  it('are for keys with DEVICES_READ', async () => {
    const id = await kept('image/jpeg');
    const anonymous = await fetch(`${api.httpUrl}/api/uploads/${id}`);
    expect([anonymous.status, await anonymous.json()]).toMatchObject([401, { code: 'UNAUTHENTICATED' }]);
    const other = await get(`/api/uploads/${id}/thumbnail`, ['JOBS_READ', 'EVENTS_READ']);
    expect([other.status, await other.json()]).toMatchObject([403, { code: 'FORBIDDEN' }]);
  });

  it('that do not exist are not found', async () => {
    const id = await kept('image/jpeg');
    blobs.delete(`uploads/${id}`);
    const unknown = api.registry.uploads.newId(Date.now());
    for (const path of [
      `/api/uploads/${id}`,
      `/api/uploads/${unknown}`,
      `/api/uploads/${unknown}/thumbnail`,
      '/api/uploads/..%2f..%2fsecret',
    ]) {
      const response = await get(path);
      expect([response.status, await response.json()]).toMatchObject([404, { code: 'NOT_FOUND' }]);
    }
  });
});

describe('uploading a picture', () => {
  const post = (body: string, scopes: readonly Scope[]) => get('/api/uploads', scopes, { method: 'POST', body });

  it('returns its address', async () => {
    const response = await post('a picture', ['TOOLS_CALL_PRIVILEGED']);
    const shown = (await response.json()) as { readonly id: string };
    expect(response.status).toBe(201);
    expect(shown).toMatchObject({ contentType: 'image/png', sizeBytes: 5, url: `/api/uploads/${shown.id}` });
    expect(response.headers.get('location')).toBe(`/api/uploads/${shown.id}`);
  });

  it('is refused with the reason, and needs the scope of what it is for', async () => {
    const refused = await post('<svg/>', ['ADMIN']);
    expect([refused.status, await refused.json()]).toEqual([
      415,
      { code: 'UNSUPPORTED_PICTURE', message: 'This file is not a picture.' },
    ]);
    expect((await post('a picture', ['DEVICES_READ', 'TOOLS_CALL'])).status).toBe(403);
  });
});

describe('uploads over GraphQL', () => {
  it('are listed latest first with their addresses, by device', async () => {
    const id = await kept('image/jpeg');
    const query = `{ uploads(deviceId: "camera", first: 1) {
        nodes { id kind url thumbnailUrl question at } pageInfo { hasNextPage } } }`;
    const { data } = await api.ask(query, {}, ['DEVICES_READ']);
    const node = {
      id,
      kind: 'PHOTO',
      url: `/api/uploads/${id}`,
      thumbnailUrl: `/api/uploads/${id}/thumbnail`,
      question: '?',
    };
    expect(data).toMatchObject({ uploads: { nodes: [node], pageInfo: { hasNextPage: true } } });
    expect((await api.ask('{ uploads(deviceId: "unknown") { nodes { id } } }')).data).toEqual({
      uploads: { nodes: [] },
    });
  });

  it('need the scope of what they call', async () => {
    const snapshot = 'mutation { takeSnapshot(deviceId: "x") { upload { id } userErrors { code } } }';
    expect((await api.ask(snapshot, {}, ['TOOLS_CALL', 'DEVICES_READ'])).codes).toEqual(['FORBIDDEN']);
    const { data } = await api.ask(snapshot, {}, ['TOOLS_CALL_PRIVILEGED', 'DEVICES_READ']);
    expect(data).toEqual({ takeSnapshot: { upload: null, userErrors: [{ code: 'DEVICE_OFFLINE' }] } });
    expect(
      (
        await api.ask('mutation { showImage(deviceId: "x", uploadId: "y") { userErrors { code } } }', {}, [
          'TOOLS_CALL',
        ])
      ).codes,
    ).toEqual(['FORBIDDEN']);
  });
});
