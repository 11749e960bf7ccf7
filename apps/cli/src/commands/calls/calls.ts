/** `flotilla calls`: what was called, by whom, and with which outcome. */
import type { Outcome } from '@flotilla/client/schema';
import { CallsDocument } from '../../generated/operations.js';
import { given, textOption } from '../../options/shared-options.js';
import { timeOption } from '../../options/time-option.js';
import { eachNode } from '../../pages.js';
import { hubLeaf } from '../command.js';
import { printList, withListOptions } from '../lists.js';

/** Outcomes of calls that did not do what was asked. */
const failed = ['FAILED', 'REJECTED', 'VERIFY_FAILED', 'UNKNOWN', 'NOT_SENT', 'EXPIRED'] as const satisfies Outcome[];
const outcomes = ['SUCCEEDED', 'NO_CHANGE', ...failed, 'CANCELLED', 'SKIPPED'] as const satisfies Outcome[];

export const callsCommand = hubLeaf({
  usage: 'calls',
  summary: 'List calls, latest first',
  examples: ['calls --failed --since 7d --output csv --limit 0', 'calls --tool self.reboot --since 24h'],
  options: (args) =>
    withListOptions(args, 50)
      .option('device', textOption('Calls on this device'))
      .option('tool', textOption('Calls of this tool'))
      .option('job', textOption('Calls of this job'))
      .option('failed', { type: 'boolean', describe: 'Only calls that did not succeed', conflicts: 'outcome' })
      .option('outcome', { choices: outcomes, array: true, nargs: 1, describe: 'Calls with this outcome; repeatable' })
      .option('since', timeOption('since', 'From this time, such as 7d, 12h or 2026-01-31'))
      .option('until', timeOption('until', 'Before this time')),
  run: (args, client) => {
    const { device: deviceId, tool, job: jobId, since, until } = args;
    const wanted = args.failed === true ? failed : args.outcome;
    const filter = given({ deviceId, tool, jobId, outcomes: wanted, since, until });
    return printList(
      () => eachNode(async (page) => (await client.request(CallsDocument, { filter, ...page })).calls),
      [
        { key: 'startedAt', head: 'STARTED' },
        { key: 'deviceId', head: 'DEVICE' },
        'tool',
        'outcome',
        { key: 'error.code', head: 'ERROR' },
        { key: 'error.message', head: 'MESSAGE' },
        'actor',
        'jobId',
      ],
      args,
    );
  },
});
