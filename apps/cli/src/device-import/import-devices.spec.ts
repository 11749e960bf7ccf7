import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { FlotillaClient } from '@flotilla/client';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { captured } from '../console/captured-output.suite.js';
import { importDevices, type ImportArguments } from './import-devices.js';

interface Sent {
  readonly deviceId: string;
  readonly admitWithoutCodeUntil?: string;
}

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'flotilla-import-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Imports a file with a hub that registers each batch, except those with a device `known`. */
async function imported(
  lines: readonly string[],
  options: Omit<ImportArguments, 'file'> = {},
  write?: (text: unknown, done: (error?: Error) => void) => void,
) {
  const file = path.join(folder, 'devices.csv');
  writeFileSync(file, ['deviceId,clientId', ...lines].join('\n'));
  const batches: (readonly Sent[])[] = [];
  const answer = (input: readonly Sent[]) => {
    if (input[0]?.deviceId === 'unreadable') return { devices: [], credentials: [{ password: 'p' }], userErrors: [] };
    const known = input.findIndex(({ deviceId }) => deviceId === 'known');
    return known >= 0
      ? {
          devices: [],
          credentials: [],
          userErrors: [{ code: 'CONFLICT', message: 'It is known.', path: ['input', `${known}`, 'deviceId'] }],
        }
      : { devices: input.map(({ deviceId }) => ({ id: deviceId })), credentials: [], userErrors: [] };
  };
  const fetch = (_url: unknown, init?: RequestInit) => {
    const { query, variables } = JSON.parse(init?.body as string) as {
      readonly query: string;
      readonly variables: { readonly input: readonly Sent[] };
    };
    const { input } = variables;
    if (query.includes('previewRegistration'))
      return Promise.resolve(Response.json({ data: { previewRegistration: { problems: answer(input).userErrors } } }));
    batches.push(input);
    return Promise.resolve(Response.json({ data: { registerDevices: answer(input) } }));
  };
  const client = new FlotillaClient({ url: 'http://hub.example', apiKey: 'k', fetch });
  const { result, stdout, stderr } = await captured(() => {
    if (write !== undefined) vi.spyOn(process.stdout, 'write').mockImplementation(write as typeof process.stdout.write);
    return importDevices(client, { file, ...options });
  });
  return { code: result, batches, stdout, stderr };
}

describe('the import of devices', () => {
  it('registers a thousand at a time, and prints one line of JSON for each', async () => {
    const ids = Array.from({ length: 1_001 }, (_none, index) => `d${index}`);
    const { code, batches, stdout } = await imported(ids.map((id) => `${id},`));
    expect([code, ...batches.map(({ length }) => length)]).toEqual([0, 1_000, 1]);
    expect(stdout.split('\n').slice(0, 1)).toEqual(['{"deviceId":"d0","credential":null}']);
    expect(stdout.trimEnd().split('\n')).toHaveLength(1_001);
  });

  it('sends nothing if a line is invalid', async () => {
    const { code, batches, stderr } = await imported(['a,', ',', 'A,']);
    expect([code, batches]).toEqual([2, []]);
    expect(stderr).toBe(
      'Line 3: The deviceId is missing. Add it.\n' +
        'Line 4: "A" is already on line 2. Remove one of the lines.\nNothing was registered.\n',
    );
  });

  it('names the line that the hub rejects, and where to continue', async () => {
    const { code, stderr } = await imported(['a,', 'b,', 'known,'], { fromLine: 3 });
    expect(code).toBe(2);
    expect(stderr).toContain('Line 4: It is known.\nLines 3 to 4 and later lines were not registered.');
    expect(stderr).toContain('continue with --from-line 3.');
  });

  it('asks the hub in a dry run, and registers nothing', async () => {
    const { code, batches, stderr } = await imported(['a,'], { dryRun: true });
    expect([code, batches]).toEqual([0, []]);
    expect(stderr).toContain('1 device is valid. Nothing was registered.');
    const refused = await imported(['a,', 'b,', 'known,'], { dryRun: true });
    expect([refused.code, refused.batches]).toEqual([2, []]);
    expect(refused.stderr).toBe('Line 4: It is known.\n2 devices are valid. Nothing was registered.\n');
  });

  it('gives trust on first use to devices without a Client-Id', async () => {
    const before = Date.now();
    const { batches } = await imported(['a,', 'b,3b0c5b1e-6a43-4f0e-9a44-0d6a5f0c8e21'], {
      admitWithoutCodeFor: 7_200,
    });
    const [first, second] = batches[0] ?? [];
    expect(Date.parse(first?.admitWithoutCodeUntil ?? '') - before).toBeGreaterThanOrEqual(2 * 3_600_000);
    expect(second?.admitWithoutCodeUntil).toBeUndefined();
  });

  it('prints the credentials for a key that may not read the devices', async () => {
    const { code, stdout } = await imported(['unreadable,']);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toEqual({ deviceId: 'unreadable', credential: { password: 'p' } });
  });

  it('says where to continue when its output cannot be written any more', async () => {
    const ids = Array.from({ length: 2_001 }, (_none, index) => `d${index}`);
    const closed = Object.assign(new Error('write EPIPE'), { code: 'EPIPE' });
    let written = 0;
    const importing = (options?: object) =>
      imported(
        ids.map((id) => `${id},`),
        options,
        (_text, done) => done(++written > 2 ? closed : undefined),
      );
    await expect(importing()).rejects.toMatchObject({
      exitCode: 1,
      message: expect.stringMatching(
        /write EPIPE\. Lines 2 to 1001 are registered\. .* Continue with --from-line 1002\.$/,
      ),
    });
    await expect(importing({ fromLine: 2_002 })).rejects.toThrow(/Lines 2002 to 2002 are registered\..*rotate\)\.$/);
  });

  it('rejects a file without devices', async () => {
    await expect(imported([])).rejects.toThrow('The file contains no devices.');
  });
});
