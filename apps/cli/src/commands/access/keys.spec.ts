import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCommand } from '../../run-command.suite.js';
import { startSchemaHub, type SchemaHub } from '../../schema-hub.suite.js';

const past = '2026-01-01T00:00:00.000Z';
const future = '2999-01-01T00:00:00.000Z';

let hub: SchemaHub;
beforeAll(async () => {
  hub = await startSchemaHub({
    'Query.apiKeys': () => [
      { name: 'endless', revokedAt: null, expiresAt: null },
      { name: 'limited', revokedAt: null, expiresAt: future },
      { name: 'old', revokedAt: null, expiresAt: past },
      { name: 'gone', revokedAt: past, expiresAt: future },
    ],
  });
});
afterAll(() => hub.close());

describe('a list of keys', () => {
  it('marks those that are expired or revoked', async () => {
    const { stdout } = await runCommand(hub, ['keys', '--columns', 'name,state', '-o', 'csv']);
    expect(stdout).toBe('name,state\nendless,valid\nlimited,valid\nold,expired\ngone,revoked\n');
  });

  it('has the time of the revocation for programs', async () => {
    const { stdout } = await runCommand(hub, ['keys', '-o', 'json']);
    expect((JSON.parse(stdout) as { revokedAt: string | null }[]).at(-1)?.revokedAt).toBe(past);
  });
});

describe('a new key', () => {
  it('is not one for the whole fleet because its filter is empty', async () => {
    hub.restart('');
    const { code } = await runCommand(hub, ['keys', 'create', 'Lobby', '--scope', 'JOBS_READ', '--filter', '{}']);
    expect([code, hub.restart('')]).toEqual([1, []]);
  });

  it('prints its secret, which is shown once, also with a column that does not exist', async () => {
    const line = ['keys', 'create', 'x', '--scope', 'ADMIN', '--columns', 'id,secrets', '--json'];
    const { code, stdout, stderr } = await runCommand(hub, line);
    expect([code, JSON.parse(stdout)]).toEqual([0, expect.objectContaining({ secret: 'text' })]);
    expect(stderr).toContain('There is no column "secrets". The columns are ');
  });

  it('is not created where its output has two formats', async () => {
    hub.restart('');
    const { code } = await runCommand(hub, ['keys', 'create', 'x', '--scope', 'ADMIN', '--json', '-o', 'csv']);
    expect([code, hub.restart('')]).toEqual([1, []]);
  });
});
