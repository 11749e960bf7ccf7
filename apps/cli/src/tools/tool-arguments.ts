/**
 * The arguments of a tool: `name=value` words, which the schema of the tool types and checks, or a
 * JSON object, which is sent as it is.
 */
import { FlotillaError, type FlotillaClient } from '@flotilla/client';
import { UsageError } from '../exit-codes.js';
import { DeviceToolsDocument, FleetToolsDocument } from '../generated/operations.js';
import { jsonObject, readStandardInput, standardInput } from '../json-input.js';
import { typedArguments } from './tool-schema.js';

type Arguments = Readonly<Record<string, unknown>>;

/** Bytes of arguments: the most that the hub accepts in one request. */
const argumentsBytesMax = 1024 * 1024;

/** The positional `[arguments..]`. */
export const argumentsOption = {
  type: 'string',
  array: true,
  describe: 'Such as volume=30 mode=quiet, a JSON object, or - for JSON from standard input',
} as const;

/** Arguments as they were typed, before the schema of the tool is known. */
type GivenArguments =
  | { readonly kind: 'none' }
  | { readonly kind: 'json'; readonly value: Arguments }
  | { readonly kind: 'words'; readonly words: readonly string[] };

/** Reads the arguments, and finds faults for which no hub is needed. */
export async function givenArguments(words: readonly string[] | undefined): Promise<GivenArguments> {
  const [first] = words ?? [];
  if (words === undefined || first === undefined) return { kind: 'none' };
  const isJson = first === standardInput || !/^[^={["\s]+=/.test(first);
  if (!isJson) return { kind: 'words', words };
  if (words.length > 1)
    throw new UsageError(
      'The arguments: give one JSON object, or only words like volume=30. Quote JSON for the shell.',
    );
  const value =
    first === standardInput
      ? jsonObject(await readStandardInput(argumentsBytesMax), 'Standard input')
      : jsonObject(first, 'The arguments');
  return { kind: 'json', value };
}

/** The arguments for one device. Its own schema of the tool decides the types. */
export async function argumentsForDevice(
  client: FlotillaClient,
  device: string,
  tool: string,
  given: GivenArguments,
): Promise<Arguments> {
  if (given.kind !== 'words') return given.kind === 'json' ? given.value : {};
  const answer = await unlessForbidden(client.request(DeviceToolsDocument, { id: device, names: [tool] }));
  const [known] = answer?.device?.tools ?? [];
  return typedArguments(tool, knownSchemaOf(known), given.words);
}

/** The arguments for many devices. If devices have different schemas, only the hub checks them. */
export async function argumentsForFleet(
  client: FlotillaClient,
  tool: string,
  given: GivenArguments,
): Promise<Arguments> {
  if (given.kind !== 'words') return given.kind === 'json' ? given.value : {};
  const answer = await unlessForbidden(client.request(FleetToolsDocument, { filter: { name: tool }, first: 2 }));
  const nodes = answer?.tools.nodes ?? [];
  return typedArguments(tool, nodes.length === 1 ? knownSchemaOf(nodes[0]) : undefined, given.words);
}

/** A key without DEVICES_READ may call tools that it cannot read: the hub checks its arguments. */
async function unlessForbidden<Answer>(answer: Promise<Answer>): Promise<Answer | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof FlotillaError && error.code === 'FORBIDDEN') return undefined;
    throw error;
  }
}

/** Undefined where a board did not say which arguments its tool has. */
function knownSchemaOf(tool: { readonly inputSchema: unknown; readonly schemaKnown: boolean } | undefined): unknown {
  return tool?.schemaKnown === true ? tool.inputSchema : undefined;
}
