/** Files of backups in a folder of a spec. */
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import type { BackupHeader, Part } from './archive-format.js';
import { readArchive } from './read-archive.js';
import { writeArchive } from './write-archive.js';

export const PASSPHRASE = 'six words that no one guesses';
export const header: BackupHeader = {
  format: 1,
  hubVersion: '0.1.0',
  createdAt: '2026-11-23T08:00:00.000Z',
  keyIds: { audit: 'a', arguments: 'b' },
  contents: { migrations: [], partitions: [], tables: [] },
};

export type Content = readonly (readonly [name: string, chunks: readonly Uint8Array[]])[];

export const example: Content = [
  ['secrets/audit.key', [Buffer.from('the secret')]],
  ['database/device/000000', [randomBytes(70_000), randomBytes(1), randomBytes(70_000)]],
  ['files/firmware/1', []],
];

export interface ArchiveBench {
  readonly folder: string;
  /** The example. Encryption derives its key slowly, so the specs of a file share it. */
  readonly encryptedFile: string;
  newFile(): string;
  written(content: Content, passphrase?: string): Promise<string>;
  close(): Promise<void>;
}

export async function openArchiveBench(): Promise<ArchiveBench> {
  const folder = await mkdtemp(path.join(tmpdir(), 'flotilla-archive-'));
  let files = 0;
  const newFile = () => path.join(folder, `backup-${++files}`);
  const written = async (content: Content, passphrase?: string): Promise<string> => {
    const file = newFile();
    await writeArchive(file, { header, parts: partsOf(content), rows: () => ({ device: 3 }), passphrase });
    return file;
  };
  return {
    folder,
    encryptedFile: await written(example, PASSPHRASE),
    newFile,
    written,
    close: () => rm(folder, { recursive: true, force: true }),
  };
}

export async function* partsOf(content: Content): AsyncGenerator<Part> {
  for (const [name, chunks] of content)
    yield await Promise.resolve({
      name,
      bytes: chunks.reduce((sum, { length }) => sum + length, 0),
      body: Readable.from(chunks),
    });
}

/** The parts of a file, by name and in base64. */
export async function partsIn(file: string, passphrase?: string): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  for await (const { name, body } of readArchive(file, passphrase).parts) {
    const chunks: Uint8Array[] = [];
    for await (const chunk of body) chunks.push(chunk);
    found.set(name, Buffer.concat(chunks).toString('base64'));
  }
  return found;
}

/** What `partsIn` returns for a file with this content. */
export function encoded(content: Content): ReadonlyMap<string, string> {
  return new Map(content.map(([name, chunks]) => [name, Buffer.concat(chunks).toString('base64')]));
}
