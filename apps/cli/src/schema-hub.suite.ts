/**
 * A hub made of the schema: it checks each request as the hub does, accepts it, and records the
 * mutations. Specs of the commands use it; the stories in test/client use the built hub.
 */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import {
  buildSchema,
  graphql,
  isEnumType,
  isListType,
  isNonNullType,
  isScalarType,
  type GraphQLOutputType,
  type GraphQLResolveInfo,
} from 'graphql';

const schemaFile = fileURLToPath(new URL('../../../libs/api/schema.graphql', import.meta.url));

const schema = buildSchema(readFileSync(schemaFile, 'utf8'));

export const mutations = Object.keys(schema.getMutationType()?.getFields() ?? {}).sort();

/** Values of fields for which the type says too little. */
const valuesByField: Readonly<Record<string, unknown>> = {
  userErrors: [],
  argumentErrors: [],
  problems: [],
  warnings: [],
  error: null,
  conflicts: [],
  inputSchema: { type: 'object', properties: { volume: { type: 'integer' } }, required: ['volume'] },
  outcome: 'SUCCEEDED',
  delivered: true,
};
/** Values of JSON that a command sends back. */
const jsonByField: Readonly<Record<string, unknown>> = {
  'RecurringJob.job': { tool: 'text', arguments: {}, devices: { all: true } },
  'DesiredState.devices': { all: true },
  'DesiredState.waves': [],
  'DesiredState.abort': [],
};
const valuesByScalar: Readonly<Record<string, unknown>> = {
  String: 'text',
  Int: 1,
  Float: 1,
  Boolean: false,
  JSON: {},
  DateTime: '2026-01-01T00:00:00.000Z',
};

/** Answers in place of those of the schema, by type and field, such as `Query.apiKeys`. */
export type Answers = Readonly<Record<string, (args: Args) => unknown>>;

type Args = Readonly<Record<string, unknown>>;

export interface SchemaHub {
  readonly url: string;
  /** The mutations since the last call, and the id that all things have from now on. */
  readonly restart: (id: string) => readonly string[];
  readonly close: () => Promise<void>;
}

export async function startSchemaHub(answers: Answers = {}): Promise<SchemaHub> {
  let sent: string[] = [];
  let currentId = '';

  function valueOf(type: GraphQLOutputType, fieldName: string): unknown {
    if (fieldName in valuesByField) return valuesByField[fieldName];
    if (isNonNullType(type)) return valueOf(type.ofType, fieldName);
    if (isListType(type)) return [valueOf(type.ofType, fieldName)];
    if (isEnumType(type)) return type.getValues()[0]?.value;
    if (!isScalarType(type)) return {};
    return type.name === 'ID' ? currentId : valuesByScalar[type.name];
  }

  function resolve(source: unknown, args: Args, _context: unknown, info: GraphQLResolveInfo): unknown {
    if (info.parentType === schema.getMutationType()) sent.push(info.fieldName);
    const field = `${info.parentType.name}.${info.fieldName}`;
    const answer = answers[field];
    if (answer !== undefined) return answer(args);
    const given: unknown = source instanceof Object ? Reflect.get(source, info.fieldName) : undefined;
    return given !== undefined ? given : (jsonByField[field] ?? valueOf(info.returnType, info.fieldName));
  }

  async function answer(request: IncomingMessage): Promise<string> {
    const path = request.url ?? '';
    if (path.includes('/results.')) return path.endsWith('csv') ? 'deviceId\r\n' : '{"deviceId":"a"}\n';
    if (path === '/api/firmware') return JSON.stringify({ id: currentId });
    const { query, variables } = JSON.parse(await text(request)) as {
      readonly query: string;
      readonly variables: Readonly<Record<string, unknown>>;
    };
    return JSON.stringify(await graphql({ schema, source: query, variableValues: variables, fieldResolver: resolve }));
  }

  const server = createServer((request, response) => {
    answer(request).then(
      (body) => response.writeHead(request.url === '/api/firmware' ? 201 : 200, contentType).end(body),
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
    request.resume();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    restart: (id) => {
      const recorded = sent;
      sent = [];
      currentId = id;
      return recorded;
    },
    close: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

const contentType = { 'content-type': 'application/json' };
