/** `npm run bench`: every figure that the hub must hold, in one run. A table on standard error, JSON on standard output; exit code 1 when one is missed. */
import { cpus } from 'node:os';
import { benchCalls } from './calls.js';
import { benchConversations } from './conversations.js';
import { benchConnectedFleet } from './connected-fleet.js';
import { benchLargeJobs } from './large-jobs.js';
import { benchListPages } from './list-pages.js';
import { holds, table, type Figure } from './report.js';

/** How long each server of the first comparison is watched; `--seconds 3` for a quick look. */
const DEFAULT_SECONDS = 10;

const given = process.argv.indexOf('--seconds');
const seconds = given === -1 ? DEFAULT_SECONDS : Number(process.argv[given + 1]);
if (!Number.isFinite(seconds) || seconds <= 0) {
  process.stderr.write('--seconds must be a positive number of seconds.\n');
  process.exit(2);
}
/** `--only jobs` for one of the parts. */
const parts: Readonly<Record<string, () => Promise<readonly Figure[]>>> = {
  calls: () => benchCalls(seconds),
  fleet: benchConnectedFleet,
  jobs: benchLargeJobs,
  pages: benchListPages,
  voice: benchConversations,
};
/** Only where it is asked for by its name. */
const apart = 'pages';
const only = process.argv.indexOf('--only');
const chosen = only === -1 ? Object.keys(parts).filter((name) => name !== apart) : [process.argv[only + 1] ?? ''];
const figures: Figure[] = [];
for (const name of chosen) {
  const part = parts[name];
  if (part === undefined) {
    process.stderr.write(`--only takes one of ${Object.keys(parts).join(', ')}.\n`);
    process.exit(2);
  }
  figures.push(...(await part()));
}
process.stderr.write(`${table(figures)}\n`);
process.stdout.write(`${JSON.stringify({ at: new Date().toISOString(), node: process.version, cores: cpus().length, figures })}\n`);
process.exitCode = figures.every(holds) ? 0 : 1;
