/** `flotilla enrol link` and `enrol links`: OTA addresses that approve devices without a code. */
import { expectAccepted } from '@flotilla/client';
import type { ColumnLike } from '../../console/output-format.js';
import { printChange } from '../../console/output.js';
import {
  CreateEnrolmentLinkDocument,
  EnrolmentLinksDocument,
  RevokeEnrolmentLinkDocument,
  type LinkRowFragment,
} from '../../generated/operations.js';
import { durationMax, durationOption } from '../../options/duration-option.js';
import { intMax, numberOf } from '../../options/number-option.js';
import { group, hubLeaf } from '../command.js';
import { printList, rowsOf, withListOptions } from '../lists.js';
import { listOption, textOption, withId } from '../../options/shared-options.js';

/** Default lifetime of an enrolment link: 24 hours. */
const linkSeconds = 86_400;

export const linkCommand = hubLeaf({
  usage: 'link',
  summary: 'Create an OTA address that approves devices without a code, and print it once',
  examples: ['enrol link --name "Pallet 7" --max-devices 200 --expires-in 48h --tag lobby'],
  options: (args) =>
    args
      .option('name', { ...textOption('Name of the link'), demandOption: true })
      .option('max-devices', {
        ...textOption('Maximum number of devices'),
        demandOption: true,
        coerce: (typed: unknown): number => numberOf('max-devices', typed, { min: 1, max: intMax }),
      })
      .option(
        'expires-in',
        durationOption('expires-in', 'How long the link is valid, 24h by default', { plain: 'h', max: durationMax }),
      )
      .option('tag', listOption('Tag for the devices')),
  run: async (args, client) => {
    const expiresAt = new Date(Date.now() + (args.expiresIn ?? linkSeconds) * 1_000).toISOString();
    const { name, maxDevices, tag: tags } = args;
    const input = { name, maxDevices, expiresAt, ...(tags === undefined ? {} : { tags }) };
    const { enrolmentLink, url } = expectAccepted(
      (await client.request(CreateEnrolmentLinkDocument, { input })).createEnrolmentLink,
    );
    await printChange({ ...enrolmentLink, url }, args);
  },
});

const columns: readonly ColumnLike<LinkRowFragment>[] = [
  'id',
  'name',
  { key: 'state', of: stateOf },
  { key: 'used', of: ({ usedCount, maxDevices }) => `${usedCount}/${maxDevices}` },
  'expiresAt',
  'tags',
];

function stateOf({ revokedAt, expiresAt, usedCount, maxDevices }: LinkRowFragment): string {
  if (revokedAt !== null) return 'revoked';
  if (Date.parse(expiresAt) <= Date.now()) return 'expired';
  return usedCount >= maxDevices ? 'used up' : 'open';
}

const listCommand = hubLeaf({
  usage: 'list',
  isDefault: true,
  summary: 'List links',
  examples: ['enrol links'],
  options: (args) => withListOptions(args),
  run: (args, client) =>
    printList(
      () => rowsOf(client.request(EnrolmentLinksDocument).then(({ enrolmentLinks }) => enrolmentLinks)),
      columns,
      args,
    ),
});

const revokeCommand = hubLeaf({
  usage: 'revoke <id>',
  summary: 'Revoke a link; devices that it approved stay',
  examples: ['enrol links revoke 01990000-0000-7000-8000-000000000004 --yes'],
  options: (args) => withId(args, 'Id of the link'),
  question: (args) => `The link ${args.id} will approve no more devices.`,
  run: async (args, client) => {
    const { revokeEnrolmentLink } = await client.request(RevokeEnrolmentLinkDocument, { id: args.id });
    await printChange({ ...expectAccepted(revokeEnrolmentLink).enrolmentLink }, args);
  },
});

export const linksCommand = group('links', 'List and revoke enrolment links', [listCommand, revokeCommand]);
