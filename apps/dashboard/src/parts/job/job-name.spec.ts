import { describe, expect, it } from 'vitest';
import { jobName } from './job-name';

describe('the name of a job', () => {
  const firmwareImage = { project: 'xiaozhi', version: '2.2.0' };

  it('is what its author chose', () => {
    expect(jobName({ name: 'Night', tool: 'self.upgrade_firmware', firmwareImage })).toBe('Night');
  });

  it('is the image of a roll-out, and otherwise the tool', () => {
    expect(jobName({ name: null, tool: 'self.upgrade_firmware', firmwareImage })).toBe('xiaozhi 2.2.0');
    expect(jobName({ name: null, tool: 'self.reboot', firmwareImage: null })).toBe('self.reboot');
  });
});
