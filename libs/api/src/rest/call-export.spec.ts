import { randomUUID } from 'node:crypto';
import Fastify, { type FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { DeviceId } from '@flotilla/mcp';
import type { CallRow, CallStore, Principal } from '@flotilla/registry';
import { CostBudget } from '../limits/cost-budget.js';
import { callExports } from './call-export.js';
import { serveRest } from './rest-routes.js';

const viewer: Principal = { kind: 'KEY', id: 'reader', name: 'reader', scopes: ['DEVICES_READ'] };
const CALLS = 2_500;

function callOf(index: number): CallRow {
  return {
    id: randomUUID(),
    deviceId: `device-${String(index)}` as DeviceId,
    tool: 'self.reboot',
    arguments: { token: 'secret' },
    outcome: 'FAILED',
    result: undefined,
    startedAt: 0,
    durationMs: 12.5,
    error: { code: 'DEVICE_ERROR', message: '=1+1' },
    actor: 'ana',
    jobId: undefined,
  };
}

describe('calls as a file', () => {
  let server: FastifyInstance;
  let base: string;
  let asked: Parameters<CallStore['page']>[0] = {};

  beforeAll(async () => {
    server = Fastify({ forceCloseConnections: true });
    const page: CallStore['page'] = async (filter, { first, after }) => {
      asked = filter;
      const from = Number(after ?? 0);
      const rows = Array.from({ length: Math.min(first, CALLS - from) }, (_, index) => callOf(from + index));
      return { rows, cursors: rows.map((_, index) => String(from + index + 1)), hasNextPage: from + first < CALLS };
    };
    const callers = { ofRequest: async () => ({ viewer }) };
    serveRest(
      server,
      { callers, budget: new CostBudget(1_000), requestCost: 1, keyCheckMs: 5_000 },
      callExports(() => ({ page })),
    );
    base = await server.listen({ host: '127.0.0.1', port: 0 });
  });
  afterAll(() => server.close());

  it('are CSV over all pages, without arguments, and no cell is a formula', async () => {
    const lines = (await (await fetch(`${base}/api/calls.csv`)).text()).trimEnd().split('\r\n');
    expect(lines).toHaveLength(CALLS + 1);
    expect(lines[0]).toBe(
      'startedAt,deviceId,tool,outcome,errorCode,errorMessage,rpcCode,durationMs,actor,jobId,result',
    );
    expect(lines[1]).toBe("1970-01-01T00:00:00.000Z,device-0,self.reboot,FAILED,DEVICE_ERROR,'=1+1,,12.5,ana,,");
    expect(lines.join('')).not.toContain('secret');
    expect(asked).toEqual({});
  });

  it('are those of the filter, as lines of JSON', async () => {
    const query = 'tool=self.reboot&deviceId=lamp&outcome=FAILED&outcome=UNKNOWN&since=1970-01-02T00:00:00Z';
    const [first = ''] = (await (await fetch(`${base}/api/calls.jsonl?${query}`)).text()).split('\n');
    expect(JSON.parse(first)).toMatchObject({ deviceId: 'device-0', outcome: 'FAILED', result: null, jobId: null });
    expect(asked).toEqual({
      tool: 'self.reboot',
      deviceId: 'lamp',
      outcomes: ['FAILED', 'UNKNOWN'],
      since: 86_400_000,
    });
  });

  it.each([
    ['outcome=BROKEN', /outcome.* is one of SUCCEEDED/],
    ['since=yesterday', /since.* is a time with a zone, such as/],
    ['since=last%207', /since.* is a time/],
    ['since=7', /since.* is a time/],
    ['since=2026-01-31T00:00:00', /since.* is a time with a zone/],
    ['until=2026-02-31T00:00:00Z', /until.* is a time/],
    ['devices=all', /no parameter "devices"/],
    ['tool=a&tool=b', /tool.* once/],
  ])('refuse %s', async (query, message) => {
    const answer = await fetch(`${base}/api/calls.csv?${query}`);
    expect([answer.status, await answer.json()]).toEqual([
      400,
      { code: 'BAD_USER_INPUT', message: expect.stringMatching(message) },
    ]);
  });
});
