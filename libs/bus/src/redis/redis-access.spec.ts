import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { inspect } from 'node:util';
import type { HubProcessId, JobId } from '@flotilla/mcp';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Bus } from '../bus.js';
import { openRedisBus } from '../redis-bus.js';
import { isRedisInstalled, RedisServer } from './redis-server.suite.js';
import type { RedisAccess } from './redis-server.suite.js';

/** The rights that docs/operations.md documents for the hub's user. */
const RULES = '~flotilla:* &flotilla:* +@all -@admin -@dangerous +info';
const PASSWORD = 'corréct:horse@battery/9f3b';
const encoded = encodeURIComponent(PASSWORD);

describe.skipIf(!isRedisInstalled())('a Redis with access control', () => {
  let folder: string;
  let server: RedisServer | undefined;
  /** Everything that was logged or thrown, with all nested values. */
  let said = '';
  const note = (...parts: unknown[]): void => void (said += `${inspect(parts, { depth: 10 })}\n`);
  const logger = { warn: note, error: note };
  const buses: Bus[] = [];
  const file = (name: string): string => path.join(folder, name);

  beforeAll(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'flotilla-redis-'));
    writeFileSync(
      file('users.acl'),
      `user default off\nuser hub on >${PASSWORD} ${RULES}\nuser guest on >guest ~* &* +ping\n`,
    );
    for (const name of ['redis', 'other']) makeCertificate(name);
  });
  afterEach(async () => {
    for (const bus of buses.splice(0)) await bus.close();
    await server?.stop();
    expect(said).not.toContain(PASSWORD);
    expect(said).not.toContain(encoded);
    said = '';
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  function makeCertificate(name: string): void {
    const subject = ['-subj', '/CN=redis', '-addext', 'subjectAltName=IP:127.0.0.1', '-days', '2', '-nodes'];
    const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1'];
    const files = ['-keyout', file(`${name}.key`), '-out', file(`${name}.pem`)];
    execFileSync('openssl', ['req', '-x509', ...curve, ...subject, ...files], { stdio: 'ignore' });
  }

  async function open(redisUrl: string, redisCa?: string): Promise<Bus> {
    const bus = await openRedisBus({ redisUrl, redisCa, secret: 'of the hub', logger });
    buses.push(bus);
    return bus;
  }

  /** The message that an operator reads. */
  async function refusal(redisUrl: string, redisCa?: string): Promise<string> {
    try {
      await open(redisUrl, redisCa);
    } catch (error) {
      note(error);
      expect(error).toMatchObject({ name: 'BusError', code: 'BUS_UNAVAILABLE' });
      return (error as Error).message;
    }
    throw new TypeError('The bus was opened.');
  }

  /** All four parts between two processes, with the rights of this user. */
  async function expectWorking(redisUrl: string, redisCa?: string): Promise<void> {
    const [here, there] = [await open(redisUrl, redisCa), await open(redisUrl, redisCa)];
    const gatewayId = 'g' as HubProcessId;
    const end = await there.calls.serve(gatewayId, {
      enqueue: () => undefined,
      refreshTools: () => true,
      disconnect: () => false,
    });
    expect(await here.calls.refreshTools(gatewayId, 'd' as never)).toBe(true);
    await there.directory.put({ deviceId: 'd' as never, gatewayId, epoch: 1, toolSetHash: undefined });
    expect(await here.directory.lookup('d' as never)).toMatchObject({ gatewayId });
    const heard = new Promise((resolve) => there.feed.subscribe('job', resolve));
    here.feed.publish('job', { jobId: 'j' as JobId });
    expect(await heard).toEqual({ jobId: 'j' });
    const worked = new Promise((resolve) => void there.ticks.work((tick) => Promise.resolve(resolve(tick)), 1));
    await here.ticks.repeat({ kind: 'sweep' }, 100);
    expect(await worked).toEqual({ kind: 'sweep' });
    expect(here.isReachable).toBe(true);
    await end();
  }

  const withPassword = (): RedisAccess => ({ args: ['--requirepass', PASSWORD], credentials: `:${encoded}` });
  const withUsers = (): RedisAccess => ({ args: ['--aclfile', file('users.acl')], credentials: `hub:${encoded}` });
  const overTls = (): RedisAccess => ({ ...withPassword(), tls: { cert: file('redis.pem'), key: file('redis.key') } });

  it.each([
    ['a password', withPassword],
    ['a user with the documented rights', withUsers],
  ])('serves a hub with %s', async (_what, access) => {
    server = await RedisServer.start(access());
    await expectWorking(server.url);
  });

  it('serves a hub over TLS that knows its authority, and no other', async () => {
    server = await RedisServer.start(overTls());
    await expectWorking(server.url, readFileSync(file('redis.pem'), 'utf8'));
    const advice = /self-signed certificate.*FLOTILLA_REDIS_CA/;
    expect(await refusal(server.url)).toMatch(advice);
    expect(await refusal(server.url, readFileSync(file('other.pem'), 'utf8'))).toMatch(/certificate|signature/);
  });

  it('serves a hub over TLS with Sentinels, and survives one that it does not trust', async () => {
    server = await RedisServer.start(overTls());
    const sentinel = await RedisServer.startSentinel('fleet', server);
    const url = `rediss-sentinel://:${encoded}@127.0.0.1:${sentinel.port}?sentinelMasterId=fleet`;
    await expectWorking(url, readFileSync(file('redis.pem'), 'utf8'));
    expect(await refusal(url)).toMatch(/self-signed certificate.*FLOTILLA_REDIS_CA/);
    await sentinel.stop();
  });

  it('serves a hub over TLS in a cluster, and survives a node that it does not trust', async () => {
    server = await RedisServer.startCluster(overTls());
    const url = `rediss-cluster://:${encoded}@127.0.0.1:${server.port}`;
    await expectWorking(url, readFileSync(file('redis.pem'), 'utf8'));
    expect(await refusal(url)).toMatch(/self-signed certificate.*FLOTILLA_REDIS_CA/);
  });

  it.each([
    ['no password', undefined, 'NOAUTH'],
    ['a wrong password', ':wrong-password', 'WRONGPASS'],
    ['an unknown user', `unknown:${encoded}`, 'WRONGPASS'],
  ])('advises a hub with %s to correct REDIS_URL', async (_what, credentials, reason) => {
    server = await RedisServer.start(withPassword());
    const message = await refusal(server.urlWith(credentials));
    expect(message).toContain(reason);
    expect(message).toContain('in REDIS_URL');
    expect(message).not.toContain('wrong-password');
    expect(said).not.toContain('wrong-password');
  });

  it('reports the rejected command to a hub whose user has too few rights', async () => {
    server = await RedisServer.start(withUsers());
    expect(await refusal(server.urlWith('guest:guest'))).toMatch(/NOPERM/);
  });
});
