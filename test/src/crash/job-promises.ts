/**
 * What a hub promises about jobs, held against what its devices ran and what it answered, whenever
 * it was killed. Each function returns the violations as sentences; none is what a story wants.
 * [jobs §4]
 */
import type { DeviceRun } from './device-witness.js';
import type { RecordedCall, RecordedJob, RecordedMove, RecordedTarget } from './job-records.js';
import { endsOf, sumOfCounters } from './job-records.js';
import { RESTART_TOOL, type JobShape } from './job-shapes.js';
import type { KeyedCall, MadeJob, SteeringVerb } from './operator.js';
import { SINGLE_CALL_TOOL } from './operator.js';

/** Outcomes that say: certainly never sent. */
const NEVER_SENT: readonly string[] = ['REJECTED', 'CANCELLED', 'EXPIRED', 'SKIPPED', 'NO_CHANGE'];
/** Tokens that a pace may hold back, seconds of it: two blocks of 50 ms. */
const BUCKET_SECONDS = 0.1;
/** Clocks are read in two processes of one machine, ms. */
const CLOCK_MS = 5;
/**
 * A claim may have waited so long for others, ms: where a hub was killed, the start of a call is
 * that of its claim.
 */
const CLAIM_WAIT_MS = 500;

/** A round of the story as the checks see it. */
export interface Round {
  readonly job: RecordedJob;
  readonly made: MadeJob;
  /** Of this job alone; empty where its calls carry no mark. */
  readonly runs: readonly DeviceRun[];
}

/** With what the hub says of its calls. */
export interface CalledRound extends Round {
  readonly calls: readonly RecordedCall[];
}

export function runsOf({ mark, input }: JobShape, runs: readonly DeviceRun[]): readonly DeviceRun[] {
  return mark === undefined
    ? []
    : runs.filter(({ tool, args }) => tool === input.tool && args[mark.argument] === mark.value);
}

/** Counters sum to the total and equal the rows. */
export function countersDiffer(job: RecordedJob): readonly string[] {
  const { name, progress, state, targets } = job;
  if (state === 'PREPARING' || state === 'SCHEDULED') return [];
  const sum = sumOfCounters(job);
  const problems = sum === progress['total'] ? [] : [`${name}: the counters sum to ${sum} of ${progress['total']}`];
  if (state !== 'FINISHED') return problems;
  const rows = new Map<string, number>();
  for (const { outcome } of targets) rows.set(camelCased(outcome), (rows.get(camelCased(outcome)) ?? 0) + 1);
  for (const [counter, count] of Object.entries(progress)) {
    const expected = counter === 'total' ? targets.length : (rows.get(counter) ?? 0);
    if (count !== expected) problems.push(`${name}: ${counter} is ${count}, and there are ${expected} such rows`);
  }
  return problems;
}

/** A decided target stays as it is, but for an unknown one that a late answer moves once. */
export function decisionsChanged(before: RecordedJob, after: RecordedJob): readonly string[] {
  const now = new Map(after.targets.map((target) => [target.deviceId, target]));
  const changed = before.targets.filter(({ deviceId, outcome, late }) => {
    const target = now.get(deviceId);
    if (outcome === null || outcome === target?.outcome) return false;
    return !(
      outcome === 'UNKNOWN' &&
      !late &&
      target?.late === true &&
      ['SUCCEEDED', 'FAILED'].includes(target.outcome ?? '')
    );
  });
  return [
    ...changed.map(
      ({ deviceId, outcome }) =>
        `${after.name}: ${deviceId} was ${outcome} and is ${now.get(deviceId)?.outcome ?? 'gone'}`,
    ),
    ...(before.state === 'FINISHED' && after.state !== 'FINISHED'
      ? [`${after.name}: was FINISHED and is ${after.state}`]
      : []),
    ...(before.conclusion !== null && before.conclusion !== after.conclusion
      ? [`${after.name}: was ${before.conclusion}, is ${after.conclusion}`]
      : []),
  ];
}

/** What ran where, against what is said of it. */
export function runsContradict({ job, made, runs }: Round): readonly string[] {
  const { shape } = made;
  if (shape.mark === undefined) return [];
  return job.targets.flatMap(({ deviceId, outcome, attempts }) => {
    const count = runs.filter(({ device }) => device === deviceId).length;
    const says = `${job.name}: ${deviceId} ended ${outcome} after ${attempts} attempts and ran the call ${count} times`;
    const isWrong =
      count > attempts ||
      (!shape.isIdempotent && (count > 1 || attempts > 1)) ||
      (count > 0 && NEVER_SENT.includes(outcome ?? '')) ||
      (count === 0 && ['SUCCEEDED', 'FAILED'].includes(outcome ?? ''));
    return isWrong ? [says] : [];
  });
}

/** Restarts carry no mark: all of them together, device by device. */
export function restartsContradict(rounds: readonly Round[], all: readonly DeviceRun[]): readonly string[] {
  const restarts = rounds.filter(({ made }) => made.shape.isDisruptive);
  const devices = new Set(restarts.flatMap(({ job }) => job.targets.map(({ deviceId }) => deviceId)));
  return [...devices].flatMap((deviceId) => {
    const targets = restarts.flatMap(({ job }) => job.targets.filter((target) => target.deviceId === deviceId));
    const count = all.filter(({ device, tool }) => device === deviceId && tool === RESTART_TOOL).length;
    const most = sum(targets, ({ attempts }) => attempts);
    const least = targets.filter(({ outcome }) => outcome === 'SUCCEEDED').length;
    return count >= least && count <= most ? [] : [`${deviceId} was restarted ${count} times, not ${least} to ${most}`];
  });
}

/**
 * Nothing of a wave runs before it was opened, and the hub opens one only when the one before is
 * decided as far as it must be.
 */
export function wavesOverlap({ job, runs }: Round): readonly string[] {
  const openedAt = new Map(
    job.waves.map((wave) => [wave.number, wave.openedAt === null ? Infinity : Date.parse(wave.openedAt)]),
  );
  const waveOf = new Map(job.targets.map(({ deviceId, wave }) => [deviceId, wave]));
  const early = runs.filter(
    ({ device, at }) => job.waves.length > 0 && at + CLOCK_MS < (openedAt.get(waveOf.get(device) ?? 0) ?? Infinity),
  );
  const hasty = job.waves.slice(1).flatMap((wave, index) => {
    const former = job.waves[index];
    const at = openedAt.get(wave.number) ?? Infinity;
    if (former === undefined || former.approvedBy !== null || at === Infinity) return [];
    const decided = job.targets.filter((target) => target.wave === former.number && isDecidedBy(target, at)).length;
    const needed = former.size * (former.number === 1 ? 1 : 0.9);
    return decided >= needed
      ? []
      : [`${job.name}: wave ${wave.number} opened with ${decided} of ${former.size} decided before it`];
  });
  const sizes = job.waves.filter(
    ({ number, size }) => job.targets.filter((target) => target.wave === number).length !== size,
  );
  return [
    ...early.map(({ device }) => `${job.name}: ${device} ran before its wave was open`),
    ...hasty,
    ...sizes.map(({ number, size }) => `${job.name}: wave ${number} has not ${size} targets`),
  ];
}

/**
 * From the start of the job on, never more than the pace allows. What devices saw may be later than
 * the send, never earlier.
 */
export function paceExceeded({ job, made, runs }: Round): readonly string[] {
  const { perMinute } = made.shape.input;
  if (perMinute === undefined) return [];
  const perMs = perMinute / 60_000;
  const from = Date.parse(job.createdAt);
  const most = (at: number) => Math.max(1, BUCKET_SECONDS * 1_000 * perMs) + (at - from + CLOCK_MS) * perMs;
  const ordered = runs.map(({ at }) => at).sort((one, other) => one - other);
  const above = ordered.findIndex((at, index) => index + 1 > most(at));
  return above === -1
    ? []
    : [`${job.name}: ${above + 1} sends at a time when ${most(ordered[above] ?? 0)} were allowed`];
}

/**
 * After a rule trips, at most the batch in claim is sent. The final number of failures proves
 * nothing: a kill can make answered calls unknown. [jobs §4, §15]
 */
export function ruleMissed({ job, made, calls }: CalledRound): readonly string[] {
  const { abort, maxInFlight } = made.shape.input;
  const rule = abort?.[0];
  if (rule === undefined || job.state !== 'FINISHED') return [];
  const failedAt = job.targets
    .flatMap(({ outcome, decidedAt }) =>
      decidedAt !== null && rule.outcomes.includes(outcome ?? '') ? Date.parse(decidedAt) : [],
    )
    .sort((one, other) => one - other);
  const reachedAt = failedAt[rule.count - 1] ?? Infinity;
  const sentAfter = calls.filter(({ from }) => from > reachedAt).length;
  const { trippedRule: tripped, conclusion } = job;
  const problems = [
    ...(sentAfter > maxInFlight ? [`${sentAfter} calls were sent after ${rule.count} had failed`] : []),
    ...(tripped === null && reachedAt < Infinity && conclusion !== 'CANCELLED'
      ? [`${failedAt.length} failed, and the rule did not trip`]
      : []),
    ...(tripped !== null && tripped.failed < rule.count ? [`the rule tripped at ${tripped.failed}`] : []),
    ...(tripped !== null && conclusion !== 'ABORTED'
      ? [`a rule that cancels tripped, and it ended ${conclusion}`]
      : []),
  ];
  return problems.map((problem) => `${job.name}: ${problem} ${endsOf(job)}`);
}

/**
 * What was answered holds: what ends goes on to its end, cancelled stays cancelled, and between a
 * pause and the next resumption no more runs than was in flight.
 */
export function answersBroken({ job, made, runs }: Round): readonly string[] {
  const ordered = [...made.steerings].sort((one, other) => one.askedAt - other.askedAt);
  const broken: string[] = [];
  for (const [index, { verb, state, answeredAt }] of ordered.entries()) {
    if (state === 'CANCELLING' && !conclusionsAfterCancelling(verb, made.shape).includes(job.conclusion ?? ''))
      broken.push(`${job.name}: ${verb} was answered ${state}, and it ended ${job.conclusion} ${endsOf(job)}`);
    if (verb !== 'pauseJob' || state !== 'PAUSED') continue;
    const goesOnAt = ordered.slice(index + 1).find((next) => next.verb !== 'pauseJob')?.askedAt ?? Infinity;
    const wasAskedMeanwhile = ordered
      .slice(0, index)
      .some((former) => former.answeredAt > answeredAt && former.verb !== 'pauseJob');
    const while_ = runs.filter(({ at }) => at > answeredAt && at < goesOnAt).length;
    if (!wasAskedMeanwhile && while_ > made.shape.input.maxInFlight)
      broken.push(`${job.name}: ${while_} calls ran while it was paused`);
  }
  return broken;
}

/** A cancelled job ends as cancelled. Other requests receive only that it ends. [jobs §2] */
function conclusionsAfterCancelling(verb: SteeringVerb, { input }: JobShape): readonly string[] {
  if (verb === 'cancelJob' || verb === 'forceCancel') return ['CANCELLED'];
  return [
    'CANCELLED',
    ...(input.abort ? ['ABORTED'] : []),
    ...(input.expiresInSeconds ? ['EXPIRED', 'SUCCEEDED', 'FAILED', 'PARTIAL'] : []),
  ];
}

/**
 * Each change starts at the state before, with the next version. A job is created once and ends
 * once. A job that is being cancelled may be cancelled again, by force.
 */
export function movesBroken(job: RecordedJob, moves: readonly RecordedMove[]): readonly string[] {
  const [created, ...rest] = moves;
  const story = moves.map(({ action, to }) => `${action}>${to ?? ''}`).join(' ');
  const isChained = rest.every(
    (move, index) =>
      index === 0 || (move.from === rest[index - 1]?.to && (move.version ?? 0) > (rest[index - 1]?.version ?? 0)),
  );
  const isOnce =
    created?.action === 'job.created' &&
    moves.filter(({ to }) => to === 'FINISHED').length === 1 &&
    rest.at(-1)?.to === 'FINISHED';
  return isChained && isOnce && rest.every(({ from, to }) => from !== to || to === 'CANCELLING')
    ? []
    : [`${job.name}: its moves are ${story}`];
}

/**
 * Until the target of a disruptive job is decided, no other job calls its device. Single calls may.
 * [jobs §16]
 */
export function devicesShared(rounds: readonly CalledRound[], all: readonly DeviceRun[]): readonly string[] {
  const holders = rounds.flatMap(({ job, made, calls }) =>
    made.shape.isDisruptive ? calls.map((call) => ({ ...call, job })) : [],
  );
  const restarts = all.filter(({ tool }) => tool === RESTART_TOOL);
  return holders.flatMap((holder) => {
    const { deviceId, from, to } = holder;
    const restartedAt =
      restarts.find(({ device, at }) => device === deviceId && at >= from - CLOCK_MS && at <= to)?.at ?? Infinity;
    const intruders = rounds.flatMap(({ job, runs }) =>
      runs
        .filter(({ device, at }) => device === deviceId && at > restartedAt && at < to - CLOCK_MS)
        .map(({ at }) => ({ job, at })),
    );
    const rivals = holders
      .filter((other) => other.job !== holder.job && other.deviceId === deviceId)
      .filter((other) => Math.min(other.to, to) - Math.max(other.from, from) > CLAIM_WAIT_MS);
    return [
      ...intruders.map(
        ({ job, at }) =>
          `${deviceId} was ${holder.job.name}'s from ${restartedAt} to ${to} and ran ${job.name} at ${at}`,
      ),
      ...rivals.map((other) => `${deviceId} was held by ${holder.job.name} and called by ${other.job.name}`),
    ];
  });
}

/** A call with a key runs once however often it was asked for. */
export function keyedCallsRepeated(calls: readonly KeyedCall[], all: readonly DeviceRun[]): readonly string[] {
  return [...new Set(calls.map(({ deviceId }) => deviceId))].flatMap((deviceId) => {
    const own = calls.filter((call) => call.deviceId === deviceId);
    const count = all.filter(({ device, tool }) => device === deviceId && tool === SINGLE_CALL_TOOL).length;
    const least = own.filter(({ outcome }) => outcome === 'SUCCEEDED').length;
    const most = own.filter(
      ({ outcome }) => outcome === 'SUCCEEDED' || outcome === 'UNKNOWN' || outcome === 'FAILED',
    ).length;
    return count >= least && count <= most ? [] : [`${deviceId} ran ${count} single calls, not ${least} to ${most}`];
  });
}

function isDecidedBy({ decidedAt, late }: RecordedTarget, at: number): boolean {
  return late || (decidedAt !== null && Date.parse(decidedAt) <= at + CLOCK_MS);
}

function camelCased(outcome: string | null): string {
  return (outcome ?? 'none').toLowerCase().replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
}

function sum<Item>(items: readonly Item[], valueOf: (item: Item) => number): number {
  return items.reduce((total, item) => total + valueOf(item), 0);
}
