/**
 * Clients that disconnect during the look-up of their key, open requests of expired tokens, the
 * cost of batches, and pages.
 */
import { once } from 'node:events';
import { request } from 'node:http';
import type { AddressInfo } from 'node:net';
import Fastify, { type FastifyInstance } from 'fastify';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { EventFeed } from '@flotilla/bus';
import type { OpenCheck, Registry } from '@flotilla/registry';
import { directClient } from '../api-deps.js';
import { defaultApiLimits, type ApiLimits } from '../limits/api-limits.js';
import { CostBudget } from '../limits/cost-budget.js';
import { refusingFleet, silentLogger } from '../mount/api-stubs.suite.js';
import { AgentCallers } from '../oauth/agent-callers.js';
import type { Caller } from '../sign-in/callers.js';
import { McpServer } from './mcp-server.js';

const caller: Caller = { viewer: { kind: 'KEY', id: 'key', name: 'key', scopes: ['ADMIN'] } };
const headers = { authorization: 'Bearer key', accept: 'application/json, text/event-stream' };
/** How long the hub gathers changes for agents. */
const agentNotificationMs = 1_000;

let server: FastifyInstance;
let mcp: McpServer;
let url: string;
/** Resolves each look-up that was delayed. */
let lookUps: ((found: Caller) => void)[];
let isDelayed: boolean;
/** Responses whose connection has closed, as the hub sees it. */
let closed: number;
let fleetReads: number;
let announce: (topic: string) => void;
let isExpired: boolean;
/** Of tokens of open requests. */
let checks: OpenCheck[];
/** Calls that the hub is carrying out. */
let calls: number;
let limits: ApiLimits & { agentRequestsMax: number };

class ExpiringCallers extends AgentCallers {
  override isValid(_token: string, check: OpenCheck): Promise<boolean> {
    checks.push(check);
    return Promise.resolve(!isExpired || check === 'running');
  }
}

beforeEach(async () => {
  [lookUps, isDelayed, closed, fleetReads, isExpired, checks, calls] = [[], true, 0, 0, false, [], 0];
  limits = { ...defaultApiLimits, agentRequestsMax: 1, agentNotificationMs };
  const listeners = new Set<readonly [string, () => void]>();
  announce = (topic) => listeners.forEach(([of, listener]) => of === topic && listener());
  const subscribe = (topic: string, listener: () => void) => {
    const entry = [topic, listener] as const;
    listeners.add(entry);
    return () => void listeners.delete(entry);
  };
  const startCall = () => {
    calls += 1;
    return new Promise(() => undefined);
  };
  const devices = { page: startCall, count: async () => 0 };
  const readPolicies = async () => {
    fleetReads += 1;
    throw new Error('The spec has no fleet.');
  };
  const ofKeyIn = () => (isDelayed ? new Promise<Caller>((resolve) => lookUps.push(resolve)) : Promise.resolve(caller));
  mcp = new McpServer(
    {
      alerts: {} as never,
      fleet: refusingFleet,
      logger: silentLogger([]),
      clientOf: directClient,
      registry: { viewFor: () => ({ devices }), toolPolicies: { all: readPolicies } } as unknown as Registry,
      feed: { subscribe: subscribe as EventFeed['subscribe'] } as EventFeed,
      budget: new CostBudget(1_000),
      agents: new ExpiringCallers({
        callers: { ofKeyIn, counted: (_address, look) => look() },
        apiKeys: { authenticate: async () => caller.viewer },
        grants: { whoIs: () => Promise.reject(new Error('Only keys count in this spec.')) },
        addresses: undefined,
        clientOf: directClient,
      }),
    },
    limits,
  );
  server = Fastify();
  server.server.on('request', (_request, response) => response.once('close', () => (closed += 1)));
  mcp.mount(server);
  await server.listen({ host: '127.0.0.1', port: 0 });
  url = `http://127.0.0.1:${(server.server.address() as AddressInfo).port}/mcp`;
});
afterEach(async () => {
  vi.useRealTimers();
  await mcp.close();
  await server.close();
});

/** Sends a request, and disconnects during the look-up of its key. */
async function leaveDuringLookUp(method: 'GET' | 'POST'): Promise<void> {
  const leaving = request(url, { method, headers }).on('error', () => undefined);
  leaving.end();
  await expect.poll(() => lookUps.length).toBe(1);
  leaving.destroy();
  await expect.poll(() => closed).toBe(1);
  lookUps[0]?.(caller);
  isDelayed = false;
}

it.each(['GET', 'POST'] as const)('a %s that ends during the look-up of its key holds no slot', async (method) => {
  await leaveDuringLookUp(method);
  const stream = request(url, { headers }).end();
  const [response] = (await once(stream, 'response')) as [{ readonly statusCode: number }];
  expect(response.statusCode).toBe(200);
  stream.destroy();
  await expect.poll(() => closed).toBe(2);
});

it('a stream that ends during the look-up of its key leaves no listener', async () => {
  await leaveDuringLookUp('GET');
  await new Promise(setImmediate);
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  announce('device');
  await vi.advanceTimersByTimeAsync(agentNotificationMs);
  expect(fleetReads).toBe(0);
});

it('an expired token ends a stream and a request that still arrives, but not a call', async () => {
  isDelayed = false;
  limits.agentRequestsMax = 3;
  const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'find_devices', arguments: {} } };
  const open = (method: 'GET' | 'POST') => {
    const type = { 'content-type': 'application/json' };
    return request(url, { method, headers: { ...headers, ...type } }).on('error', () => undefined);
  };
  const [stream, arriving, running] = [open('GET'), open('POST'), open('POST')];
  stream.end();
  arriving.write('{');
  running.end(JSON.stringify(call));
  await once(stream, 'response');
  await expect.poll(() => calls).toBe(1);
  isExpired = true;
  const look = () => {
    announce('access');
    return [stream.closed, arriving.closed];
  };
  await expect.poll(look).toEqual([true, true]);
  checks = [];
  announce('access');
  await expect.poll(() => checks).toEqual(['running']);
  expect(closed).toBe(2);
  running.destroy();
});

it('each message of a batch costs as much as a request', async () => {
  isDelayed = false;
  const send = (messages: number) => {
    const body = Array.from({ length: messages }, (_, id) => ({ jsonrpc: '2.0', id, method: 'ping' }));
    const type = { 'content-type': 'application/json' };
    return fetch(url, { method: 'POST', headers: { ...headers, ...type }, body: JSON.stringify(body) });
  };
  const few = await send(3);
  expect([few.status, (await few.text()).match(/"result"/g)?.length]).toEqual([200, 3]);
  const many = await send(100);
  expect([many.status, await many.json()]).toMatchObject([429, { code: 'RATE_LIMITED' }]);
  expect(many.headers.get('retry-after')).toBe('1');
});

describe('a page', () => {
  const origin = 'http://localhost:6274';
  const preflight = (from: string) => {
    const asked = {
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization,mcp-name',
    };
    return fetch(url, { method: 'OPTIONS', headers: { origin: from, ...asked } });
  };

  it('of this machine may ask, and reads what MCP says in headers', async () => {
    isDelayed = false;
    const allowed = await preflight(origin);
    expect([allowed.status, Object.fromEntries(allowed.headers)]).toMatchObject([
      204,
      {
        'access-control-allow-origin': origin,
        'access-control-allow-methods': 'GET, POST, DELETE',
        'access-control-allow-headers': 'authorization,mcp-name',
        vary: 'origin',
      },
    ]);
    const answered = await fetch(url, {
      method: 'POST',
      headers: { ...headers, origin, 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' }),
    });
    expect([answered.status, answered.headers.get('access-control-allow-origin')]).toEqual([200, origin]);
    expect(answered.headers.get('access-control-expose-headers')).toContain('Mcp-Session-Id');
    expect(answered.headers.has('access-control-allow-credentials')).toBe(false);
  });

  it('reads why a request is refused', async () => {
    isDelayed = false;
    const refused = await fetch(`${url}?mode=other`, { method: 'POST', headers: { ...headers, origin } });
    expect([refused.status, refused.headers.get('access-control-allow-origin')]).toEqual([400, origin]);
    expect(refused.headers.get('access-control-expose-headers')).toContain('WWW-Authenticate');
  });

  it.each(['https://evil.example', 'null', 'http://localhost.evil.example'])('of %s is refused', async (from) => {
    for (const answer of [await preflight(from), await fetch(url, { headers: { ...headers, origin: from } })]) {
      expect(answer.status).toBe(403);
      expect(answer.headers.has('access-control-allow-origin')).toBe(false);
    }
  });
});
