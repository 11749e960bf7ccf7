/** Where the conditions of each kind of rule come from. */
import type { HubStart } from '@flotilla/signals';
import {
  countedEvents,
  devicesOutOfSync,
  failingWebhooks,
  givenSubjects,
  offlineDevices,
  stoppedJobs,
} from '@flotilla/registry';
import type { AlertRuleRow, CallCounts, ConditionSource, HeldSubject, Registry } from '@flotilla/registry';

/** A problem of this hub, by a stable name. */
export interface HubProblem {
  readonly name: string;
  readonly reason: string;
}

export interface RuleSourceDeps {
  readonly registry: Pick<Registry, 'alertEvaluation' | 'fleetFigures' | 'measurements'>;
  readonly hubProblems?: (() => Promise<readonly HubProblem[]>) | undefined;
}

/** What a rule without a threshold has. */
const defaultThresholds = { FLEET_OFFLINE_SHARE: 0.1, CALL_FAILURE_RATIO: 0.2, count: 1 };
/** Fewer calls in a window say nothing about a ratio. */
const CALLS_MIN = 5;
/** A device that was away for longer has no value now, ms. */
const SEEN_WITHIN_MS = 24 * 3_600_000;
/** An older value says nothing, ms. A value that stays the same is not stored again. */
const VALUE_COUNTS_MS = 7 * SEEN_WITHIN_MS;
const FAILED: ReadonlySet<string> = new Set(['FAILED', 'VERIFY_FAILED', 'UNKNOWN', 'NOT_SENT']);
const SUCCEEDED: ReadonlySet<string> = new Set(['SUCCEEDED', 'NO_CHANGE']);

/** The rows for which the condition of the rule holds now. */
export async function conditionSourceOf(
  deps: RuleSourceDeps,
  rule: AlertRuleRow,
  hub: HubStart,
  now: number,
): Promise<ConditionSource> {
  const condition = await deps.registry.alertEvaluation.conditionOf(rule.devices);
  switch (rule.kind) {
    case 'DEVICE_OFFLINE':
      return offlineDevices(condition);
    case 'UNEXPECTED_RESTARTS':
      return countedEvents(rule, 'device.restarted_unexpectedly', condition, now);
    case 'CREDENTIAL_REFUSED':
      return countedEvents(rule, 'device.auth_refused', condition, now);
    case 'JOB_STOPPED':
      return stoppedJobs(rule, condition, now);
    case 'WEBHOOK_FAILING':
      return failingWebhooks();
    case 'FLEET_OFFLINE_SHARE':
      return givenSubjects(await offlineShare(deps, rule, hub, now), now);
    case 'CALL_FAILURE_RATIO':
      return givenSubjects(await failureRatio(deps, rule, now), now);
    case 'HUB_UNHEALTHY': {
      const problems = (await deps.hubProblems?.()) ?? [];
      return givenSubjects(
        problems.map(({ name, reason }) => ({ subject: name, facts: { label: name, reason } })),
        now,
      );
    }
    case 'MEASUREMENT':
      return givenSubjects(await measured(deps, rule, now), now);
    case 'DESIRED_STATE_OUT_OF_SYNC':
      return devicesOutOfSync(condition, hub, now);
  }
}

/** Unsure while devices may still return after a stop of the hub and would decide it. */
async function offlineShare(
  { registry }: RuleSourceDeps,
  { devices, threshold = defaultThresholds.FLEET_OFFLINE_SHARE }: AlertRuleRow,
  hub: HubStart,
  now: number,
): Promise<readonly HeldSubject[]> {
  const condition = await registry.alertEvaluation.conditionOf(devices);
  const { total, offline, returning, since } = await registry.alertEvaluation.offlineShare(condition, hub, now);
  if (offline + returning === 0 || (offline + returning) / total < threshold) return [];
  const facts = { value: offline / total, total };
  return [{ subject: '', isSure: offline > 0 && offline / total >= threshold, since, facts }];
}

async function failureRatio(
  { registry }: RuleSourceDeps,
  { devices, threshold = defaultThresholds.CALL_FAILURE_RATIO, windowSeconds }: AlertRuleRow,
  now: number,
): Promise<readonly HeldSubject[]> {
  const { total, ratio } = ratioOf(await registry.fleetFigures.callCounts(devices, now - windowSeconds * 1_000));
  const isHeld = total >= CALLS_MIN && ratio > 0 && ratio >= threshold;
  return isHeld ? [{ subject: '', facts: { value: ratio, total } }] : [];
}

/** Among calls that succeeded or failed; the others say nothing about devices. */
function ratioOf({ outcomes }: CallCounts): { readonly total: number; readonly ratio: number } {
  const sum = (wanted: ReadonlySet<string>) =>
    outcomes.filter(({ outcome }) => wanted.has(outcome)).reduce((count, each) => count + each.count, 0);
  const [failed, succeeded] = [sum(FAILED), sum(SUCCEEDED)];
  return { total: failed + succeeded, ratio: failed / Math.max(1, failed + succeeded) };
}

async function measured(
  { registry }: RuleSourceDeps,
  { below, devices, path = '', threshold = 0 }: AlertRuleRow,
  now: number,
): Promise<readonly HeldSubject[]> {
  const values = await registry.measurements.latestOver({
    filter: devices ?? { all: true },
    path,
    since: now - VALUE_COUNTS_MS,
    seenSince: now - SEEN_WITHIN_MS,
    ...(below ? { below: threshold } : { above: threshold }),
  });
  return values.map(({ deviceId, value, at }) => ({ subject: deviceId, deviceId, since: at, facts: { value } }));
}
