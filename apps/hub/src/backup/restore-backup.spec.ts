/** A backup and its restore with a PostgreSQL and folders that the settings name. */
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { openRegistry } from '@flotilla/registry';
import { openTestDatabase } from '@flotilla/registry/test-database';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { readConfig } from '../settings/config.js';
import type { HubConfig } from '../settings/config.js';
import { auditSecretOf } from '../settings/secret-settings.js';
import { BackupError } from './archive-format.js';
import { makeBackup } from './make-backup.js';
import { verifyArchive } from './read-archive.js';
import { restoreBackup } from './restore-backup.js';
import { writeArchive } from './write-archive.js';

const KEY = { FLOTILLA_AUDIT_KEY: 'the-audit-key-of-the-spec-of-restores' };
const closers: (() => Promise<void>)[] = [];
let folder: string;
let file: string;
let hubs = 0;

/** Settings of another hub with an empty database and without a data folder. */
async function newHub(env: Readonly<Record<string, string>> = {}): Promise<HubConfig> {
  const { databaseUrl, close } = await openTestDatabase();
  closers.push(close);
  const dataDir = path.join(folder, `hub-${++hubs}`);
  return readConfig({ DATABASE_URL: databaseUrl, FLOTILLA_DATA_DIR: dataDir, ...env });
}

async function opened(config: HubConfig) {
  return openRegistry({ databaseUrl: config.databaseUrl ?? '', auditSecret: await auditSecretOf(config) });
}

/** Uses the hub once, stores a file, and makes a backup. */
async function backupOf(config: HubConfig, target: string) {
  const registry = await opened(config);
  await registry.hubSecret('bus');
  await registry.close();
  for (const name of ['.incoming', 'firmware'])
    await mkdir(path.join(config.dataDir, 'files', name), { recursive: true });
  await writeFile(path.join(config.dataDir, 'files', 'firmware', 'image'), 'E9');
  return makeBackup(config, target);
}

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'flotilla-restore-'));
  file = path.join(folder, 'hub.tar.gz');
  expect(await backupOf(await newHub(), file)).toMatchObject({ files: 1, encrypted: false });
});
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const isUntouched = async (config: HubConfig) => (await readdir(config.dataDir).catch(() => [])).length === 0;

describe('a restore with other settings', () => {
  it('brings back rows, files and secrets', async () => {
    const config = await newHub();
    const { rows, files, pausedJobs } = await restoreBackup(config, file, { acceptNewKeys: false });
    expect({ files, pausedJobs }).toEqual({ files: 1, pausedJobs: 0 });
    expect(rows).toMatchObject({ hub_secret: 1 });
    expect(await readFile(path.join(config.dataDir, 'files', 'firmware', 'image'), 'utf8')).toBe('E9');
    expect(await readFile(path.join(config.dataDir, 'audit.key'), 'utf8')).toBe(
      await readFile(path.join(folder, 'hub-1', 'audit.key'), 'utf8'),
    );
    await (await opened(config)).close();
    await expect(restoreBackup(config, file, { acceptNewKeys: false })).rejects.toMatchObject({
      code: 'RESTORE_REFUSED',
    });
  });

  it('says what may be there if it fails in between, and can be run again', async () => {
    const config = await newHub();
    const blocking = path.join(config.dataDir, 'files', 'firmware');
    await mkdir(path.dirname(blocking), { recursive: true });
    await writeFile(blocking, 'a file where a folder must be');
    const failed = restoreBackup(config, file, { acceptNewKeys: false });
    await expect(failed).rejects.toThrow(/^The restore did not finish: The folder .*\. Rows are restored all or none/);
    await expect(failed).rejects.not.toBeInstanceOf(BackupError);
    await rm(blocking);
    expect(await restoreBackup(config, file, { acceptNewKeys: false })).toMatchObject({ files: 1 });
  });

  it('refuses other keys than the former hub had, unless they are accepted', async () => {
    const config = await newHub(KEY);
    await expect(restoreBackup(config, file, { acceptNewKeys: false })).rejects.toMatchObject({
      code: 'BACKUP_REFUSED',
      message: expect.stringContaining('The former hub had other keys than this one will have.'),
    });
    expect(await isUntouched(config)).toBe(true);
    await restoreBackup(config, file, { acceptNewKeys: true });
  });

  it('refuses to lose a key that was a setting of the former hub', async () => {
    const withKey = path.join(folder, 'with-key.tar.gz');
    await backupOf(await newHub(KEY), withKey);
    const config = await newHub();
    await expect(restoreBackup(config, withKey, { acceptNewKeys: false })).rejects.toMatchObject({
      message: expect.stringContaining('Set FLOTILLA_AUDIT_KEY and FLOTILLA_DEVICE_SECRET as they were there'),
    });
    expect(await isUntouched(config)).toBe(true);
    await restoreBackup(await newHub(KEY), withKey, { acceptNewKeys: false });
  });

  it('refuses a backup of a newer version, and makes no cluster', async () => {
    const { header } = await verifyArchive(file, undefined);
    const later = { name: '9999_later', checksum: 'c' };
    const contents = { ...header.contents, migrations: [...header.contents.migrations, later] };
    const newer = path.join(folder, 'newer.tar.gz');
    await writeArchive(newer, {
      header: { ...header, contents },
      parts: Readable.from([]),
      rows: () => ({}),
      passphrase: undefined,
    });
    const config = readConfig({ FLOTILLA_DATA_DIR: path.join(folder, 'without-database-url') });
    await expect(restoreBackup(config, newer, { acceptNewKeys: true })).rejects.toMatchObject({
      code: 'RESTORE_REFUSED',
      message: expect.stringContaining('from a newer version of Flotilla'),
    });
    expect(await isUntouched(config)).toBe(true);
  });

  it('refuses the data folder of another hub, and keeps its secrets', async () => {
    const config = await newHub();
    await auditSecretOf(config);
    const before = await readFile(path.join(config.dataDir, 'audit.key'), 'utf8');
    await expect(restoreBackup(config, file, { acceptNewKeys: true })).rejects.toMatchObject({
      message: expect.stringContaining('belongs to another hub: its audit.key differs'),
    });
    expect(await readFile(path.join(config.dataDir, 'audit.key'), 'utf8')).toBe(before);
  });
});

describe('a backup', () => {
  it('is refused without the key of the audit chain, because the folder is not that of the hub', async () => {
    const config = await newHub();
    await (await openRegistry({ databaseUrl: config.databaseUrl ?? '' })).close();
    await expect(makeBackup(config, path.join(folder, 'none.tar.gz'))).rejects.toMatchObject({
      message: expect.stringContaining('There is no audit.key in'),
    });
  });
});
