/** The examples of the commands, as people type them, with the files and the hub that they need. */
import { generateKeyPairSync } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { vi } from 'vitest';
import type { Command } from './commands/command.js';
import { commands } from './program.js';
import { startSchemaHub, type SchemaHub } from './schema-hub.suite.js';

/** Options and commands that an example cannot run here, each with the reason. */
const notRun: Readonly<Record<string, string>> = {
  'jobs follow': 'follows a subscription',
  'devices log': 'follows a subscription',
  'events tail': 'follows a subscription',
  mcp: 'waits for messages of an agent',
  '--watch': 'has no end',
  '--password': 'reads standard input',
  'login ': 'reads standard input',
};

export const isRunnable = (example: string): boolean => !Object.keys(notRun).some((part) => example.includes(part));

export interface Shown {
  readonly name: string;
  readonly command: Command;
}

export const groupNames = commands.filter((command) => command.commands.length > 0).map(({ name }) => name);
export const leaves = commands.flatMap((command) => leavesOf(command, ''));

function leavesOf(command: Command, prefix: string): readonly Shown[] {
  const name = `${prefix}${command.name}`;
  if (command.commands.length === 0) return [{ name, command }];
  return command.commands.flatMap((inner) => leavesOf(inner, `${name} `));
}

export interface Examples {
  readonly hub: SchemaHub;
  /** The words of an example, as a shell splits them; its files are in a folder of the spec. */
  readonly wordsOf: (example: string, shown: Shown) => readonly string[];
  readonly close: () => Promise<void>;
}

export async function openExamples(): Promise<Examples> {
  const hub = await startSchemaHub();
  const folder = mkdtempSync(path.join(tmpdir(), 'flotilla-examples-'));
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const files = {
    'boards.csv': 'deviceId\nd1\n',
    'dump.sql': "INSERT INTO `ai_device` (`id`, `agent_id`) VALUES ('02:00:00:00:00:01', NULL);",
    'xiaozhi.bin': 'image',
    'xiaozhi.bin.sig': 'signature',
    'lobby.graphql': 'query Lobby($tag: String!) { devices(filter: { tags: [$tag] }) { nodes { id } } }',
    // As the hub has it, so that an apply only records it.
    'flotilla.yaml': 'flotilla: 1\nDeviceGroup: { text: { filter: {} } }\n',
    'sign.pem': privateKey.export({ format: 'pem', type: 'pkcs8' }),
    'build.pem.pub': publicKey.export({ format: 'pem', type: 'spki' }),
    'flotilla/profiles.json': JSON.stringify({ profiles: { shop: { url: hub.url, key: 'a-key' } } }),
  };
  mkdirSync(path.join(folder, 'flotilla'));
  vi.stubEnv('XDG_CONFIG_HOME', folder);
  for (const [name, content] of Object.entries(files)) writeFileSync(path.join(folder, name), content, { mode: 0o600 });

  function wordsOf(example: string, { name }: Shown): readonly string[] {
    const [line = ''] = example.split(' > ');
    return [...line.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(([, double, single, bare]) => {
      const word = double ?? single ?? bare ?? '';
      if (name === 'firmware sign' && word === 'build.pem')
        return path.join(folder, line.includes('--new-key') ? 'new.pem' : 'sign.pem');
      return /\.(?:csv|sql|bin|sig|pub|graphql|yaml|jsonl)$/.test(word) ? path.join(folder, path.basename(word)) : word;
    });
  }

  return {
    hub,
    wordsOf,
    close: async () => {
      vi.unstubAllEnvs();
      rmSync(folder, { recursive: true });
      await hub.close();
    },
  };
}

/** The id in an example, which all things of the hub get. */
export function idIn(example: string): string {
  return /\b[\da-f]{8}-[\da-f-]{27}|(?:[\da-f]{2}:){5}[\da-f]{2}/.exec(example)?.[0] ?? 'an-id';
}
