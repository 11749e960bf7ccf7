/**
 * The audit trail from outside: a command verifies it next to a running hub, and its export has a
 * chain that can be computed with the key.
 */
import { execFile } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ask } from '../src/api/graphql-client.js';
import { makeDataDir, removeDataDir, startHub, type HubProcess } from '../src/hub/hub-process.js';
import { openTestDatabase, type TestDatabase } from '../src/hub/test-database.js';

interface Line {
  readonly sequence: number;
  readonly id: string;
  readonly at: string;
  readonly actor: string;
  readonly action: string;
  readonly subject: string;
  readonly data: unknown;
  readonly remoteAddress: string | null;
  readonly hash: string;
  readonly keyId: string;
}

const command = fileURLToPath(new URL('../../apps/hub/dist/program/audit-verify.js', import.meta.url));
const KEY = 'the-key-of-the-story-of-the-audit-trail';
const AUDIT_KEY = 'the-key-of-the-chain-of-the-audit-trail';
const dataDir = makeDataDir();
let database: TestDatabase;
let hub: HubProcess;

/** What the command says, and its exit code. */
function verify(
  env: Readonly<Record<string, string>>,
): Promise<{ readonly code: number; readonly verdict: unknown; readonly error: string }> {
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      [command],
      { env: { PATH: process.env['PATH'], ...env }, cwd: dataDir },
      (_, out, error) =>
        resolve({ code: child.exitCode ?? -1, verdict: out === '' ? undefined : JSON.parse(out), error }),
    );
  });
}

async function exported(
  query: string,
  key = KEY,
): Promise<{ readonly status: number; readonly lines: readonly Line[] }> {
  const response = await fetch(`${hub.httpUrl}/api/audit.jsonl${query}`, {
    headers: { authorization: `Bearer ${key}` },
  });
  const text = await response.text();
  return {
    status: response.status,
    lines: response.ok ? text.split('\n').flatMap((line) => (line === '' ? [] : (JSON.parse(line) as Line))) : [],
  };
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, member]) => [name, sorted(member)]),
  );
}

beforeAll(async () => {
  database = await openTestDatabase();
  hub = await startHub({
    dataDir,
    env: { DATABASE_URL: database.url, FLOTILLA_ADMIN_KEY: KEY, FLOTILLA_AUDIT_KEY: AUDIT_KEY },
  });
  for (let index = 0; index < 5; index += 1)
    await ask(
      hub,
      'mutation ($id: ID!) { registerDevice(input: { deviceId: $id, dialect: XIAOZHI }) { userErrors { message } } }',
      {
        id: `02:00:00:00:0b:0${index}`,
      },
    );
});

afterAll(async () => {
  await hub.stop();
  await database.close();
  removeDataDir(dataDir);
});

describe('the audit trail', () => {
  it('is exported with all that its hashes cover, for an admin and by time', async () => {
    const { lines } = await exported('');
    expect(lines.length).toBeGreaterThanOrEqual(5);
    let hash = '0'.repeat(64);
    for (const line of lines.toSorted((a, b) => a.sequence - b.sequence)) {
      const { sequence, id, at, actor, action, subject, data, remoteAddress } = line;
      const content = [hash, sequence, id, Date.parse(at), actor, action, subject, sorted(data), remoteAddress];
      hash = createHmac('sha256', AUDIT_KEY).update(JSON.stringify(content)).digest('hex');
      expect(hash).toBe(line.hash);
    }
    expect(lines[0]).toMatchObject({ action: 'audit.keyed', data: { keyId: lines[0]?.keyId } });
    expect(new Set(lines.map(({ keyId }) => keyId)).size).toBe(1);
    expect((await exported('?since=2100-01-01T00:00:00Z')).lines).toEqual([]);
    expect((await exported(`?until=${encodeURIComponent(new Date().toISOString())}`)).lines).toHaveLength(lines.length);
    expect((await exported('?since=yesterday')).status).toBe(400);
    expect((await exported('', 'unknown')).status).toBe(401);
  });

  it('is verified while the hub runs, and the first changed entry is named', async () => {
    const { lines } = await exported('');
    const env = { DATABASE_URL: database.url, FLOTILLA_AUDIT_KEY: AUDIT_KEY };
    const intact = await verify(env);
    expect(intact).toMatchObject({
      code: 0,
      verdict: { kind: 'intact', entries: lines.length, first: 1, last: lines.length, keyedFrom: 1 },
    });
    const other = await verify({ ...env, FLOTILLA_AUDIT_KEY: `${AUDIT_KEY}, another` });
    expect(other).toMatchObject({ code: 1, verdict: { reason: 'OTHER_KEY' } });
    const keyless = await verify({ DATABASE_URL: database.url, FLOTILLA_DATA_DIR: dataDir });
    expect(keyless).toMatchObject({ code: 2, error: expect.stringContaining('audit.key') });
    const client = new Client({ connectionString: database.url });
    await client.connect();
    await client.query(`UPDATE audit_entry SET actor = 'another name' WHERE sequence = 3`);
    await client.end();
    const broken = await verify(env);
    expect(broken).toMatchObject({
      code: 1,
      verdict: { kind: 'broken', sequence: 3, reason: 'CHANGED' },
      error: expect.stringContaining('entry 3'),
    });
  });

  it('of the embedded server is verified with and without the hub, and a missing one is not created', async () => {
    expect(await verify({ FLOTILLA_DATA_DIR: dataDir })).toMatchObject({
      code: 2,
      error: expect.stringContaining('There is no database of a hub'),
    });
    const embedded = await startHub({ embedded: true });
    try {
      await ask(
        embedded,
        `mutation { registerDevice(input: { deviceId: "02:00:00:00:0b:09", dialect: XIAOZHI }) {
          userErrors { message } } }`,
      );
      const env = { FLOTILLA_DATA_DIR: embedded.dataDir };
      expect(await verify(env)).toMatchObject({ code: 0, verdict: { kind: 'intact', first: 1 } });
      await embedded.stop();
      expect(await verify(env)).toMatchObject({ code: 0, verdict: { kind: 'intact', first: 1 } });
    } finally {
      await embedded.stop();
      removeDataDir(embedded.dataDir);
    }
  });
});
