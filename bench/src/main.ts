/**
 * `npm run bench`: measures every figure that the hub must hold. Prints a table on standard error
 * and JSON on standard output. The exit code is 1 if a figure is missed.
 */
import { cpus } from 'node:os';
import { benchCalls } from './calls.js';
import { benchConnectedFleet } from './connected-fleet.js';
import { benchLargeJobs } from './large-jobs.js';
import { benchListPages, benchMillion } from './pages/large-registries.js';
import { benchSubscribers } from './subscribers/live-subscribers.js';
import { holds, table, type Figure } from './report.js';
import { benchDesiredStates } from './scale/desired-states.js';
import { measureOneGateway } from './scale/one-gateway.js';
import { benchPointsBesideCalls } from './signals/beside-calls.js';
import { benchLargeHistory } from './signals/large-history.js';
import { benchSignals } from './signals/signals.js';
import { benchTracedCalls } from './signals/traced-calls.js';
import { benchSoak } from './scale/soak.js';
import { measureThreeGateways } from './scale/three-gateways.js';
import { benchConversations } from './voice/conversations.js';

/** How long each server of the first comparison is measured; change it with `--seconds 3`. */
const DEFAULT_SECONDS = 10;

/** How long the part `soak` takes; change it with `--minutes 5`. */
const DEFAULT_MINUTES = 30;

/** Concurrent conversations of the part `voice`; change it with `--conversations 100`. */
const DEFAULT_CONVERSATIONS = 500;

/** Connected devices of the part `desired`; change it with `--devices 1000`. */
const DEFAULT_DEVICES = 10_000;

function numberAfter(option: string, otherwise: number): number {
  const given = process.argv.indexOf(option);
  const value = given === -1 ? otherwise : Number(process.argv[given + 1]);
  if (Number.isFinite(value) && value > 0) return value;
  process.stderr.write(`${option} needs a positive number, such as ${option} ${otherwise}.\n`);
  process.exit(2);
}

const seconds = numberAfter('--seconds', DEFAULT_SECONDS);
const minutes = numberAfter('--minutes', DEFAULT_MINUTES);
const conversations = numberAfter('--conversations', DEFAULT_CONVERSATIONS);
const devices = numberAfter('--devices', DEFAULT_DEVICES);
/** The parts by name, for `--only jobs`. */
const parts: Readonly<Record<string, () => Promise<readonly Figure[]>>> = {
  calls: () => benchCalls(seconds),
  desired: () => benchDesiredStates(devices),
  fleet: benchConnectedFleet,
  history: benchLargeHistory,
  jobs: benchLargeJobs,
  million: benchMillion,
  pages: benchListPages,
  scale: benchScale,
  signals: async () => [...(await benchSignals()), ...(await benchPointsBesideCalls())],
  soak: () => benchSoak(minutes),
  subscribers: benchSubscribers,
  traces: benchTracedCalls,
  voice: () => benchConversations(conversations),
};
/** Parts that run only with `--only`. */
const apart = ['desired', 'history', 'million', 'pages', 'scale', 'signals', 'soak', 'subscribers', 'traces'];
const only = process.argv.indexOf('--only');
const chosen =
  only === -1 ? Object.keys(parts).filter((name) => !apart.includes(name)) : [process.argv[only + 1] ?? ''];
const figures: Figure[] = [];
for (const name of chosen) {
  const part = parts[name];
  if (part === undefined) {
    process.stderr.write(`Unknown part "${name}". Use --only with one of ${Object.keys(parts).join(', ')}.\n`);
    process.exit(2);
  }
  figures.push(...(await part()));
}
process.stderr.write(`${table(figures)}\n`);
process.stdout.write(
  `${JSON.stringify({ at: new Date().toISOString(), node: process.version, cores: cpus().length, figures })}\n`,
);
process.exitCode = figures.every(holds) ? 0 : 1;

async function benchScale(): Promise<readonly Figure[]> {
  const { figures, cost } = await measureOneGateway();
  return [...figures, ...(await measureThreeGateways(cost))];
}
