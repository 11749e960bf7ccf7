import { defaultToolPolicy } from '@flotilla/jobs';
import type { ToolPolicy } from '@flotilla/jobs';
import { describe, expect, it } from 'vitest';
import { refusePolicy } from './policy-request.js';

const policy = (change: Partial<ToolPolicy>): ToolPolicy => ({ ...defaultToolPolicy, pattern: 'self.x', ...change });
const readback = { tool: 'self.get_device_status', path: 'a.b', argument: 'b' };

describe('a tool policy', () => {
  it.each<[string, Partial<ToolPolicy>]>([
    ['of an exact name', {}],
    ['of a prefix', { pattern: 'self.get_*' }],
    ['of everything', { pattern: '*' }],
    ['that reads back', { verification: 'READBACK', readback }],
    ['that only offers to read back', { readback }],
    ['of a tool that only reads', { readOnly: true }],
    ['of a disruptive tool that does not only read', { readOnly: false, disruptive: true }],
    ['that expects a restart', { verification: 'REBOOT', disruptive: true }],
    ['of the shortest time', { callTimeoutMs: 1_000 }],
    ['of the longest time', { callTimeoutMs: 300_000 }],
  ])('%s is accepted', (_, change) => {
    expect(refusePolicy(policy(change), ['input'])).toBeUndefined();
  });

  it.each<[string, Partial<ToolPolicy>, readonly string[]]>([
    ['without a pattern', { pattern: '' }, ['input', 'pattern']],
    ['with a star in the middle', { pattern: 'self.*.x' }, ['input', 'pattern']],
    ['with two stars', { pattern: 'self.**' }, ['input', 'pattern']],
    ['with a space', { pattern: 'self x' }, ['input', 'pattern']],
    ['with a line break after its name', { pattern: 'self.x\n' }, ['input', 'pattern']],
    ['with an endless pattern', { pattern: 'x'.repeat(201) }, ['input', 'pattern']],
    ['that reads back nothing', { verification: 'READBACK' }, ['input', 'readback']],
    ['that only reads and disrupts', { readOnly: true, disruptive: true }, ['input', 'readOnly']],
    ['that expects a restart but is not disruptive', { verification: 'REBOOT' }, ['input', 'disruptive']],
    ['that expects other firmware but is not disruptive', { verification: 'FIRMWARE' }, ['input', 'disruptive']],
    ['with a path of nothing', { readback: { ...readback, path: 'a..b' } }, ['input', 'readback', 'path']],
    ['with an empty failure text', { failureText: '' }, ['input', 'failureText']],
    ['below a second', { callTimeoutMs: 999 }, ['input', 'callTimeoutMs']],
    ['above five minutes', { callTimeoutMs: 300_001 }, ['input', 'callTimeoutMs']],
    ['of half a millisecond more', { callTimeoutMs: 1_000.5 }, ['input', 'callTimeoutMs']],
  ])('%s is refused', (_, change, path) => {
    expect(refusePolicy(policy(change), ['input'])).toMatchObject({ code: 'INVALID', path });
  });
});
