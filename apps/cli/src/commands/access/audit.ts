/** `flotilla audit`: who changed what. */
import { AuditEntriesDocument } from '../../generated/operations.js';
import { eachNode } from '../../pages.js';
import { timeOption } from '../../options/time-option.js';
import { hubLeaf } from '../command.js';
import { printList, withListOptions } from '../lists.js';
import { given, textOption } from '../../options/shared-options.js';

export const auditCommand = hubLeaf({
  usage: 'audit',
  summary: 'List the audit trail, latest first',
  examples: ['audit --action job.created --since 7d', 'audit --actor admin --since 2026-01-01 --output csv --limit 0'],
  options: (args) =>
    withListOptions(args, 50)
      .option('actor', textOption('Name of the key or user'))
      .option('action', textOption('Action, such as job.created'))
      .option('subject', textOption('Changed object, such as device:<id>'))
      .option('since', timeOption('since', 'From this time, such as 7d, 12h or 2026-01-31'))
      .option('until', timeOption('until', 'Before this time')),
  run: (args, client) => {
    const { actor, action, subject, since, until } = args;
    const filter = given({ actor, action, subject, since, until });
    return printList(
      () => eachNode(async (page) => (await client.request(AuditEntriesDocument, { filter, ...page })).auditEntries),
      ['sequence', 'at', 'actor', 'action', 'subject', { key: 'remoteAddress', head: 'ADDRESS' }, 'data'],
      args,
    );
  },
});
