/**
 * Each mutation of the API has a command, and each command has examples that work. The examples
 * run as people type them, against a hub that is made of the schema.
 */
import { generateKeyPairSync } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Command } from './commands/command.js';
import { commands, programOf } from './program.js';
import { runCommand } from './run-command.suite.js';
import { mutations, startSchemaHub, type SchemaHub } from './schema-hub.suite.js';

/** The command of each mutation. */
const commandOf: Readonly<Record<string, string>> = {
  callTool: 'call',
  refreshTools: 'devices refresh-tools',
  updateDevice: 'devices edit',
  tagDevices: 'devices tag',
  registerDevice: 'devices add',
  registerDevices: 'devices import',
  takeSnapshot: 'devices snapshot',
  showImage: 'devices show-image',
  setDevicesTransport: 'devices set-transport',
  removeDevice: 'devices remove',
  removeDevices: 'devices remove-many',
  rotateDeviceCredential: 'devices rotate',
  createDeviceGroup: 'groups create',
  updateDeviceGroup: 'groups edit',
  deleteDeviceGroup: 'groups delete',
  approveEnrolment: 'enrol approve',
  rejectEnrolment: 'enrol reject',
  blockBoard: 'enrol block',
  unblockBoard: 'enrol unblock',
  addMovingBoards: 'moving add',
  moveBoards: 'moving move',
  moveBoardsBack: 'moving back',
  createEnrolmentLink: 'enrol link',
  revokeEnrolmentLink: 'enrol links revoke',
  setToolPolicy: 'policies set',
  deleteToolPolicy: 'policies delete',
  createJob: 'jobs create',
  approveJob: 'jobs approve',
  denyJob: 'jobs deny',
  rerunJob: 'jobs rerun',
  pauseJob: 'jobs pause',
  resumeJob: 'jobs resume',
  cancelJob: 'jobs cancel',
  openNextWave: 'jobs open-wave',
  setRecordingRule: 'measurements set-rule',
  deleteRecordingRule: 'measurements delete-rule',
  createRecurringJob: 'recurring create',
  updateRecurringJob: 'recurring edit',
  deleteRecurringJob: 'recurring delete',
  runRecurringJob: 'recurring run',
  createDesiredState: 'desired create',
  updateDesiredState: 'desired edit',
  setDesiredStateEnabled: 'desired enable',
  deleteDesiredState: 'desired delete',
  revertJob: 'firmware revert',
  publishFirmwareImage: 'firmware publish',
  withdrawFirmwareImage: 'firmware withdraw',
  deleteFirmwareImage: 'firmware delete',
  addFirmwareSigningKey: 'firmware keys add',
  removeFirmwareSigningKey: 'firmware keys remove',
  createApiKey: 'keys create',
  revokeApiKey: 'keys revoke',
  revokeAgentGrant: 'grants revoke',
  createWebhook: 'webhooks create',
  updateWebhook: 'webhooks edit',
  deleteWebhook: 'webhooks delete',
  redeliverWebhook: 'webhooks redeliver',
  recordAppliedConfiguration: 'apply',
  createAlertRule: 'alerts rules create',
  updateAlertRule: 'alerts rules edit',
  deleteAlertRule: 'alerts rules delete',
  acknowledgeAlert: 'alerts ack',
  snoozeAlertRule: 'alerts snooze',
  createNotificationChannel: 'channels create',
  updateNotificationChannel: 'channels edit',
  deleteNotificationChannel: 'channels delete',
  testNotificationChannel: 'channels test',
  createUser: 'users create',
  updateUser: 'users edit',
  signOutUser: 'users sign-out',
  deleteUser: 'users delete',
};

/** Mutations without a command, each with the reason. */
const withoutCommand: Readonly<Record<string, string>> = {
  changePassword: 'A person who is signed in changes it in the console; a key has no password.',
};

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

interface Shown {
  readonly name: string;
  readonly command: Command;
}

const groupNames = commands.filter((command) => command.commands.length > 0).map(({ name }) => name);
const leaves = commands.flatMap((command) => leavesOf(command, ''));

function leavesOf(command: Command, prefix: string): readonly Shown[] {
  const name = `${prefix}${command.name}`;
  if (command.commands.length === 0) return [{ name, command }];
  return command.commands.flatMap((inner) => leavesOf(inner, `${name} `));
}

let hub: SchemaHub;
let folder: string;
beforeAll(async () => {
  hub = await startSchemaHub();
  folder = mkdtempSync(path.join(tmpdir(), 'flotilla-examples-'));
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
});
afterAll(async () => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true });
  await hub.close();
});

/** The words of an example, as a shell splits them; its files are those of the spec. */
function wordsOf(example: string, { name }: Shown): readonly string[] {
  const [line = ''] = example.split(' > ');
  return [...line.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(([, double, single, bare]) => {
    const word = double ?? single ?? bare ?? '';
    if (name === 'firmware sign' && word === 'build.pem')
      return path.join(folder, line.includes('--new-key') ? 'new.pem' : 'sign.pem');
    return /\.(?:csv|sql|bin|sig|pub|graphql|yaml|jsonl)$/.test(word) ? path.join(folder, path.basename(word)) : word;
  });
}

interface Outcome {
  readonly code: unknown;
  readonly problem: string;
  readonly sent: readonly string[];
}

const outcomes = new Map<string, Promise<Outcome>>();

/** Runs an example once. */
function run(example: string, shown: Shown): Promise<Outcome> {
  const outcome = outcomes.get(example) ?? runNow(example, shown);
  outcomes.set(example, outcome);
  return outcome;
}

async function runNow(example: string, shown: Shown): Promise<Outcome> {
  hub.restart(/\b[\da-f]{8}-[\da-f-]{27}|(?:[\da-f]{2}:){5}[\da-f]{2}/.exec(example)?.[0] ?? 'an-id');
  const { code, problem, stderr } = await runCommand(hub, wordsOf(example, shown));
  return { code, problem: problem || stderr, sent: hub.restart('') };
}

describe('the mutations of the API', () => {
  it('each have a command, or a reason for having none', () => {
    const listed = [...Object.keys(commandOf), ...Object.keys(withoutCommand)].sort();
    expect(mutations.filter((mutation) => !listed.includes(mutation))).toEqual([]);
    expect(listed.filter((mutation) => !mutations.includes(mutation))).toEqual([]);
  });

  it.each(Object.entries(commandOf))('%s is sent by the first example of: flotilla %s', async (mutation, name) => {
    const shown = leaves.find((leaf) => leaf.name === name);
    if (shown === undefined) throw new Error(`There is no command ${name}.`);
    const [example = ''] = shown.command.examples;
    const { problem, sent } = await run(mutation === 'registerDevices' ? 'devices import boards.csv' : example, shown);
    expect(sent, problem).toEqual([mutation]);
  });
});

describe('the commands', () => {
  it.each(leaves)('have examples that work: flotilla $name', async (shown) => {
    const { name, command } = shown;
    expect(command.examples).not.toEqual([]);
    for (const example of command.examples) {
      expect(example.startsWith(`${name} `) || example === name || isDefault(example, shown), example).toBe(true);
      if (Object.keys(notRun).some((part) => example.includes(part))) continue;
      const { code, problem } = await run(example, shown);
      expect([example, code, code === 0 ? '' : problem]).toEqual([example, 0, '']);
    }
  });

  it.each(['', ...groupNames, ...leaves.map(({ name }) => name)])('show examples in the help of: %s', async (name) => {
    const help = await helpOf(name === '' ? [] : name.split(' '));
    const [, examples = ''] = help.split('Examples:\n');
    expect(examples).toMatch(new RegExp(`^ +flotilla ${name.replace(/ list$/, '')}`, 'm'));
  });
});

function helpOf(words: readonly string[]): Promise<string> {
  return new Promise((resolve) => {
    void programOf([]).parseAsync([...words, '--help'], {}, (_error, _args, output) => resolve(output));
  });
}

/** `flotilla jobs` is short for `flotilla jobs list`. */
function isDefault(example: string, { name, command }: Shown): boolean {
  return command.isDefault && example.startsWith(name.split(' ').slice(0, -1).join(' '));
}
