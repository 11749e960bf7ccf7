import { chmod, chown, mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { closeDataDir } from './data-folder.js';

const isRoot = process.getuid?.() === 0;
const someUser = 65_534;
let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'flotilla-folder-'));
});

afterEach(() => rm(folder, { recursive: true, force: true }));

const close = (dataDir = folder, isEmbedded = false) => closeDataDir(dataDir, { isEmbedded });
const modeOf = async () => (await stat(folder)).mode & 0o7777;

/** As an older hub left it. */
async function oldFolder(mode: number): Promise<void> {
  await writeFile(path.join(folder, 'device.secret'), 'x');
  await mkdir(path.join(folder, 'files'));
  await chmod(folder, mode);
}

describe('the data folder', () => {
  it.each([0o755, 0o750, 0o770, 0o2775, 0o701])('of mode %o is closed to other users', async (mode) => {
    await oldFolder(mode);
    expect(await close()).toMatchObject({ kind: 'closed', to: '0700' });
    expect((await modeOf()) & 0o777).toBe(0o700);
    expect(await close()).toEqual({ kind: 'kept' });
  });

  it.runIf(isRoot)('lets the group of the cluster’s user pass, and no others', async () => {
    await oldFolder(0o755);
    await mkdir(path.join(folder, 'postgres'), { mode: 0o700 });
    await chown(path.join(folder, 'postgres'), someUser, someUser);
    expect(await close()).toEqual({ kind: 'closed', from: '0755', to: '0710' });
    expect(await stat(folder)).toMatchObject({ uid: 0, gid: someUser, mode: 0o40710 });
    expect(await close()).toEqual({ kind: 'kept' });
  });

  it.runIf(isRoot)('lets the group of the server’s user pass before there is a cluster', async () => {
    await chmod(folder, 0o755);
    expect(await close(folder, true)).toEqual({ kind: 'closed', from: '0755', to: '0710' });
  });

  it.runIf(isRoot)('is not opened for a cluster that its user cannot reach', async () => {
    await oldFolder(0o700);
    await mkdir(path.join(folder, 'postgres'));
    await chown(path.join(folder, 'postgres'), someUser, someUser);
    expect(await close()).toEqual({ kind: 'kept' });
    expect(await modeOf()).toBe(0o700);
  });

  it('keeps its mode where other programs have files in it, or all users may', async () => {
    await oldFolder(0o755);
    await writeFile(path.join(folder, 'letter.txt'), 'A letter');
    expect(await close()).toMatchObject({ kind: 'open', mode: '0755', reason: expect.stringContaining('letter.txt') });
    await rm(path.join(folder, 'letter.txt'));
    await chmod(folder, 0o1777);
    expect(await close()).toMatchObject({ kind: 'open', mode: '1777' });
    expect(await modeOf()).toBe(0o1777);
  });

  it('is left to the start where it is missing or is a file', async () => {
    const file = path.join(folder, 'file');
    await writeFile(file, '', { mode: 0o644 });
    expect(await close(file)).toEqual({ kind: 'kept' });
    expect(await close(path.join(folder, 'missing'))).toEqual({ kind: 'kept' });
  });
});
