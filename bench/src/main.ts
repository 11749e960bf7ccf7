/** `npm run bench`: every figure that the hub must hold, in one run. A table on standard error, JSON on standard output; exit code 1 when one is missed. */
import { cpus } from 'node:os';
import { benchCalls } from './calls.js';
import { benchConnectedFleet } from './connected-fleet.js';
import { holds, table } from './report.js';

/** How long each server of the first comparison is watched; `--seconds 3` for a quick look. */
const DEFAULT_SECONDS = 10;

const given = process.argv.indexOf('--seconds');
const seconds = given === -1 ? DEFAULT_SECONDS : Number(process.argv[given + 1]);
if (!Number.isFinite(seconds) || seconds <= 0) {
  process.stderr.write('--seconds must be a positive number of seconds.\n');
  process.exit(2);
}
const figures = [...(await benchCalls(seconds)), ...(await benchConnectedFleet())];
process.stderr.write(`${table(figures)}\n`);
process.stdout.write(`${JSON.stringify({ at: new Date().toISOString(), node: process.version, cores: cpus().length, figures })}\n`);
process.exitCode = figures.every(holds) ? 0 : 1;
