/**
 * Completes ids and tools from the hub. Commands, options and choices are completed by yargs.
 */
import type { FlotillaClient, RequestOptions } from '@flotilla/client';
import { group, type Command, type CompletedValue } from '../commands/command.js';
import { withClient } from '../connection.js';
import {
  CompletionsDocument,
  DesiredStatesDocument,
  FirmwareImagesDocument,
  JobsDocument,
} from '../generated/operations.js';

/** How long a person waits for a completion, ms. */
const timeoutMs = 2_000;
/** More candidates than this are not read by people. */
const candidatesMax = 100;

/** Words without meaning for a shell: names come from devices. */
const harmless = /^[\w.:@/-]+$/;

/** Options whose value comes from the hub. */
const valueOfOption: Readonly<Record<string, CompletedValue>> = { '--device': 'device', '--has-tool': 'tool' };
/** Options that say which hub is asked. */
const connectionOptions: Readonly<Record<string, 'url' | 'key' | 'keyFile' | 'profile'>> = {
  '--url': 'url',
  '--key': 'key',
  '--key-file': 'keyFile',
  '--profile': 'profile',
};

/** Has only the options of every command. */
const anyCommand = group('flotilla', '', []);

/** What is completed, and the words before it that decide about it. */
interface Completed {
  readonly value: CompletedValue;
  readonly current: string;
  /** The positionals before it. */
  readonly positionals: readonly string[];
  readonly connection: { readonly [Name in 'url' | 'key' | 'keyFile' | 'profile']?: string };
}

/** Finds out which value the last word is. Undefined if the hub does not know such values. */
export function completedOf(commands: readonly Command[], words: readonly string[]): Completed | undefined {
  const current = words.at(-1) ?? '';
  const before = words.slice(0, -1);
  const connection: Record<string, string> = {};
  const positionals: string[] = [];
  let candidates = commands;
  let leaf: Command | undefined;
  let isValue = false;
  for (let index = 0; index < before.length; index++) {
    const word = before[index] ?? '';
    if (word.startsWith('-')) {
      // `--name=value` is one word. Before the command, there are only the options of all commands.
      const [name = '', ofWord] = word.split(/=(.*)/s);
      if (!(leaf ?? anyCommand).takesValue(name)) continue;
      const option = connectionOptions[name];
      const given = ofWord ?? before[++index];
      if (option !== undefined && given !== undefined) connection[option] = given;
      isValue = given === undefined;
      continue;
    }
    const next = leaf === undefined ? candidates.find(({ name }) => name === word) : undefined;
    if (next === undefined) positionals.push(word);
    else if (next.commands.length > 0) candidates = next.commands;
    else leaf = next;
  }
  const ofOption = valueOfOption[before.at(-1) ?? ''];
  const isPositional = !isValue && !current.startsWith('-');
  const value = ofOption ?? (isPositional ? leaf?.values[positionals.length] : undefined);
  return value === undefined ? undefined : { value, current, positionals, connection };
}

/** The values of the hub that begin with the current word. A hub that does not answer has none. */
export async function valuesFor({ value, current, positionals, connection }: Completed): Promise<readonly string[]> {
  try {
    const values = await withClient(connection, (client) =>
      readers[value](client, { current, positionals, limits: { timeoutMs, signal: AbortSignal.timeout(timeoutMs) } }),
    );
    return values.filter((one) => one.startsWith(current) && harmless.test(one));
  } catch {
    return [];
  }
}

interface Asked extends Pick<Completed, 'current' | 'positionals'> {
  readonly limits: RequestOptions;
}

type Reader = (client: FlotillaClient, asked: Asked) => Promise<readonly string[]>;

const first = candidatesMax;

const readers: Readonly<Record<CompletedValue, Reader>> = {
  device: async (client, { current, limits }) => {
    const filter = current === '' ? {} : { search: current };
    const { devices } = await client.request(CompletionsDocument, { filter, first, withTools: false }, limits);
    return (devices?.nodes ?? []).map(({ id }) => id);
  },
  /** The tools of the device before it, or of the fleet. */
  tool: async (client, { positionals: [device], limits }) => {
    const filter = device === undefined ? {} : { ids: [device] };
    const { tools } = await client.request(CompletionsDocument, { filter, first, withTools: true }, limits);
    return [...new Set(tools?.nodes.map(({ name }) => name))];
  },
  job: async (client, { limits }) =>
    (await client.request(JobsDocument, { first }, limits)).jobs.nodes.map(({ id }) => id),
  desired: async (client, { limits }) =>
    (await client.request(DesiredStatesDocument, { first }, limits)).desiredStates.nodes.map(({ id }) => id),
  image: async (client, { limits }) =>
    (await client.request(FirmwareImagesDocument, { first }, limits)).firmwareImages.nodes.map(({ id }) => id),
};
