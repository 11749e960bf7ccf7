/** Options of lists, and how they are printed: once, or again and again with `--watch`. */
import type { Argv } from 'yargs';
import type { ColumnLike } from '../console/output-format.js';
import { printRows, say } from '../console/output.js';
import { watchRows } from '../console/watch.js';
import type { ExitCode } from '../exit-codes.js';
import { durationOf } from '../options/duration-option.js';
import { intMax, numberOf } from '../options/number-option.js';
import { firstOf } from '../pages.js';
import type { GlobalArguments } from '../options/global-options.js';

interface ListArguments extends GlobalArguments {
  readonly limit: number;
  readonly watch?: boolean | undefined;
  readonly every: number;
}

/** Adds `--limit` with its default, `--watch` and `--every`. */
export function withListOptions<Args>(args: Argv<Args>, shown = 200) {
  return args.options({
    limit: {
      type: 'string',
      default: String(shown),
      requiresArg: true,
      describe: 'Maximum number of rows; 0 for all',
      coerce: (typed: unknown): number => numberOf('limit', typed, { min: 0, max: intMax }),
    },
    watch: { alias: 'w', type: 'boolean', describe: 'Keep the list up to date until Ctrl-C' },
    every: {
      type: 'string',
      default: '2s',
      requiresArg: true,
      describe: 'Time between two readings of --watch; a plain number counts seconds',
      coerce: (typed: unknown): number =>
        durationOf('every', typed, { plain: 's', min: '0.1s', max: '1d', isFraction: true }),
    },
  } as const);
}

/** Prints the rows that `read` returns, up to the limit, and then whether there are more. */
export async function printList<Row>(
  read: () => AsyncIterable<Row>,
  columns: readonly ColumnLike<Row>[],
  args: ListArguments,
): Promise<ExitCode | void> {
  const more = `More than ${args.limit} match. List all with --limit 0.`;
  if (args.watch === true)
    return watchRows((onMore) => firstOf(args.limit, read(), onMore), columns, args, {
      everyMs: args.every * 1_000,
      more,
    });
  let areMore = false;
  const rows = firstOf(args.limit, read(), () => {
    areMore = true;
  });
  await printRows(rows, columns, args);
  if (areMore) say(more);
}

/** A list that the API returns at once. */
export async function* rowsOf<Row>(read: Promise<readonly Row[]>): AsyncGenerator<Row, void, void> {
  yield* await read;
}
