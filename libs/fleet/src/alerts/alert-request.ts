/** The limits of alert rules, and what is refused. */
import { isDeviceKind } from '@flotilla/signals';
import type { AlertKind } from '@flotilla/signals';
import type { AlertRulePlan, Registry } from '@flotilla/registry';
import { refuseFilter } from '../device-filter-rules.js';
import { refuseUnknownGroups } from '../groups/device-groups.js';
import { refuse } from '../refusal.js';
import type { Refusal } from '../refusal.js';

/** Rules of one hub: each is evaluated every few seconds. */
export const rulesMax = 200;
const CHANNELS_MAX = 20;
const PATH_CHARACTERS_MAX = 300;
const DAY_SECONDS = 86_400;
/** One line of a list. */
const namePattern = /^\P{Cc}{1,100}$/u;
const shares: ReadonlySet<AlertKind> = new Set(['FLEET_OFFLINE_SHARE', 'CALL_FAILURE_RATIO']);
/** Kinds that are not about devices. */
const hubKinds: ReadonlySet<AlertKind> = new Set(['WEBHOOK_FAILING', 'HUB_UNHEALTHY']);

interface Bounds {
  readonly min: number;
  readonly max: number;
}
const seconds: Readonly<Record<'forSeconds' | 'windowSeconds' | 'repeatEverySeconds' | 'groupAbove', Bounds>> = {
  forSeconds: { min: 0, max: 30 * DAY_SECONDS },
  windowSeconds: { min: 10, max: 7 * DAY_SECONDS },
  repeatEverySeconds: { min: 60, max: 30 * DAY_SECONDS },
  groupAbove: { min: 0, max: 1_000_000 },
};

export async function refuseRule(
  registry: Pick<Registry, 'deviceGroups'>,
  plan: AlertRulePlan,
): Promise<Refusal | undefined> {
  return (
    refuseName(plan.name) ??
    refuseNumbers(plan) ??
    refuseThreshold(plan) ??
    refusePath(plan) ??
    refuseChannels(plan) ??
    (await refuseDevices(registry, plan))
  );
}

export function refuseName(name: string): Refusal | undefined {
  return name.trim() === '' || !namePattern.test(name)
    ? refuse('INVALID', ['input', 'name'], 'The name has 1 to 100 characters, all on one line.')
    : undefined;
}

function refuseNumbers(plan: AlertRulePlan): Refusal | undefined {
  const wrong = (Object.keys(seconds) as (keyof typeof seconds)[]).find((name) => {
    const value = plan[name];
    return value !== undefined && (value < seconds[name].min || value > seconds[name].max);
  });
  if (wrong === undefined) return undefined;
  const { min, max } = seconds[wrong];
  return refuse('INVALID', ['input', wrong], `"${wrong}" is a whole number from ${min} to ${max}.`);
}

function refuseThreshold({ kind, threshold }: AlertRulePlan): Refusal | undefined {
  const path = ['input', 'threshold'];
  if (threshold === undefined)
    return kind === 'MEASUREMENT' ? refuse('INVALID', path, 'A MEASUREMENT rule needs a threshold.') : undefined;
  if (!Number.isFinite(threshold)) return refuse('INVALID', path, 'A threshold is a number.');
  if (threshold < 0 && kind !== 'MEASUREMENT') return refuse('INVALID', path, 'A threshold is 0 or more.');
  return shares.has(kind) && threshold > 1
    ? refuse('INVALID', path, 'A share is from 0 to 1: 0.1 is a tenth.')
    : undefined;
}

function refusePath({ kind, path }: AlertRulePlan): Refusal | undefined {
  const place = ['input', 'path'];
  if (kind !== 'MEASUREMENT')
    return path === undefined ? undefined : refuse('INVALID', place, `A rule of the kind ${kind} has no path.`);
  if (path === undefined || path.trim() === '')
    return refuse('INVALID', place, 'A MEASUREMENT rule needs a path, such as "self.get_device_status:battery.level".');
  if (path.includes('*'))
    return refuse('INVALID', place, 'A MEASUREMENT rule has one path without "*". Create a rule for each path.');
  return path.length > PATH_CHARACTERS_MAX
    ? refuse('LIMIT_EXCEEDED', place, `"path" has at most ${PATH_CHARACTERS_MAX} characters.`)
    : undefined;
}

function refuseChannels({ channelIds }: AlertRulePlan): Refusal | undefined {
  return channelIds.length > CHANNELS_MAX
    ? refuse('LIMIT_EXCEEDED', ['input', 'channelIds'], `A rule has at most ${CHANNELS_MAX} channels.`)
    : undefined;
}

async function refuseDevices(
  registry: Pick<Registry, 'deviceGroups'>,
  { devices, kind }: AlertRulePlan,
): Promise<Refusal | undefined> {
  const path = ['input', 'devices'];
  if (devices === undefined) return undefined;
  const refusal = refuseFilter(devices, path);
  if (refusal !== undefined) return refusal;
  if (hubKinds.has(kind) && devices.all !== true)
    return refuse('INVALID', path, `A rule of the kind ${kind} is not about devices: leave "devices" out.`);
  return refuseUnknownGroups(registry, devices, path);
}

/** Whether the rule can name one device to snooze. */
export function canSnoozeDevice(kind: AlertKind): boolean {
  return isDeviceKind(kind);
}
