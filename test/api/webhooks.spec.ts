/**
 * Webhooks of the built hub with a receiver that misbehaves: pending events arrive after every
 * failure.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../src/eventually.js';
import { ask } from '../src/api/graphql-client.js';
import { makeDataDir, removeDataDir, startHub, type HubProcess } from '../src/hub/hub-process.js';

interface Received {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly event: { readonly id: string; readonly type: string; readonly deviceId: string };
}

interface Delivery {
  readonly id: string;
  readonly eventId: string;
  readonly attempt: number;
  readonly status: number | null;
  readonly error: string | null;
  readonly delivered: boolean;
}

type Verify = (secret: string, header: string, body: string, now?: number) => boolean;

const page = readFileSync(fileURLToPath(new URL('../../docs/webhooks.md', import.meta.url)), 'utf8');
const snippet = (language: string) =>
  new RegExp(`^\`\`\`${language} verify\\n([\\s\\S]*?)^\`\`\``, 'm').exec(page)?.[1] ?? '';
const folder = mkdtempSync(path.join(tmpdir(), 'flotilla-verify-'));
const dataDir = makeDataDir();
const received: Received[] = [];
let answer = (response: ServerResponse): void => void response.writeHead(204).end();
const receiver = createServer((request, response) => {
  let body = '';
  request.setEncoding('utf8').on('data', (text: string) => (body += text));
  request.on('end', () => {
    received.push({ headers: request.headers, body, event: JSON.parse(body) as Received['event'] });
    answer(response);
  });
});
let origin: string;
let hub: HubProcess;
let verify: Verify;
let webhook: { readonly id: string; readonly secret: string };

const start = () => startHub({ dataDir, embedded: true, env: { FLOTILLA_WEBHOOK_URLS: origin } });
const register = (deviceId: string) =>
  ask(
    hub,
    'mutation ($id: ID!) { registerDevice(input: { deviceId: $id, dialect: XIAOZHI }) { userErrors { message } } }',
    {
      id: deviceId,
    },
  );
const of = (deviceId: string) => received.filter(({ event }) => event.deviceId === deviceId);
const log = async () => {
  const { webhooks } = await ask<{ webhooks: { deliveries: Delivery[] }[] }>(
    hub,
    '{ webhooks { deliveries { id eventId attempt status error delivered } } }',
  );
  return webhooks[0]?.deliveries ?? [];
};

beforeAll(async () => {
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;
  const file = path.join(folder, 'verify.mjs');
  writeFileSync(file, snippet('js'));
  ({ isFromFlotilla: verify } = (await import(pathToFileURL(file).href)) as { readonly isFromFlotilla: Verify });
  hub = await start();
  const create =
    'mutation ($url: String!) { createWebhook(input: { url: $url, types: ["device.*"] }) { secret webhook { id } } }';
  const { createWebhook } = await ask<{ createWebhook: { secret: string; webhook: { id: string } } }>(hub, create, {
    url: `${origin}/hook`,
  });
  webhook = { id: createWebhook.webhook.id, secret: createWebhook.secret };
});

afterAll(async () => {
  await hub.stop();
  receiver.closeAllConnections();
  receiver.close();
  removeDataDir(dataDir);
  rmSync(folder, { recursive: true });
});

describe('webhooks of a hub', () => {
  it('report an event as GraphQL does, with a signature that the documented snippets verify', async () => {
    await register('02:00:00:00:0a:01');
    const [got] = await eventually(
      () => of('02:00:00:00:0a:01'),
      (seen) => seen.length > 0,
    );
    const { events } = await ask<{ events: { nodes: unknown[] } }>(
      hub,
      '{ events(filter: { deviceId: "02:00:00:00:0a:01" }, first: 1) { nodes { id type deviceId at data } } }',
    );
    expect(got?.event).toEqual(events.nodes[0]);
    const signature = String(got?.headers['flotilla-signature']);
    const body = got?.body ?? '';
    expect(verify(webhook.secret, signature, body)).toBe(true);
    expect(verify('whsec_other', signature, body)).toBe(false);
    expect(verify(webhook.secret, signature, `${body} `)).toBe(false);
    expect(verify(webhook.secret, signature, body, Date.now() / 1000 + 301)).toBe(false);
    for (const header of ['', 't=1', 'v1=00', `t=1,v1=${'0'.repeat(64)}`])
      expect(verify(webhook.secret, header, body)).toBe(false);
    const asked = JSON.stringify(
      [webhook.secret, 'whsec_other']
        .map((secret) => [secret, signature, body])
        .concat([[webhook.secret, 'nonsense', body]]),
    );
    const check = 'print([is_from_flotilla(s, h, b.encode()) for s, h, b in json.loads(sys.argv[1])])';
    const script = `${snippet('python')}\nimport json, sys\n${check}`;
    expect(execFileSync('python3', ['-c', script, asked]).toString().trim()).toBe('[True, False, False]');
  });

  it('follow no redirects, limit answers, and are repeated after a kill -9 of the hub until accepted', async () => {
    answer = (response) => void response.writeHead(302, { location: `${origin}/elsewhere` }).end();
    await register('02:00:00:00:0a:02');
    const [failed] = await eventually(log, ([latest]) => latest?.delivered === false);
    expect(failed).toMatchObject({ attempt: 1, status: 302, error: expect.stringContaining('redirects') });
    await hub.kill();
    answer = (response) => {
      response.writeHead(200);
      const flood = setInterval(() => response.write('x'.repeat(65_536)), 1);
      response.on('close', () => clearInterval(flood));
    };
    hub = await start();
    const [done] = await eventually(
      log,
      ([latest]) => latest?.delivered === true && latest.eventId === failed?.eventId,
    );
    expect(done).toMatchObject({ attempt: 2, status: 200 });
    expect(of('02:00:00:00:0a:02').map(({ headers }) => headers['flotilla-event-id'])).toEqual([
      failed?.eventId,
      failed?.eventId,
    ]);
  });

  it('are sent once more on demand, and refused where they would go inside the network', async () => {
    answer = (response) => void response.writeHead(204).end();
    const [latest] = await log();
    const before = received.length;
    await ask(hub, 'mutation ($id: ID!) { redeliverWebhook(deliveryId: $id) { webhook { id } } }', { id: latest?.id });
    await eventually(
      () => received.length,
      (count) => count > before,
    );
    expect(received.at(-1)?.event.id).toBe(latest?.eventId);
    const update = `mutation ($id: ID!, $url: String!) {
      updateWebhook(id: $id, input: { url: $url, types: ["*"] }) { userErrors { code path } } }`;
    for (const url of [
      'http://127.0.0.1:1/',
      'http://localhost/',
      'http://169.254.169.254/',
      'http://[::ffff:7f00:1]/',
    ])
      expect(await ask(hub, update, { id: webhook.id, url })).toEqual({
        updateWebhook: { userErrors: [{ code: 'URL_FORBIDDEN', path: ['input', 'url'] }] },
      });
  });
});
