import type { AlertRulePlan, Registry } from '@flotilla/registry';
import { expect, it } from 'vitest';
import { refuseRule } from './alert-request.js';

const plan: AlertRulePlan = {
  name: 'Low battery',
  kind: 'MEASUREMENT',
  devices: undefined,
  severity: 'WARNING',
  forSeconds: 0,
  threshold: 20,
  path: 'self.get_device_status:battery.level',
  below: true,
  windowSeconds: 600,
  groupAbove: 5,
  repeatEverySeconds: undefined,
  channelIds: [],
  enabled: true,
};
/** Without devices no group is read. */
const registry = {} as Pick<Registry, 'deviceGroups'>;

it('a rule about a measurement has one path: a pattern would never fire', async () => {
  expect(await refuseRule(registry, plan)).toBeUndefined();
  expect(await refuseRule(registry, { ...plan, path: 'self.get_device_status:*.level' })).toMatchObject({
    code: 'INVALID',
    path: ['input', 'path'],
  });
});
