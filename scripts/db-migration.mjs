/**
 * `npm run db:migration -- <name>`: writes prisma/migrations/<timestamp>_<name>/migration.sql.
 * It compares prisma/schema.prisma with its copy of the last migration, which it updates, and needs
 * no database. Add partitions, partial and expression indexes, functions and data to the file
 * manually before you commit it.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { bindMigrationAwareSqlAdapterFactory } from '@prisma/driver-adapter-utils';
import * as glue from '@prisma/schema-engine-wasm/schema_engine_bg';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');
const migrations = path.join(root, 'prisma', 'migrations');
const schema = readFileSync(path.join(root, 'prisma', 'schema.prisma'), 'utf8');
const lastSchemaPath = path.join(migrations, 'schema-of-last-migration.prisma');

const name = process.argv[2];
if (!/^[a-z][a-z0-9_]*$/.test(name ?? '')) {
  console.error(
    'Usage: npm run db:migration -- <name>   (lower-case letters, digits and underscores, such as add_device_groups)',
  );
  process.exit(1);
}

/** Opens an engine that compares two schemas without a server. */
async function openOfflineEngine() {
  const wasm = path.join(
    path.dirname(createRequire(import.meta.url).resolve('@prisma/schema-engine-wasm')),
    'schema_engine_bg.wasm',
  );
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(readFileSync(wasm)), {
    './schema_engine_bg.js': glue,
  });
  glue.__wbg_set_wasm(exports);
  exports.__wbindgen_start();
  const names = { provider: 'postgres', adapterName: 'no-database' };
  const connect = async () => ({
    ...names,
    queryRaw: async () => ({ columnNames: [], columnTypes: [], rows: [] }),
    getConnectionInfo: () => ({ schemaName: 'public', supportsRelationJoins: false }),
    executeRaw: async () => 0,
    executeScript: async () => {},
    startTransaction: async () => Promise.reject(new Error('There is no database here.')),
    dispose: async () => {},
  });
  const adapter = bindMigrationAwareSqlAdapterFactory({ ...names, connect, connectToShadowDb: connect });
  return glue.SchemaEngine.new({ datamodels: [['schema.prisma', schema]] }, () => {}, adapter);
}

const datamodel = (content) => ({ tag: 'schemaDatamodel', files: [{ path: 'schema.prisma', content }] });
const engine = await openOfflineEngine();
const { stdout: sql } = await engine.diff({
  from: existsSync(lastSchemaPath) ? datamodel(readFileSync(lastSchemaPath, 'utf8')) : { tag: 'empty' },
  to: datamodel(schema),
  script: true,
  exitCode: null,
  shadowDatabaseUrl: null,
  filters: { externalTables: [], externalEnums: [] },
});
if (!sql || sql.includes('This is an empty migration')) {
  console.error('Nothing to do: prisma/schema.prisma has not changed since the last migration.');
  process.exit(1);
}

const timestamp = new Date().toISOString().replace(/\D/g, '').slice(0, 14);
const folder = path.join(migrations, `${timestamp}_${name}`);
mkdirSync(folder, { recursive: true });
writeFileSync(path.join(folder, 'migration.sql'), sql);
writeFileSync(lastSchemaPath, schema);
console.error(
  `Wrote ${path.relative(root, folder)}/migration.sql. Read it, and add manually what Prisma cannot express.`,
);
process.exit(0);
