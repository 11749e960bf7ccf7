/**
 * The rules that come with the hub. They are made once, disabled; the first channel enables those
 * that no person has changed. Rules of a later version stay disabled and without a channel on a hub
 * that has channels already, until a person enables them.
 */
import type { AlertRulePlan } from '@flotilla/registry';

const common: Omit<AlertRulePlan, 'kind' | 'name'> = {
  devices: undefined,
  severity: 'WARNING',
  forSeconds: 0,
  threshold: undefined,
  path: undefined,
  below: false,
  windowSeconds: 600,
  groupAbove: 5,
  repeatEverySeconds: undefined,
  channelIds: [],
  enabled: false,
};

/** By a stable key. */
export const shippedRules: ReadonlyMap<string, AlertRulePlan> = new Map<string, AlertRulePlan>([
  ['device-offline', { ...common, name: 'Device offline for 30 minutes', kind: 'DEVICE_OFFLINE', forSeconds: 1_800 }],
  [
    'fleet-offline',
    {
      ...common,
      name: 'A tenth of the fleet is offline',
      kind: 'FLEET_OFFLINE_SHARE',
      threshold: 0.1,
      severity: 'CRITICAL',
      forSeconds: 300,
    },
  ],
  [
    'job-stopped',
    { ...common, name: 'Job or roll-out stopped by its rule', kind: 'JOB_STOPPED', severity: 'CRITICAL' },
  ],
  [
    'unexpected-restarts',
    { ...common, name: 'Unexpected restarts', kind: 'UNEXPECTED_RESTARTS', threshold: 3, windowSeconds: 3_600 },
  ],
  [
    'low-battery',
    {
      ...common,
      name: 'Low battery',
      kind: 'MEASUREMENT',
      path: 'self.get_device_status:battery.level',
      threshold: 20,
      below: true,
      forSeconds: 300,
    },
  ],
  ['hub-unhealthy', { ...common, name: 'Hub unhealthy', kind: 'HUB_UNHEALTHY', severity: 'CRITICAL', forSeconds: 60 }],
]);
