/**
 * Pictures from a device to its users and back to its screen, over public endpoints, with a vision
 * model behind the hub.
 */
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { createServer, request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { callTool, eventsOf } from '../src/devices/device-api.js';
import { eventually } from '../src/eventually.js';
import { ask } from '../src/api/graphql-client.js';
import { removeDataDir, startHub, type HubProcess } from '../src/hub/hub-process.js';
import { online } from '../src/jobs/job-api.js';
import { startFleet, type SimulatedFleet } from '../src/devices/simulated-fleet.js';

interface UploadNode {
  readonly id: string;
  readonly kind: string;
  readonly contentType: string;
  readonly url: string;
  readonly thumbnailUrl: string | null;
  readonly question: string | null;
  readonly answer: string | null;
}

const uploadFields = 'id kind contentType url thumbnailUrl question answer';

async function uploadsOf(hub: HubProcess, deviceId?: string): Promise<readonly UploadNode[]> {
  const query = `query ($id: ID) { uploads(deviceId: $id, first: 50) { nodes { ${uploadFields} } } }`;
  return (await ask<{ uploads: { nodes: UploadNode[] } }>(hub, query, { id: deviceId })).uploads.nodes;
}

function file(hub: HubProcess, url: string, key = hub.adminKey): Promise<Response> {
  return fetch(hub.httpUrl + url, { headers: { authorization: `Bearer ${key}` } });
}

describe('uploads', () => {
  const model = createServer((_request, response) => {
    response.end(JSON.stringify({ choices: [{ message: { content: 'A grey wall.' } }] }));
  });
  let hub: HubProcess;
  let fleet: SimulatedFleet;
  let device: string;
  let modelUrl: string;

  beforeAll(async () => {
    model.listen(0, '127.0.0.1');
    await once(model, 'listening');
    modelUrl = `http://127.0.0.1:${(model.address() as AddressInfo).port}`;
    hub = await startHub({ embedded: true, env: { FLOTILLA_VISION_URL: modelUrl, FLOTILLA_VISION_MODEL: 'eyes-1' } });
    fleet = startFleet(hub, { devices: 1, profile: 'screen-camera', seed: 31, args: ['--reconnect-ms', '200'] });
    await online(hub, 1);
    const { devices } = await ask<{ devices: { nodes: { id: string }[] } }>(
      hub,
      '{ devices(first: 1) { nodes { id } } }',
    );
    device = devices.nodes[0]?.id ?? '';
  });
  afterAll(async () => {
    await fleet.stop();
    await hub.stop();
    model.close();
    removeDataDir(hub.dataDir);
  });

  it('keep a photo with its question and answer, list it, and serve it with a thumbnail', async () => {
    const call = await callTool(hub, {
      deviceId: device,
      tool: 'self.camera.take_photo',
      arguments: { question: 'What is it?' },
    });
    expect(call.outcome).toBe('SUCCEEDED');
    expect(JSON.parse(call.result?.text ?? '')).toMatchObject({
      success: true,
      action: 'RESPONSE',
      response: 'A grey wall.',
    });
    const [photo] = await eventually(
      () => uploadsOf(hub, device),
      ([first]) => first?.thumbnailUrl !== null,
    );
    expect(photo).toMatchObject({
      kind: 'PHOTO',
      contentType: 'image/jpeg',
      question: 'What is it?',
      answer: 'A grey wall.',
    });
    for (const url of [photo?.url ?? '', photo?.thumbnailUrl ?? '']) {
      const response = await file(hub, url);
      expect(response.status).toBe(200);
      expect(Buffer.from(await response.arrayBuffer()).subarray(0, 2)).toEqual(Buffer.from([0xff, 0xd8]));
      expect((await file(hub, url, 'unknown')).status).toBe(401);
    }
    expect(await eventsOf(hub, device, 'upload.received')).toMatchObject([{ uploadId: photo?.id, kind: 'PHOTO' }]);
  });

  it('take a snapshot of a screen, with an address that works once', async () => {
    const query = `mutation ($id: ID!) { takeSnapshot(deviceId: $id) {
      upload { ${uploadFields} } call { outcome tool arguments } userErrors { code }
    } }`;
    const { takeSnapshot } = await ask<{
      takeSnapshot: { upload: UploadNode; call: { outcome: string; arguments: { url: string } } };
    }>(hub, query, {
      id: device,
    });
    expect(takeSnapshot).toMatchObject({
      upload: { kind: 'SNAPSHOT' },
      call: { outcome: 'SUCCEEDED', tool: 'self.screen.snapshot' },
      userErrors: [],
    });
    const again = await fetch(takeSnapshot.call.arguments.url, { method: 'POST', body: new FormData() });
    expect(again.status).toBe(404);
    const offline = await ask(hub, query, { id: 'unknown' });
    expect(offline).toMatchObject({ takeSnapshot: { upload: null, userErrors: [{ code: 'NOT_FOUND' }] } });
  });

  it('show a picture that a person uploaded', async () => {
    const [photo] = await uploadsOf(hub, device);
    const form = new FormData();
    form.set('file', new Blob([await (await file(hub, photo?.url ?? '')).arrayBuffer()]), 'logo.png');
    const upload = await fetch(`${hub.httpUrl}/api/uploads`, {
      method: 'POST',
      headers: { authorization: `Bearer ${hub.adminKey}` },
      body: form,
    });
    expect(upload.status).toBe(201);
    const { id } = (await upload.json()) as { readonly id: string };
    const query = `mutation ($device: ID!, $id: ID!) { showImage(deviceId: $device, uploadId: $id) {
      call { outcome result { text } } userErrors { code }
    } }`;
    expect(await ask(hub, query, { device, id })).toEqual({
      showImage: { call: { outcome: 'SUCCEEDED', result: { text: 'true' } }, userErrors: [] },
    });
    expect(await ask(hub, query, { device, id: photo?.id.replace(/.$/, 'z') })).toMatchObject({
      showImage: { userErrors: [{ code: 'NOT_FOUND' }] },
    });
    const html = new FormData();
    html.set('file', new Blob(['<html><script>alert(1)</script>']), 'logo.png');
    const refused = await fetch(`${hub.httpUrl}/api/uploads`, {
      method: 'POST',
      headers: { authorization: `Bearer ${hub.adminKey}` },
      body: html,
    });
    expect([refused.status, await refused.json()]).toMatchObject([415, { code: 'UNSUPPORTED_PICTURE' }]);
  });

  it.each<[string, Record<string, string>]>([
    ['no token', {}],
    ['a wrong token', { authorization: 'Bearer wrong', 'device-id': '02:00:00:00:00:01' }],
  ])('reject a photo with %s', async (_what, headers) => {
    const response = await fetch(`${hub.httpUrl}/vision`, { method: 'POST', headers, body: new FormData() });
    expect([response.status, await response.json()]).toMatchObject([401, { success: false, code: 'UNAUTHENTICATED' }]);
  });

  it('leave nothing of an upload that a killed hub did not finish', async () => {
    const before = await uploadsOf(hub);
    const headers = { authorization: `Bearer ${hub.adminKey}`, 'content-type': 'multipart/form-data; boundary=b' };
    const upload = httpRequest(`${hub.httpUrl}/api/uploads`, { method: 'POST', headers });
    upload.on('error', () => undefined);
    upload.write('--b\r\nContent-Disposition: form-data; name="file"; filename="x.png"\r\n\r\n');
    upload.write(Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.alloc(100_000)]));
    const incoming = path.join(hub.dataDir, 'files', '.incoming');
    await eventually(
      async () => readdirSync(incoming),
      (names) => names.length === 1,
    );
    await hub.kill();
    hub = await startHub({
      dataDir: hub.dataDir,
      embedded: true,
      env: { FLOTILLA_VISION_URL: modelUrl, FLOTILLA_VISION_MODEL: 'eyes-1' },
    });
    expect(readdirSync(incoming)).toEqual([]);
    expect(await uploadsOf(hub)).toEqual(before);
  });
});
