/**
 * Writes types for clients of the GraphQL API: the schema's types for libs/client, and a typed
 * document for each operation in the `.graphql` files of the projects below.
 * The output (`generated`) is not committed.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { codegen } from '@graphql-codegen/core';
import * as typedDocumentNode from '@graphql-codegen/typed-document-node';
import * as typescript from '@graphql-codegen/typescript';
import * as typescriptOperations from '@graphql-codegen/typescript-operations';
import { Kind, parse, visit } from 'graphql';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');
const schema = parse(readFileSync(path.join(root, 'libs/api/schema.graphql'), 'utf8'));

/**
 * Projects with operations, and the module of their schema types (`~`: keep this path as it is).
 * The console has one output per file instead, so that a page loads only its operations.
 */
const projects = [
  { folder: 'libs/client', schemaTypes: '~./schema-types.js' },
  { folder: 'apps/cli', schemaTypes: '~@flotilla/client/schema' },
  { folder: 'apps/dashboard' },
];

const config = {
  enumsAsTypes: true,
  enumType: 'string-literal',
  immutableTypes: true,
  useTypeImports: true,
  strictScalars: true,
  skipTypename: true,
  inputMaybeValue: 'T | null | undefined',
  dedupeFragments: true,
  scalars: { ID: 'string', DateTime: 'string', JSON: 'unknown' },
};

async function write(file, documents, plugins) {
  const filename = path.join(root, file);
  const pluginMap = Object.fromEntries(plugins.map(([name, plugin]) => [name, plugin]));
  const source = await codegen({
    filename,
    schema,
    documents,
    config,
    pluginMap,
    plugins: plugins.map(([name, , options = {}]) => ({ [name]: options })),
  });
  if (existsSync(filename) && readFileSync(filename, 'utf8') === source) return;
  mkdirSync(path.dirname(filename), { recursive: true });
  writeFileSync(filename, source);
}

function operationsOf(folder) {
  const source = path.join(root, folder, 'src');
  if (!existsSync(source)) return [];
  return readdirSync(source, { recursive: true })
    .filter((name) => name.endsWith('.graphql'))
    .sort()
    .map((name) => ({ location: name, document: parse(readFileSync(path.join(source, name), 'utf8')) }));
}

/** The fragments of libs/client, which the other projects may spread as well. */
const shared = operationsOf('libs/client')
  .flatMap(({ document }) => document.definitions)
  .filter(({ kind }) => kind === Kind.FRAGMENT_DEFINITION);

/** Adds the shared fragments that the documents spread and do not define. */
function withShared(documents) {
  const known = new Set();
  const spread = new Set();
  for (const { document } of documents)
    visit(document, {
      FragmentDefinition: ({ name }) => void known.add(name.value),
      FragmentSpread: ({ name }) => void spread.add(name.value),
    });
  const definitions = shared.filter(({ name }) => spread.has(name.value) && !known.has(name.value));
  if (definitions.length === 0) return documents;
  return [...documents, { location: 'shared', document: { kind: Kind.DOCUMENT, definitions } }];
}

async function writeOperations({ folder, schemaTypes }) {
  const documents = operationsOf(folder);
  const imported = schemaTypes ? { importSchemaTypesFrom: schemaTypes, namespacedImportName: 'schema' } : {};
  const plugins = [
    ['typescriptOperations', typescriptOperations, imported],
    ['typedDocumentNode', typedDocumentNode],
  ];
  if (schemaTypes) {
    if (documents.length > 0) await write(`${folder}/src/generated/operations.ts`, withShared(documents), plugins);
    return;
  }
  for (const one of documents) {
    const { dir, name } = path.parse(one.location);
    await write(path.join(folder, 'src', dir, 'generated', `${name}.ts`), withShared([one]), plugins);
  }
}

await write('libs/client/src/generated/schema-types.ts', [], [['typescript', typescript]]);
for (const project of projects) await writeOperations(project);
