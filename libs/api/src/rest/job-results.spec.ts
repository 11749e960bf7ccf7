import { randomUUID } from 'node:crypto';
import Fastify, { type FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Job } from '@flotilla/jobs';
import type { DeviceId, JobId } from '@flotilla/mcp';
import type { ApiKeys, JobReads, TargetRow } from '@flotilla/registry';
import { jobResultRoutes } from './job-results.js';
import { authenticate } from '../access/authentication.js';
import { CostBudget } from '../limits/cost-budget.js';
import { serveRest } from './rest-routes.js';

const JOB = randomUUID() as JobId;
const TARGETS = 200_000;
/** A second's work, for which a busy machine needs many. */
const MANY_WITHIN_MS = 60_000;

/** A job with many targets, whose rows are generated on read; the spec counts the pages. */
class ManyTargets {
  pagesRead = 0;

  find = async (id: string): Promise<Job | undefined> => (id === JOB ? ({ id: JOB } as Job) : undefined);

  targets: JobReads['targets'] = async (_ids, _filter, { first, after }) => {
    this.pagesRead += 1;
    const from = after === undefined ? 0 : Number(after);
    const count = Math.min(first, TARGETS - from);
    const rows = Array.from({ length: count }, (_, index) => targetOf(from + index));
    return [{ rows, cursors: rows.map((_, index) => String(from + index + 1)), hasNextPage: from + count < TARGETS }];
  };
}

function targetOf(index: number): TargetRow {
  const said = ['=HYPERLINK("http://evil.test","x")', 'a "b",\r\nc', 'true', 'two\nlines', 'a\rb'][index] ?? 'true';
  return {
    deviceId: `device-${String(index).padStart(6, '0')}` as DeviceId,
    wave: 1,
    state: 'DECIDED',
    outcome: 'SUCCEEDED',
    attempts: 1,
    late: false,
    decidedAt: 0,
    error: index === 2 ? { code: 'DEVICE_ERROR', message: '+1+cmd', rpcCode: -32_000 } : undefined,
    result: { content: [{ type: 'text', text: said }], isError: false },
    retryAt: undefined,
    verifyDeadlineAt: undefined,
    softDeadlineAt: undefined,
    baselineVersion: undefined,
  };
}

describe('the results of a job as a file', () => {
  let server: FastifyInstance;
  let base: string;
  const jobs = new ManyTargets();
  const apiKeys: ApiKeys = {
    authenticate: async (key) => ({
      kind: 'KEY',
      id: key,
      name: key,
      scopes: key === 'reader' ? ['JOBS_READ'] : ['DEVICES_READ'],
    }),
    ensureAdminKey: async () => undefined,
  } as Partial<ApiKeys> as ApiKeys;

  beforeAll(async () => {
    server = Fastify({ forceCloseConnections: true });
    serveRest(
      server,
      {
        callers: { ofRequest: async ({ headers }) => ({ viewer: await authenticate(apiKeys, headers.authorization) }) },
        budget: new CostBudget(1_000),
        requestCost: 1,
        keyCheckMs: 5_000,
      },
      jobResultRoutes(() => jobs),
    );
    base = await server.listen({ host: '127.0.0.1', port: 0 });
  });
  afterAll(() => server.close());

  const get = (path: string, key = 'reader', signal?: AbortSignal) =>
    fetch(`${base}${path}`, { headers: { authorization: `Bearer ${key}` }, ...(signal ? { signal } : {}) });

  it('are JSON Lines with every target, in little memory', { timeout: MANY_WITHIN_MS }, async () => {
    const before = process.memoryUsage().rss;
    const response = await get(`/api/jobs/${JOB}/results.jsonl`);
    expect(response.headers.get('content-type')).toContain('application/jsonl');
    let lines = 0;
    let first = '';
    for await (const chunk of response.body ?? []) {
      const text = Buffer.from(chunk).toString();
      if (first === '') first = text.slice(0, text.indexOf('\n'));
      lines += text.split('\n').length - 1;
    }
    expect(lines).toBe(TARGETS);
    expect(JSON.parse(first)).toMatchObject({
      deviceId: 'device-000000',
      outcome: 'SUCCEEDED',
      error: null,
      decidedAt: '1970-01-01T00:00:00.000Z',
    });
    expect(process.memoryUsage().rss - before).toBeLessThan(200 * 1024 * 1024);
  });

  it('are CSV with a head, and no cell is a formula', async () => {
    const abort = new AbortController();
    const response = await get(`/api/jobs/${JOB}/results.csv`, 'reader', abort.signal);
    const reader = response.body?.getReader();
    let text = '';
    while (text.split('\r\n').length < 8) text += Buffer.from((await reader?.read())?.value ?? []).toString();
    abort.abort();
    const lines = text.split('\r\n');
    expect(lines[0]).toBe('deviceId,wave,state,outcome,attempts,errorCode,errorMessage,rpcCode,late,decidedAt,result');
    expect(lines[1]).toContain(`"'=HYPERLINK(""http://evil.test"",""x"")"`);
    expect(`${lines[2]}\r\n${lines[3]}`).toContain('"a ""b"",\r\nc"');
    expect(lines[4]).toContain("DEVICE_ERROR,'+1+cmd,");
    expect(lines[5]).toMatch(/,"two\nlines"$/);
    expect(lines[6]).toMatch(/,"a\rb"$/);
    expect(text).not.toMatch(/(^|,|")[=+@]/m);
  });

  /** Waits until no more pages are read: a busy machine still reads after the client has gone. */
  async function pagesAtRest(): Promise<number> {
    let [former, looks] = [jobs.pagesRead, 0];
    await expect
      .poll(
        () => {
          looks = jobs.pagesRead === former ? looks + 1 : 0;
          former = jobs.pagesRead;
          return looks;
        },
        { interval: 50, timeout: 15_000 },
      )
      .toBeGreaterThanOrEqual(10);
    return former;
  }

  it(
    'are read no further than the client takes them, and not at all when it has gone',
    { timeout: MANY_WITHIN_MS },
    async () => {
      const before = await pagesAtRest();
      const abort = new AbortController();
      const response = await get(`/api/jobs/${JOB}/results.jsonl`, 'reader', abort.signal);
      await response.body?.getReader().read();
      const taken = await pagesAtRest();
      expect(taken - before).toBeGreaterThan(0);
      expect(taken - before).toBeLessThan(TARGETS / 1_000 / 2);
      abort.abort();
      expect(await pagesAtRest()).toBeLessThan(taken + 5);
    },
  );

  it('are not read for HEAD, which has no body', async () => {
    const before = await pagesAtRest();
    const headers = { authorization: 'Bearer reader' };
    const answer = await fetch(`${base}/api/jobs/${JOB}/results.csv`, { method: 'HEAD', headers });
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, expect.stringContaining('text/csv')]);
    expect(answer.headers.get('content-length')).toBeNull();
    expect((await pagesAtRest()) - before).toBe(0);
  });

  it('need the scope, and a job', async () => {
    expect((await get(`/api/jobs/${JOB}/results.csv`, 'stranger')).status).toBe(403);
    const missing = await get(`/api/jobs/${randomUUID()}/results.jsonl`);
    expect([missing.status, await missing.json()]).toEqual([404, { code: 'NOT_FOUND', message: expect.any(String) }]);
  });
});
