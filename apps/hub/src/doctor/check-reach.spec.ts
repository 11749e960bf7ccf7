import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { checkReach } from './check-reach.js';
import { contextOf, problemsOf } from './doctor-fixture.suite.js';
import { ok } from './finding.js';

describe('the addresses that devices receive', () => {
  it('are reported as unreachable with the reason', async () => {
    const env = { FLOTILLA_PUBLIC_URL: 'http://127.0.0.1:9', FLOTILLA_PUBLIC_MQTT: '127.0.0.1:9' };
    const problems = problemsOf(await checkReach(contextOf(env, { isAnswering: true })));
    expect(problems).toEqual([
      expect.stringContaining('http://127.0.0.1:9/ota/ cannot be reached'),
      expect.stringContaining('a WebSocket connection fails'),
      expect.stringContaining('127.0.0.1:9 cannot be reached'),
    ]);
  });

  it('may be below a path, also for WebSocket connections', async () => {
    const asked: string[] = [];
    const server = createServer((_, response) => response.writeHead(404).end());
    server.on('upgrade', ({ url = '' }, socket) => {
      asked.push(url);
      socket.end('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n');
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => void server.close());
    const env = { FLOTILLA_PUBLIC_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}/fleet/` };
    const findings = await checkReach(contextOf(env, { isAnswering: true }));
    expect(findings).toContainEqual(ok('proxy', 'WebSocket connections reach the hub'));
    expect(asked).toEqual(['/fleet/graphql']);
  });

  it('are not looked for in a process without the role gateway, unless they are public', async () => {
    const env = {
      FLOTILLA_ROLES: 'worker',
      FLOTILLA_AUDIT_KEY: 'a'.repeat(32),
      FLOTILLA_HTTP_PORT: '9',
      DATABASE_URL: 'postgres://127.0.0.1:9/hub',
      REDIS_URL: 'redis://127.0.0.1:9',
    };
    for (const isAnswering of [true, false])
      expect(JSON.stringify(await checkReach(contextOf(env, { isAnswering })))).not.toContain('/ota/');
    const isPublic = { ...env, FLOTILLA_PUBLIC_URL: 'http://127.0.0.1:9' };
    expect(problemsOf(await checkReach(contextOf(isPublic, { isAnswering: true })))).toContainEqual(
      expect.stringContaining('http://127.0.0.1:9/ota/ cannot be reached'),
    );
  });

  it('lead to a proxy that must be trusted', async () => {
    const env = { FLOTILLA_PUBLIC_URL: 'https://hub.example.net' };
    expect(await checkReach(contextOf(env))).toContainEqual(
      expect.objectContaining({
        check: 'proxy',
        status: 'warning',
        advice: expect.stringContaining('TRUSTED_PROXIES'),
      }),
    );
    const trusted = { ...env, FLOTILLA_TRUSTED_PROXIES: '10.0.0.7' };
    expect(problemsOf(await checkReach(contextOf(trusted)))).toEqual([]);
  });
});

describe('a former server', () => {
  /** Answers by the end of the path, `/` and `/activate`. */
  async function serve(...answers: readonly (readonly [end: string, status: number, body: string])[]) {
    const server = createServer(({ url = '' }, response) => {
      const [, status, body] = answers.find(([end]) => url.endsWith(end)) ?? ['', 404, ''];
      response.writeHead(status).end(body);
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => void server.close());
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }
  const hubs = ['/activate', 202, '{"success":false}'] as const;
  const findingsOf = (hub: string, upstream: string) =>
    checkReach(contextOf({ FLOTILLA_PUBLIC_URL: hub, FLOTILLA_OTA_UPSTREAM: upstream }, { isAnswering: true }));

  it('answers requests without a device id, so the hub is found by another one', async () => {
    const hub = await serve(hubs, ['/', 200, 'OTA works']);
    const upstream = await serve(['/activate', 202, ''], ['/ota/', 200, 'OTA works']);
    const findings = await findingsOf(hub, `${upstream}/xiaozhi/ota`);
    expect(findings).toContainEqual(ok('OTA address', `${hub}/ota/activate reaches the hub from this machine`));
    expect(findings).toContainEqual(ok('former server', `${upstream}/xiaozhi/ota/ answers 200`));
    expect(problemsOf(await findingsOf(upstream, upstream))).toContain(
      `${upstream}/ota/activate answers 202, and not as the hub`,
    );
  });

  it('is a problem when it is down, fails or is the hub', async () => {
    const hub = await serve(hubs);
    const failing = await serve(['/ota/', 502, 'Bad gateway']);
    expect(problemsOf(await findingsOf(hub, `${failing}/ota/`))).toContain(`${failing}/ota/ answers 502`);
    expect(problemsOf(await findingsOf(hub, `${hub}/ota/`))).toContain(`${hub}/ota/ leads to a hub`);
    expect(problemsOf(await findingsOf(hub, 'http://127.0.0.1:9/ota/'))).toContainEqual(
      expect.stringContaining('http://127.0.0.1:9/ota/ cannot be reached'),
    );
  });
});
