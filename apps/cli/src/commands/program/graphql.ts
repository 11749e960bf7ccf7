/** `flotilla graphql`: any operation of the API. */
import { readFile } from 'node:fs/promises';
import { FlotillaError, type FlotillaClient } from '@flotilla/client';
import { unreadable } from '../../error-message.js';
import { withClient } from '../../connection.js';
import { untilInterrupted } from '../../console/interrupt.js';
import { formatOf, type OutputOptions } from '../../console/output-format.js';
import { say, write } from '../../console/output.js';
import { jsonText, printable } from '../../console/printable.js';
import { exitCodes, UsageError, type ExitCode } from '../../exit-codes.js';
import { ViewerDocument } from '../../generated/operations.js';
import { readStandardInput, standardInput } from '../../json-input.js';
import { listOption, textOption } from '../../options/shared-options.js';
import { operationOf, variablesOf, type GraphqlOperation } from '../../tools/graphql-operation.js';
import { leaf } from '../command.js';

/** The largest operation that is read, in bytes. */
const operationBytesMax = 1024 * 1024;

export const graphqlCommand = leaf({
  usage: 'graphql [query]',
  summary: 'Send a query, mutation or subscription of the API, and print its data as JSON',
  examples: [
    "graphql '{ viewer { name scopes } }'",
    'graphql -f lobby.graphql -F tag=lobby',
    "graphql 'query($id: ID!) { device(id: $id) { presence } }' -F id=02:00:00:00:00:01",
  ],
  notes:
    'The declaration of a variable decides how its value is read: text for String and ID, otherwise JSON. The exit ' +
    'code is 2 if the hub rejected a mutation. A subscription prints one line per value until Ctrl-C.',
  options: (args) =>
    args
      .positional('query', { type: 'string', describe: 'The operation, if it is not in a file' })
      .option('file', { ...textOption('File with the operation; - for standard input'), alias: 'f' })
      .option('field', { ...listOption('Variable, such as name=value'), alias: 'F' })
      .option('operation', textOption('Name of the operation, if the file has several')),
  run: async (args) => {
    const format = formatOf(args);
    if (format === 'csv' || args.columns !== undefined)
      throw new UsageError('graphql prints JSON. Select fields in the query, and use --output json or jsonl.');
    const operation = operationOf(await sourceOf(args.query, args.file), args.operation);
    const variables = variablesOf(operation, args.field ?? []);
    return withClient(args, (client) =>
      operation.kind === 'subscription'
        ? follow(client, operation, variables)
        : send(client, operation, variables, args),
    );
  },
});

async function sourceOf(query: string | undefined, file: string | undefined): Promise<string> {
  if ((query === undefined) === (file === undefined))
    throw new UsageError('Give the operation as an argument, or name its file with -f.');
  if (query !== undefined) return query;
  if (file === undefined || file === standardInput) return readStandardInput(operationBytesMax);
  return readFile(file, 'utf8').catch((error: unknown) => {
    throw unreadable(file, error);
  });
}

async function send(
  client: FlotillaClient,
  { source }: GraphqlOperation,
  variables: Readonly<Record<string, unknown>>,
  options: OutputOptions,
): Promise<ExitCode> {
  const print = (data: unknown) => write(`${jsonText(data, formatOf(options) === 'jsonl' ? undefined : 2)}\n`);
  const data = await client.request<unknown>(source, variables).catch(async (error: unknown) => {
    // The fields that the hub answered in spite of errors.
    if (error instanceof FlotillaError && error.data !== undefined && error.data !== null) await print(error.data);
    throw error;
  });
  await print(data);
  const rejections = userErrorsIn(data);
  for (const message of rejections) say(printable(message));
  return rejections.length === 0 ? exitCodes.done : exitCodes.refused;
}

/** Messages of the `userErrors` of each mutation, as far as the operation selects them. */
function userErrorsIn(data: unknown): readonly string[] {
  if (typeof data !== 'object' || data === null) return [];
  return Object.values(data).flatMap((payload: unknown) => {
    if (typeof payload !== 'object' || payload === null || !('userErrors' in payload)) return [];
    const { userErrors } = payload;
    if (!Array.isArray(userErrors)) return [];
    return userErrors.map((error: unknown) =>
      typeof error === 'object' && error !== null && 'message' in error
        ? String(error.message)
        : 'The hub rejected the mutation. Select userErrors { code message } to see why.',
    );
  });
}

async function follow(
  client: FlotillaClient,
  { source }: GraphqlOperation,
  variables: Readonly<Record<string, unknown>>,
): Promise<ExitCode> {
  // A query fails at once if the hub or the key is wrong; a subscription retries.
  await client.request(ViewerDocument);
  const end = await untilInterrupted(async (signal) => {
    for await (const value of client.subscribe<unknown>(source, variables, { signal }))
      await write(`${jsonText(value)}\n`);
  });
  return end === 'interrupted' ? exitCodes.interrupted : exitCodes.done;
}
