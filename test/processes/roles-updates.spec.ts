/**
 * What one process of a hub decides and another has to hear: a session that ends while its
 * subscriptions are elsewhere, and a webhook whose event is another's.
 */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { Browser } from '../src/api/browser.js';
import { ask } from '../src/api/graphql-client.js';
import { removeDataDir, startHub, type HubProcess } from '../src/hub/hub-process.js';
import { metricsText } from '../src/hub/metrics.js';
import { isRedisInstalled, startRedis, type RedisServer } from '../src/hub/redis-server.js';
import { openTestDatabase, type TestDatabase } from '../src/hub/test-database.js';
import { PATIENCE } from '../src/patience.js';

const PASSWORD = 'correct horse battery';
const VIEWER = '{ viewer { name } }';

describe.skipIf(!isRedisInstalled())('processes of one hub', () => {
  const secrets = {
    FLOTILLA_ADMIN_KEY: randomBytes(32).toString('hex'),
    FLOTILLA_DEVICE_SECRET: randomBytes(32).toString('hex'),
  };
  const received: { readonly type: string; readonly deviceId: string }[] = [];
  const receiver = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => (body += text));
    request.on('end', () => {
      received.push(JSON.parse(body) as (typeof received)[number]);
      response.writeHead(204).end();
    });
  });
  let database: TestDatabase;
  let redis: RedisServer;
  let first: HubProcess;
  let second: HubProcess;
  let worker: HubProcess;
  let origin: string;

  const start = (role: 'api' | 'worker') =>
    startHub({
      env: {
        ...secrets,
        DATABASE_URL: database.url,
        REDIS_URL: redis.url,
        FLOTILLA_ROLES: role,
        FLOTILLA_WEBHOOK_URLS: origin,
      },
    });
  /** The browser of a new person, signed in at the first process. */
  const person = async (name: string) => {
    const create = `mutation ($email: String!) {
  createUser(input: { name: "P", email: $email, role: VIEWER, password: "${PASSWORD}" }) { userErrors { message } }
}`;
    await ask(first, create, { email: `${name}@example.net` });
    const browser = new Browser(first);
    expect((await browser.signIn(`${name}@example.net`, PASSWORD)).status).toBe(200);
    return browser;
  };
  /** The same cookies at the second process. */
  const elsewhere = ({ cookies }: Browser) => {
    const browser = new Browser(second);
    for (const [name, value] of cookies) browser.cookies.set(name, value);
    return browser;
  };

  beforeAll(async () => {
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
    origin = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;
    database = await openTestDatabase();
    redis = await startRedis();
    first = await start('api');
    [second, worker] = await Promise.all([start('api'), start('worker')]);
  });

  afterAll(async () => {
    for (const hub of [first, second, worker]) {
      await hub.stop();
      removeDataDir(hub.dataDir);
    }
    receiver.closeAllConnections();
    receiver.close();
    await redis.stop();
    await database.close();
  });

  it.each(['/api/sign-out', '/api/sign-out-everywhere'])(
    'end live subscriptions of a session that ended by %s at another',
    async (path) => {
      const browser = await person(path.replaceAll('/', '-').slice(1));
      const other = elsewhere(browser);
      expect((await other.graphql(VIEWER)).status).toBe(200);
      const socket = new WebSocket(`ws://127.0.0.1:${second.httpPort}/graphql`, 'graphql-transport-ws', {
        headers: other.headers,
      });
      await once(socket, 'open');
      socket.send('{"type":"connection_init"}');
      const [acknowledged] = (await once(socket, 'message')) as [Buffer];
      expect(acknowledged.toString()).toContain('connection_ack');
      socket.send(
        JSON.stringify({ type: 'subscribe', id: '1', payload: { query: 'subscription { eventAdded { cursor } }' } }),
      );
      const closed = once(socket, 'close') as Promise<[number]>;
      expect((await browser.post(path)).status).toBeLessThan(300);
      expect((await closed)[0]).toBe(4403);
      expect((await other.graphql(VIEWER)).status).toBe(401);
    },
  );

  it('deliver to webhooks what another of them has seen happen', async () => {
    const create = `mutation ($url: String!) {
        createWebhook(input: { url: $url, types: ["device.*"] }) { userErrors { message } }
      }`;
    await ask(first, create, { url: `${origin}/hook` });
    const register = `mutation {
        registerDevice(input: { deviceId: "02:00:00:00:0e:01", dialect: XIAOZHI }) { userErrors { message } }
      }`;
    await ask(second, register);
    await expect
      .poll(() => received, { timeout: 15_000 * PATIENCE })
      .toMatchObject([{ type: 'device.registered', deviceId: '02:00:00:00:0e:01' }]);
    // It is written down once the receiver has answered.
    const deliveries = async () => {
      const query = '{ webhooks { deliveries { delivered } } }';
      const { webhooks } = await ask<{ webhooks: { deliveries: { delivered: boolean }[] }[] }>(first, query);
      return webhooks[0]?.deliveries;
    };
    await expect.poll(deliveries, { timeout: 15_000 * PATIENCE }).toEqual([{ delivered: true }]);
    await expect
      .poll(() => metricsText(worker), { timeout: 15_000 * PATIENCE })
      .toMatch(/^flotilla_webhook_deliveries_total\{result="delivered"\} 1$/m);
    expect(await metricsText(first)).not.toContain('flotilla_webhook_deliveries_total');
  });
});
