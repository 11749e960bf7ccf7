import { chown, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { notMade, serverUserOf } from './cluster.js';

it('says what to do where the user id of the hub has no name, as in a container', () => {
  const reason = 'Command failed: initdb\ninitdb: could not look up effective user ID 4242: user does not exist';
  expect(notMade('/data/postgres', reason)).toContain('set DATABASE_URL');
  expect(notMade('/data/postgres', reason)).toContain(reason);
  expect(notMade('/data/postgres', 'No space left on device')).not.toContain('DATABASE_URL');
});

it.runIf(process.getuid?.() === 0)(
  'is run by its owner if root starts it, without a look for another user',
  async () => {
    const dataDir = await mkdtemp(path.join(tmpdir(), 'flotilla-cluster-'));
    onTestFinished(() => rm(dataDir, { recursive: true }));
    const cluster = path.join(dataDir, 'postgres');
    await mkdir(cluster);
    await writeFile(path.join(cluster, 'PG_VERSION'), '17');
    await chown(cluster, 4242, 4243);
    expect(await serverUserOf(dataDir)).toEqual({ uid: 4242, gid: 4243 });
  },
);
