/** `flotilla policies`: what the hub may do with a tool. */
import { expectAccepted, type FlotillaClient } from '@flotilla/client';
import { withClient } from '../../connection.js';
import { printChange } from '../../console/output.js';
import { printable } from '../../console/printable.js';
import { DeleteToolPolicyDocument, SetToolPolicyDocument, ToolPoliciesDocument } from '../../generated/operations.js';
import { jsonObject } from '../../json-input.js';
import { durationOption } from '../../options/duration-option.js';
import { group, hubLeaf, leaf } from '../command.js';
import { printList, rowsOf, withListOptions } from '../lists.js';
import { given, textOption } from '../../options/shared-options.js';

const policies = async (client: FlotillaClient) => (await client.request(ToolPoliciesDocument)).toolPolicies;

const pattern = {
  type: 'string',
  demandOption: true,
  describe: 'Name of a tool, or its beginning with *, such as self.lamp.*',
} as const;

const listCommand = hubLeaf({
  usage: 'list',
  isDefault: true,
  summary: 'List policies; the longest pattern that matches a tool applies',
  examples: ['policies'],
  options: (args) => withListOptions(args),
  run: (args, client) =>
    printList(
      () => rowsOf(policies(client)),
      [
        'pattern',
        'idempotent',
        'disruptive',
        'readOnly',
        'verification',
        { key: 'callTimeoutMs', head: 'TIMEOUT (MS)' },
      ],
      args,
    ),
});

/** The revision of a policy that must not exist yet. */
const noRevision = '';

function newPolicy(name: string) {
  return { pattern: name, idempotent: false, disruptive: false, revision: noRevision };
}

const setCommand = leaf({
  usage: 'set <pattern>',
  summary: 'Create or change a policy',
  examples: ['policies set "self.lamp.*" --idempotent --timeout 10s'],
  notes:
    'Options that are not given stay as they are; in a new policy they are off. ' +
    'It fails if another person changed the policy in the meantime.',
  options: (args) =>
    args
      .positional('pattern', pattern)
      .option('idempotent', { type: 'boolean', describe: 'The hub may repeat a call whose outcome is unknown' })
      .option('disruptive', { type: 'boolean', describe: 'The tool interrupts the work of the device' })
      .option('read-only', { type: 'boolean', describe: 'The tool only reads' })
      .option('disconnect-expected', { type: 'boolean', describe: 'The device disconnects when it runs the tool' })
      .option('verification', { choices: ['NONE', 'READBACK', 'REBOOT', 'FIRMWARE'] as const, requiresArg: true })
      .option('failure-text', textOption('Text of a result that means failure'))
      .option(
        'timeout',
        durationOption('timeout', 'How long to wait for a device', {
          plain: 's',
          min: '1s',
          max: '5m',
          isFraction: true,
        }),
      )
      .option('input', textOption('Other fields of ToolPolicyInput as JSON, such as a readback')),
  run: (args) => {
    const other = args.input === undefined ? {} : jsonObject(args.input, '--input');
    return withClient(args, async (client) => {
      const former = (await policies(client)).find((policy) => policy.pattern === args.pattern);
      const { revision, ...now } = former ?? newPolicy(args.pattern);
      const { idempotent, disruptive, readOnly, disconnectExpected, verification, failureText, timeout } = args;
      const callTimeoutMs = timeout === undefined ? undefined : Math.round(timeout * 1_000);
      const input = {
        ...now,
        ...given({ idempotent, disruptive, readOnly, disconnectExpected, verification, failureText, callTimeoutMs }),
        ...other,
      };
      const { setToolPolicy } = await client.request(SetToolPolicyDocument, { input, revision });
      await printChange({ ...expectAccepted(setToolPolicy).toolPolicy }, args);
    });
  },
});

const deleteCommand = hubLeaf({
  usage: 'delete <pattern>',
  summary: 'Delete a policy; the next shorter pattern applies',
  examples: ['policies delete "self.lamp.*" --yes'],
  options: (args) => args.positional('pattern', pattern),
  question: (args) => `The policy of ${printable(args.pattern)} will be deleted.`,
  run: async (args, client) => {
    const { deleteToolPolicy } = await client.request(DeleteToolPolicyDocument, { pattern: args.pattern });
    await printChange({ deletedPattern: expectAccepted(deleteToolPolicy).pattern }, args);
  },
});

export const policiesCommand = group('policies', 'List and change the policies of tools', [
  listCommand,
  setCommand,
  deleteCommand,
]);
