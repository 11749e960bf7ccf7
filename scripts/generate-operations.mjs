/**
 * Writes typed documents for the console's operations: `pages/x/x.graphql` becomes `pages/x/generated/x.ts`, so that a page brings only its own. The
 * output is not committed. Files that are up to date are left alone.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { codegen } from '@graphql-codegen/core';
import * as typedDocumentNode from '@graphql-codegen/typed-document-node';
import * as typescriptOperations from '@graphql-codegen/typescript-operations';
import { parse } from 'graphql';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');
const sources = path.join(root, 'apps/dashboard/src');

const config = {
  useTypeImports: true,
  immutableTypes: true,
  strictScalars: true,
  dedupeFragments: true,
  scalars: { ID: 'string', DateTime: 'string', JSON: 'unknown' },
};

export async function generateOperations() {
  const schema = parse(readFileSync(path.join(root, 'libs/api/schema.graphql'), 'utf8'));
  const files = readdirSync(sources, { recursive: true }).filter((name) => name.endsWith('.graphql'));
  for (const name of files) {
    const location = path.join(sources, name);
    const output = path.join(path.dirname(location), 'generated', `${path.basename(name, '.graphql')}.ts`);
    const text = await codegen({
      filename: output,
      schema,
      documents: [{ location, document: parse(readFileSync(location, 'utf8')) }],
      config,
      pluginMap: { typescriptOperations, typedDocumentNode },
      plugins: [{ typescriptOperations: {} }, { typedDocumentNode: {} }],
    });
    if (existsSync(output) && readFileSync(output, 'utf8') === text) continue;
    mkdirSync(path.dirname(output), { recursive: true });
    writeFileSync(output, text);
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await generateOperations();
