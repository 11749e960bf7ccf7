/** Clients that disconnect while the hub still looks up their key. */
import { once } from 'node:events';
import { request } from 'node:http';
import type { AddressInfo } from 'node:net';
import Fastify, { type FastifyInstance } from 'fastify';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { EventFeed } from '@flotilla/bus';
import type { Registry } from '@flotilla/registry';
import { directClient } from '../api-deps.js';
import { defaultApiLimits } from '../limits/api-limits.js';
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
let announce: () => void;

beforeEach(async () => {
  [lookUps, isDelayed, closed, fleetReads] = [[], true, 0, 0];
  const listeners = new Set<() => void>();
  announce = () => listeners.forEach((listener) => listener());
  const subscribe = (topic: string, listener: () => void) => {
    if (topic === 'device') listeners.add(listener);
    return () => void listeners.delete(listener);
  };
  const readPolicies = async () => {
    fleetReads += 1;
    throw new Error('The spec has no fleet.');
  };
  const ofKeyIn = () => (isDelayed ? new Promise<Caller>((resolve) => lookUps.push(resolve)) : Promise.resolve(caller));
  mcp = new McpServer(
    {
      ...{ alerts: {} as never, fleet: refusingFleet, logger: silentLogger([]), clientOf: directClient },
      registry: { viewFor: () => ({}), toolPolicies: { all: readPolicies } } as unknown as Registry,
      feed: { subscribe: subscribe as EventFeed['subscribe'] } as EventFeed,
      budget: new CostBudget(1_000),
      agents: new AgentCallers({
        callers: { ofKeyIn, counted: (_address, look) => look() },
        apiKeys: { authenticate: async () => caller.viewer },
        grants: { whoIs: () => Promise.reject(new Error('Only keys count in this spec.')) },
        addresses: undefined,
        clientOf: directClient,
      }),
    },
    { ...defaultApiLimits, agentRequestsMax: 1, agentNotificationMs },
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
  announce();
  await vi.advanceTimersByTimeAsync(agentNotificationMs);
  expect(fleetReads).toBe(0);
});
