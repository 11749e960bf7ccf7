import { describe, expect, it } from 'vitest';
import type { ToolPolicy } from './job-types.js';
import { defaultToolPolicy, findToolPolicy } from './tool-policy.js';

const policy = (pattern: string): ToolPolicy => ({ ...defaultToolPolicy, pattern, idempotent: true });
const policies = [policy('self.*'), policy('self.get_device_status'), policy('self.get_*'), policy('gpio_read')];

describe('findToolPolicy', () => {
  it.each([
    ['self.get_device_status', 'self.get_device_status'],
    ['self.get_system_info', 'self.get_*'],
    ['self.reboot', 'self.*'],
    ['gpio_read', 'gpio_read'],
  ])('%s is under %s', (tool, pattern) => {
    expect(findToolPolicy(policies, tool).pattern).toBe(pattern);
  });

  it('is cautious about a tool without a policy', () => {
    expect(findToolPolicy(policies, 'gpio_read_all')).toMatchObject({
      idempotent: false,
      verification: 'NONE',
      callTimeoutMs: 60_000,
    });
  });

  it('lets an operator change the default with a bare asterisk', () => {
    expect(findToolPolicy([policy('*')], 'anything').idempotent).toBe(true);
  });
});
