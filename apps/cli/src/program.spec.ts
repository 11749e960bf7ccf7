/**
 * Each mutation of the API has a command, and each command has examples that work. The examples
 * run as people type them, against a hub that is made of the schema.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { groupNames, idIn, isRunnable, leaves, openExamples, type Examples, type Shown } from './examples.suite.js';
import { programOf } from './program.js';
import { runCommand } from './run-command.suite.js';
import { mutations } from './schema-hub.suite.js';

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
  testWebhook: 'webhooks test',
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

let examples: Examples;
beforeAll(async () => {
  examples = await openExamples();
});
afterAll(() => examples.close());

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
  const { hub, wordsOf } = examples;
  hub.restart(idIn(example));
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
      if (!isRunnable(example)) continue;
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
