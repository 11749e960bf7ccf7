/** What the command line changes besides jobs and firmware, against the built hub. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { environmentFor, flotillaBin, jsonLines } from '../src/api/command-line.js';
import { lampOn, startCommandLineStory, type CommandLineStory } from '../src/client/command-line-story.js';

let story: CommandLineStory;
let lamp: string;
let run: CommandLineStory['run'];

beforeAll(async () => {
  story = await startCommandLineStory();
  ({ lamp, run } = story);
});

afterAll(async () => expect(await story.end()).toBe(0));

/** Runs a command that succeeds, and returns the first thing that it prints. */
async function done<Thing extends object>(...args: readonly string[]): Promise<Thing> {
  const outcome = await run([...args, '--json']);
  expect([args, outcome.code, outcome.stderr]).toEqual([args, 0, '']);
  return jsonLines<Thing>(outcome)[0] as Thing;
}

interface Made {
  readonly id: string;
}

describe('devices', () => {
  it('are registered, edited, tagged, given new credentials and removed', async () => {
    const added = await done('devices', 'add', 'greenhouse-8', '--dialect', 'MCPU', '--transport', 'WEBSOCKET');
    expect(added).toMatchObject({ id: 'greenhouse-8', transport: 'WEBSOCKET', credential: expect.any(Object) });
    expect(await done('devices', 'edit', 'greenhouse-8', '--name', 'Greenhouse', '--tag', 'north')).toMatchObject({
      name: 'Greenhouse',
      tags: ['north'],
    });
    expect(await done('devices', 'tag', '--add', 'wet', '--remove', 'north', '--device', 'greenhouse-8')).toEqual({
      changedCount: 1,
    });
    expect((await run(['devices', '--tag', 'wet', '--output', 'csv', '--columns', 'id,name,tags'])).stdout).toBe(
      'id,name,tags\ngreenhouse-8,Greenhouse,wet\n',
    );
    const unconfirmed = await run(['devices', 'remove', 'greenhouse-8']);
    expect(unconfirmed).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('--yes') });
    expect(await done('devices', 'rotate', 'greenhouse-8', '--yes')).toMatchObject({ credential: expect.any(Object) });
    expect(await done('devices', 'remove', 'greenhouse-8', '--yes')).toEqual({ removedId: 'greenhouse-8' });
    expect(await done('devices', 'refresh-tools', lamp)).toMatchObject({ tools: expect.arrayContaining([lampOn]) });
  });
});

describe('settings of a fleet', () => {
  it('groups keep what an edit does not name', async () => {
    const { id } = await done<Made>('groups', 'create', 'Lamps', '--tag', 'lamp', '--time-zone', 'Europe/Berlin');
    expect(await done('groups', 'edit', id, '--name', 'All lamps')).toMatchObject({
      name: 'All lamps',
      filter: { tags: ['lamp'] },
      timeZone: 'Europe/Berlin',
    });
    expect(await done('groups', 'edit', id, '--time-zone', '', '--online')).toMatchObject({
      name: 'All lamps',
      filter: { presence: 'ONLINE' },
      timeZone: null,
    });
    expect((await run(['groups'])).stdout).toMatch(/All lamps +\d/);
    expect(await done('groups', 'delete', id, '--yes')).toEqual({ deletedId: id });
  });

  it('policies keep what a change does not name', async () => {
    const set = (...options: readonly string[]) => done('policies', 'set', 'self.lamp.*', ...options);
    expect(await set('--idempotent', '--timeout', '10')).toMatchObject({ idempotent: true, callTimeoutMs: 10_000 });
    expect(await set('--disruptive')).toMatchObject({ idempotent: true, disruptive: true, callTimeoutMs: 10_000 });
    expect(await run(['call', lamp, lampOn])).toMatchObject({ code: 1, stderr: expect.stringContaining('--yes') });
    await done('policies', 'delete', 'self.lamp.*', '--yes');
    expect((await run(['call', lamp, lampOn])).code).toBe(0);
  });

  it('webhooks are created, edited, listed with their deliveries, and deleted', async () => {
    const { id, ...made } = await done<Made>('webhooks', 'create', 'https://example.com/hook', '--type', 'job.*');
    expect(made).toMatchObject({ secret: expect.any(String) });
    expect(await done('webhooks', 'edit', id, '--type', 'device.*', '--no-enabled')).toMatchObject({
      url: 'https://example.com/hook',
      types: ['device.*'],
      enabled: false,
    });
    expect(await done('webhooks', 'edit', id, '--type', 'job.*')).toMatchObject({ types: ['job.*'], enabled: false });
    expect(await run(['webhooks', 'deliveries', id])).toMatchObject({ code: 0, stderr: 'Nothing found.\n' });
    expect((await run(['webhooks', 'redeliver', id])).code).toBe(2);
    await done('webhooks', 'delete', id, '--yes');
  });

  it('enrolment links are listed and revoked', async () => {
    const { id } = await done<Made>('enrol', 'link', '--name', 'Pallet 7', '--max-devices', '3');
    expect((await run(['enrol', 'links'])).stdout).toMatch(/Pallet 7 +open +0\/3 +in 1d/);
    await done('enrol', 'links', 'revoke', id, '--yes');
    expect((await run(['enrol', 'links'])).stdout).toMatch(/Pallet 7 +revoked/);
    expect((await run(['enrol', 'reject', 'unknown'])).stderr).toContain('NOT_FOUND');
  });
});

describe('people', () => {
  it('are created with a password from standard input, edited, and found in the audit trail', async () => {
    const created = await run(
      ['users', 'create', 'Ada', '--role', 'VIEWER', '--email', 'ada@example.org', '--password', '--json'],
      {
        input: 'correct horse battery\n',
      },
    );
    expect([created.code, created.stderr]).toEqual([0, '']);
    const [user] = jsonLines<Made>(created);
    const id = user?.id ?? '';
    expect(await done('users', 'edit', id, '--email', 'ada@example.com')).toMatchObject({
      name: 'Ada',
      role: 'VIEWER',
      email: 'ada@example.com',
    });
    expect(await done('users', 'disable', id)).toMatchObject({ disabledAt: expect.any(String), role: 'VIEWER' });
    expect(await done('users', 'edit', id, '--role', 'OPERATOR')).toMatchObject({
      role: 'OPERATOR',
      disabledAt: expect.any(String),
      email: 'ada@example.com',
    });
    expect(await done('users', 'enable', id)).toMatchObject({ disabledAt: null });
    const trail = await run(['audit', '--subject', `user:${id}`, '--since', '1h', '--json', '--columns', 'action']);
    expect(jsonLines(trail).length).toBeGreaterThanOrEqual(5);
    expect((await run(['users', 'create', 'Eve', '--role', 'VIEWER', '--password'])).stderr).toContain(
      'Nothing was entered.',
    );
  });
});

describe('a job', () => {
  it('is paused, continued and run again by its outcome', async () => {
    const { id } = await done<Made>('jobs', 'create', lampOn, '--all', '--per-minute', '1');
    expect((await run(['jobs', 'open-wave', id])).code).toBe(2);
    expect(await done('jobs', 'pause', id)).toMatchObject({ state: 'PAUSED' });
    expect((await run(['jobs', 'show', id])).stdout).toMatch(/state +PAUSED \(USER\)/);
    expect(await done('jobs', 'resume', id)).toMatchObject({ id });
    expect((await run(['jobs', 'approve', id])).code).toBe(2);
    expect((await run(['jobs', 'cancel', id, '--force'])).code).toBe(0);
    const ended = await run(['jobs', 'follow', id]);
    expect([ended.code, ended.stdout]).toEqual([3, expect.stringContaining('CANCELLED')]);
    expect((await run(['jobs', 'results', id, '-o', 'table'])).stdout).toMatch(/CANCELLED/);
    const again = await done<Made>('jobs', 'rerun', id, '--outcome', 'CANCELLED', '--outcome', 'SUCCEEDED');
    expect(again.id).not.toBe(id);
    await done('jobs', 'cancel', again.id);
    expect((await run(['firmware', 'revert', id])).code).toBe(1);
  });
});

describe('a watched list', () => {
  it('prints what changes until Ctrl-C', async () => {
    const child = spawn(
      process.execPath,
      [flotillaBin, 'devices', '--watch', '--every', '0.2', '--json', '--columns', 'id'],
      {
        env: environmentFor(story.hub),
      },
    );
    const closed = once(child, 'close');
    const lines: string[] = [];
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      lines.push(...text.trim().split('\n'));
      if (lines.some((line) => line.includes('late'))) child.kill('SIGINT');
    });
    await once(child.stdout, 'data');
    await done('devices', 'add', 'late', '--dialect', 'MCPU', '--transport', 'MQTT');
    const [code] = (await closed) as [number | null];
    expect([code, lines.filter((line) => line === '{"id":"late"}')]).toEqual([130, ['{"id":"late"}']]);
    await done('devices', 'remove', 'late', '--yes');
  });
});
