/**
 * Generates the Prisma client of libs/registry from prisma/schema.prisma.
 * Does nothing if the client is current, and needs no network: `generate` never runs the schema
 * engine, which the CLI would otherwise download first.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');
const schema = path.join(root, 'prisma', 'schema.prisma');
const prisma = path.join(root, 'node_modules', 'prisma');
const stamp = path.join(root, 'libs', 'registry', 'src', 'generated', 'prisma', '.generated-from');

const source = createHash('sha256')
  .update(readFileSync(schema))
  .update(readFileSync(path.join(prisma, 'package.json')))
  .digest('hex');

if (!existsSync(stamp) || readFileSync(stamp, 'utf8') !== source) {
  const { status, stderr, stdout } = spawnSync(
    process.execPath,
    [path.join(prisma, 'build', 'index.js'), 'generate', '--schema', schema],
    {
      cwd: root,
      encoding: 'utf8',
      env: {
        ...process.env,
        PRISMA_SCHEMA_ENGINE_BINARY: process.execPath,
        PRISMA_HIDE_UPDATE_MESSAGE: '1',
        CHECKPOINT_DISABLE: '1',
      },
    },
  );
  if (status !== 0) {
    console.error(`${stdout}${stderr}\nprisma generate failed with exit code ${status ?? 'none (killed)'}.`);
    process.exit(status ?? 1);
  }
  writeFileSync(stamp, source);
}
