/** `flotilla enrol`: lists and approves waiting devices, and creates enrolment links. */
import type { Argv } from 'yargs';
import { expectAccepted } from '@flotilla/client';
import { withClient } from '../connection.js';
import { printRows, printThing } from '../console/output.js';
import { ApproveEnrolmentDocument, CreateEnrolmentLinkDocument, EnrolmentsDocument } from '../generated/operations.js';
import { eachNode, upTo } from '../pages.js';
import { command, limitOption, type GlobalArguments } from './command.js';
import { daysMax, intMax, numberOf, numberOption } from '../number-option.js';

const tagOption = {
  type: 'string',
  array: true,
  nargs: 1,
  requiresArg: true,
  describe: 'Tag for the device; repeatable',
} as const;

/** Default lifetime of an enrolment link. */
const linkHours = 24;

export function enrolCommand(program: Argv<GlobalArguments>) {
  return program.command('enrol', 'List and approve waiting devices', (enrol) => listWaiting(makeLink(approve(enrol))));
}

function approve(enrol: Argv<GlobalArguments>) {
  return enrol.command(
    'approve <code>',
    'Approve the device that shows this code',
    (args) =>
      args
        .positional('code', { type: 'string', demandOption: true })
        .option('name', { type: 'string', requiresArg: true })
        .option('tag', tagOption)
        .option('confirm', {
          type: 'boolean',
          default: false,
          describe: 'Approve it also if it replaces an online device',
        }),
    command((args) =>
      withClient(args, async (client) => {
        const { code, name, tag: tags, confirm } = args;
        const { approveEnrolment } = await client.request(ApproveEnrolmentDocument, { code, name, tags, confirm });
        await printThing({ ...expectAccepted(approveEnrolment).device }, args);
      }),
    ),
  );
}

function makeLink(enrol: Argv<GlobalArguments>) {
  return enrol.command(
    'link',
    'Create an OTA address that approves devices without a code, and print it once',
    (args) =>
      args
        .option('name', {
          type: 'string',
          requiresArg: true,
          demandOption: true,
          describe: 'Name of the link',
        })
        .option('max-devices', {
          ...{ type: 'string', requiresArg: true, demandOption: true, describe: 'Maximum number of devices' },
          coerce: (typed: unknown): number => numberOf('max-devices', typed, { min: 1, max: intMax }),
        })
        .option(
          'expires-in',
          numberOption('expires-in', 'Hours until the link expires [24]', {
            min: 0,
            max: daysMax * 24,
            isFraction: true,
          }),
        )
        .option('tag', tagOption),
    command((args) =>
      withClient(args, async (client) => {
        const expiresAt = new Date(Date.now() + (args.expiresIn ?? linkHours) * 3_600_000).toISOString();
        const input = {
          name: args.name,
          maxDevices: args.maxDevices,
          expiresAt,
          ...(args.tag === undefined ? {} : { tags: args.tag }),
        };
        const { enrolmentLink, url } = expectAccepted(
          (await client.request(CreateEnrolmentLinkDocument, { input })).createEnrolmentLink,
        );
        await printThing({ ...enrolmentLink, url }, args);
      }),
    ),
  );
}

function listWaiting(enrol: Argv<GlobalArguments>) {
  return enrol.command(
    ['list', '$0'],
    'List devices that wait for approval',
    (list) => list.option('limit', limitOption()),
    command((args) =>
      withClient(args, async (client) => {
        const found = eachNode(async (page) => (await client.request(EnrolmentsDocument, page)).enrolments);
        await printRows(
          upTo(args.limit, found),
          [
            { head: 'DEVICE', of: ({ deviceId }) => deviceId },
            { head: 'CODE', of: ({ code }) => code },
            { head: 'MODEL', of: ({ model }) => model },
            { head: 'FIRMWARE', of: ({ firmwareVersion }) => firmwareVersion },
            { head: 'ADDRESS', of: ({ remoteAddress }) => remoteAddress },
            { head: 'REPLACES', of: ({ replaces }) => (replaces ? 'yes' : '') },
            { head: 'SINCE', of: ({ requestedAt }) => requestedAt },
          ],
          args,
        );
      }),
    ),
  );
}
