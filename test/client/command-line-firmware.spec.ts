/** Firmware on the command line, against the built hub. */
import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { jsonLines } from '../src/api/command-line.js';
import { makeImage } from '../src/jobs/firmware-image.js';
import { startCommandLineStory, type CommandLineStory } from '../src/client/command-line-story.js';

let story: CommandLineStory;
let run: CommandLineStory['run'];
let fileOf: CommandLineStory['fileOf'];

beforeAll(async () => {
  story = await startCommandLineStory({ FLOTILLA_VERIFY_SOAK_SECONDS: '1' }, 20);
  ({ run, fileOf } = story);
});

afterAll(async () => expect(await story.end()).toBe(0));

describe('firmware', () => {
  it('is uploaded, published, listed, and its roll-out previewed', async () => {
    const file = fileOf('lamp.bin', makeImage({ version: '7.7.7' }));
    const uploaded = await run(['firmware', 'upload', file, '--json']);
    const [image] = jsonLines<{ id: string }>(uploaded);
    const id = image?.id ?? '';
    expect((await run(['firmware', 'publish', id, '--model', 'bread-compact-wifi'])).stdout).toMatch(
      /version +7\.7\.7/,
    );
    const [list, preview, refused, missing] = await Promise.all([
      run(['firmware', 'list']),
      run(['firmware', 'roll-out', id, '--all', '--preview', '--json']),
      run(['firmware', 'upload', fileOf('text.bin', 'no image')]),
      run(['firmware', 'upload', path.join(story.folder, 'missing.bin')]),
    ]);
    expect(list.stdout).toMatch(new RegExp(`${id} +7\\.7\\.7 .*published`));
    expect(preview.stderr).toMatch(/^Warning: Devices fetch the image from http:/);
    expect([refused.code, refused.stdout, missing.code]).toEqual([2, '', 1]);
  });

  it('is signed by a key that is made here, and the hub says by whom', async () => {
    const [file, key] = [fileOf('signed.bin', makeImage({ version: '7.7.8' })), path.join(story.folder, 'build.pem')];
    const [pair] = jsonLines<{ fingerprint: string; publicKey: string }>(
      await run(['firmware', 'sign', '--new-key', key, '--json']),
    );
    expect(statSync(key).mode & 0o777).toBe(0o600);
    expect(await run(['firmware', 'sign', '--new-key', key])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('exists'),
    });
    expect((await run(['firmware', 'sign', file, '--private-key', key])).code).toBe(0);
    const printed = await run(['firmware', 'sign', file, '--private-key', key, '--stdout']);
    expect(printed.stdout).toBe(readFileSync(`${file}.sig`, 'utf8'));
    const upload = ['firmware', 'upload', file, '--signature', `${file}.sig`, '--json'];
    expect(await run(upload)).toMatchObject({ code: 2, stderr: expect.stringContaining('SIGNATURE_KEY_UNKNOWN') });
    expect(await run(['firmware', 'keys', 'add', 'build', key])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('private key'),
    });
    const [added] = jsonLines<{ id: string; fingerprint: string }>(
      await run(['firmware', 'keys', 'add', 'build', pair?.publicKey ?? '', '--json']),
    );
    expect(added?.fingerprint).toBe(pair?.fingerprint);
    expect((await run(upload)).code).toBe(0);
    expect((await run(['firmware', 'list'])).stdout).toMatch(/7\.7\.8 .*build/);
    expect((await run(['firmware', 'keys'])).stdout).toContain(pair?.fingerprint);
    expect((await run(['firmware', 'keys', 'remove', added?.id ?? '', '--yes'])).code).toBe(0);
    const [unsigned, both, text] = await Promise.all([
      run(['firmware', 'list']),
      run(['firmware', 'sign', file]),
      run(['firmware', 'sign', file, '--private-key', file]),
    ]);
    expect(unsigned.stdout).not.toContain('build');
    expect([both.code, text.code, text.stderr]).toEqual([1, 1, expect.stringContaining('not a PEM private key')]);
  });

  it('is rolled out to its end, listed by its image, and taken back', async () => {
    const running = async () =>
      jsonLines<{ model: string; firmwareVersion: string }>(
        await run(['devices', '--json', '--columns', 'model,firmwareVersion']),
      );
    const before = await running();
    const published = async (version: string): Promise<string> => {
      const [image] = jsonLines<{ id: string }>(
        await run(['firmware', 'upload', fileOf(`${version}.bin`, makeImage({ version })), '--json']),
      );
      const models = before.flatMap(({ model }) => ['--model', model]);
      expect((await run(['firmware', 'publish', image?.id ?? '', ...models])).code).toBe(0);
      return image?.id ?? '';
    };
    for (const version of new Set(before.map(({ firmwareVersion }) => firmwareVersion))) await published(version);
    const rolledOut = await run([
      'firmware',
      'roll-out',
      await published('9.9.9'),
      '--all',
      '--yes',
      '--follow',
      '--json',
    ]);
    expect([rolledOut.code, (await running()).map(({ firmwareVersion }) => firmwareVersion)]).toEqual([
      0,
      before.map(() => '9.9.9'),
    ]);
    expect((await run(['jobs'])).stdout).toMatch(/self\.upgrade_firmware +xiaozhi 9\.9\.9/);
    const [job] = jsonLines<{ id: string }>(rolledOut);
    const reverted = await run(['firmware', 'revert', job?.id ?? '', '--yes', '--follow', '--json']);
    expect([reverted.code, jsonLines(reverted)[0]]).toMatchObject([0, { conclusion: 'SUCCEEDED' }]);
    expect(await running()).toEqual(before);
  });
});
