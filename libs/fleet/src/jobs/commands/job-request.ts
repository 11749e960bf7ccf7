/**
 * What an operator asks of a job, and its bounds. What depends on the fleet is checked elsewhere.
 */
import {
  abortRulesMax,
  argumentsBytesMax,
  callTimeoutMsMax,
  callTimeoutMsMin,
  jobLifeMsMax,
  maxAttemptsMax,
  maxInFlightMax,
  perMinuteMax,
  priorityMax,
  scheduleMsMax,
  soakSecondsMax,
  targetsMax,
  wavesMax,
} from '@flotilla/jobs';
import type { AbortRule, DailyWindow, HealthGate, OfflinePolicy, Verification, WaveSpec } from '@flotilla/jobs';
import { isTimeZone } from '@flotilla/mcp';
import type { DeviceFilter } from '@flotilla/registry';
import { z } from 'zod';
import { refuseFilter } from '../../device-filter-rules.js';
import { refuse, refuseIssue, sayIssue } from '../../refusal.js';
import type { Refusal } from '../../refusal.js';

export interface JobRequest {
  readonly name?: string;
  readonly tool: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly devices: DeviceFilter;
  /** What happens to offline devices (WAIT). */
  readonly offline?: OfflinePolicy;
  /** Life of never-sent targets, 1 s to 30 days (1 day). */
  readonly expiresInSeconds?: number;
  /** Time for each device's answer, 1,000 to 300,000 ms (the timeout of the tool's policy). */
  readonly callTimeoutMs?: number;
  /** Calls under way at a time, 1 to 10,000 (200). */
  readonly maxInFlight?: number;
  /** The most sends per minute; as many as there is room for where it is not given. */
  readonly perMinute?: number;
  /** 1 to 3 (2). */
  readonly priority?: number;
  /** Attempts per target of an idempotent tool, 1 to 10 (3). Any other tool is sent once. */
  readonly maxAttempts?: number;
  /** Percentages are cumulative and must rise. Targets beyond the last wave form one more. */
  readonly waves?: readonly WaveSpec[];
  /** Defaults for disruptive tools, none for others. */
  readonly abort?: readonly AbortRule[];
  readonly verification?: Verification;
  readonly skipIfSatisfied?: boolean;
  /** Roll-outs only. */
  readonly health?: HealthGate;
  /** Ms since the Unix epoch. */
  readonly startAt?: number;
  readonly window?: DailyWindow;
}

/** Characters of what a caller names: stored, indexed and shown. */
const nameLengthMax = 200;

const guard = {
  successThreshold: z.number().min(0).max(1),
  soakSeconds: z.int().min(0).max(soakSecondsMax),
  gate: z.enum(['AUTO', 'MANUAL']),
};
const waveSchema = z.union(
  [
    z.strictObject({ ...guard, percent: z.number().gt(0).max(100) }),
    z.strictObject({ ...guard, count: z.int().min(1).max(targetsMax) }),
  ],
  {
    error:
      'A wave has either "percent", above 0 and up to 100, or "count", from 1 on; ' +
      '"successThreshold" is 0 to 1 and "soakSeconds" at most a week.',
  },
);

const abortSchema = z
  .strictObject({
    outcomes: z
      .array(
        z.enum(['FAILED', 'REJECTED', 'VERIFY_FAILED', 'UNKNOWN', 'EXPIRED'], {
          error:
            'A rule counts FAILED, REJECTED, VERIFY_FAILED, UNKNOWN or EXPIRED: the other outcomes are not failures.',
        }),
      )
      .min(1),
    scope: z.enum(['WAVE', 'JOB']),
    minDecided: z.int().min(1).max(targetsMax).optional(),
    ratio: z.number().gt(0).max(1).optional(),
    count: z.int().min(1).max(targetsMax).optional(),
    action: z.enum(['PAUSE', 'CANCEL']),
  })
  .refine(({ ratio, count }) => ratio !== undefined || count !== undefined, 'A rule needs "ratio", "count" or both.');

const healthSchema = z.strictObject({
  maxRestartsPer1000Hours: z.number().gt(0).max(1e6).optional(),
  observeSeconds: z.int().min(0).max(soakSecondsMax),
  action: z.enum(['PAUSE', 'CANCEL']),
});

export const timeOfDay = z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/, 'A time of day is HH:MM, from 00:00 to 23:59.');
const windowSchema = z
  .strictObject({
    from: timeOfDay,
    to: timeOfDay,
    zone: z.string().refine(isTimeZone, 'The zone is an IANA name, for example "Europe/Berlin".'),
    days: z.array(z.int().min(1).max(7)).min(1).max(7).optional(),
  })
  .refine(({ from, to }) => from !== to, 'The window is empty: "from" and "to" are the same.');

const boundsSchema = z.object({
  name: z.string().min(1).max(nameLengthMax).optional(),
  tool: z.string().min(1, 'Say the name of the tool to call, or "firmwareImageId".').max(nameLengthMax),
  expiresInSeconds: z
    .int()
    .min(1)
    .max(jobLifeMsMax / 1_000)
    .optional(),
  callTimeoutMs: z.int().min(callTimeoutMsMin).max(callTimeoutMsMax).optional(),
  maxInFlight: z.int().min(1).max(maxInFlightMax).optional(),
  perMinute: z.int().min(1).max(perMinuteMax).optional(),
  priority: z.int().min(1).max(priorityMax).optional(),
  maxAttempts: z.int().min(1).max(maxAttemptsMax).optional(),
  waves: z
    .array(waveSchema)
    .max(wavesMax)
    .refine(isRising, 'Percentages count from the beginning: each must be above the one before.')
    .optional(),
  abort: z.array(abortSchema).max(abortRulesMax).optional(),
  health: healthSchema.optional(),
  window: windowSchema.optional(),
});

/** Undefined where the request is within its bounds, whenever it is made. */
export function refuseJobRequest(request: JobRequest): Refusal | undefined {
  const bounds = boundsSchema.safeParse(request, { error: sayIssue });
  if (!bounds.success) return refuseIssue(bounds.error.issues[0], ['input']);
  if (Buffer.byteLength(JSON.stringify(request.arguments)) > argumentsBytesMax) {
    return refuse(
      'REQUEST_TOO_LARGE',
      ['input', 'arguments'],
      `The arguments are larger than ${argumentsBytesMax} bytes of JSON.`,
    );
  }
  return refuseFilter(request.devices, ['input', 'devices']);
}

/** Apart from the other bounds, because a repetition of the request may come after the start. */
export function refuseStart({ startAt }: JobRequest, now: number): Refusal | undefined {
  if (startAt === undefined) return undefined;
  if (startAt <= now)
    return refuse('INVALID', ['input', 'startAt'], 'The start has passed; leave "startAt" out to start at once.');
  if (startAt - now <= scheduleMsMax) return undefined;
  return refuse('LIMIT_EXCEEDED', ['input', 'startAt'], 'A job starts within a year.');
}

function isRising(waves: readonly z.infer<typeof waveSchema>[]): boolean {
  const percents = waves.flatMap((wave) => ('percent' in wave ? wave.percent : []));
  return percents.every((percent, index) => index === 0 || percent > (percents[index - 1] ?? 0));
}
