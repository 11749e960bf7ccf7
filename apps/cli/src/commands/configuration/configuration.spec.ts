import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCommand } from '../../run-command.suite.js';
import { startSchemaHub, type SchemaHub } from '../../schema-hub.suite.js';

let hub: SchemaHub;
let file: string;
beforeAll(async () => {
  hub = await startSchemaHub();
  file = path.join(mkdtempSync(path.join(tmpdir(), 'flotilla-plan-')), 'flotilla.yaml');
  writeFileSync(file, 'flotilla: 1\nDeviceGroup: { Lobby: { filter: {} }, Bar: { filter: {} } }\n');
});
afterAll(async () => {
  rmSync(path.dirname(file), { recursive: true });
  await hub.close();
});

describe('the changes of a plan', () => {
  const changes = ['Bar', 'Lobby'].map((name) => ({ kind: 'DeviceGroup', name, action: 'create' }));

  it.each([['plan'], ['apply', '--yes']])('are one JSON array: %s', async (command, ...options) => {
    const { stdout } = await runCommand(hub, [command, file, ...options, '-o', 'json']);
    expect(JSON.parse(stdout)).toMatchObject(changes);
  });

  it('are one line of JSON each with --json', async () => {
    const { stdout } = await runCommand(hub, ['plan', file, '--json']);
    const lines = stdout.trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line) as unknown)).toMatchObject(changes);
  });

  it('have their columns as CSV', async () => {
    const { stdout } = await runCommand(hub, ['plan', file, '-o', 'csv', '--columns', 'name,action']);
    expect(stdout).toBe('name,action\nBar,create\nLobby,create\n');
  });
});

describe('an export', () => {
  it('to a dash is one to standard output', async () => {
    const { stdout } = await runCommand(hub, ['export', '-', '--schema']);
    expect(JSON.parse(stdout)).toHaveProperty('$schema');
  });

  it('says why its file cannot be written', async () => {
    const { code, problem } = await runCommand(hub, ['export', path.dirname(file)]);
    expect(code).toBe(1);
    expect(problem).toMatch(
      /^UsageError: .*flotilla-plan-\w+ cannot be written: EISDIR.* Check its folder and rights\.$/,
    );
  });
});
