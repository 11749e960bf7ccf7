import { describe, expect, it } from 'vitest';
import { isRollout } from './is-rollout';

describe('a roll-out', () => {
  it('is a job with an image', () => {
    expect(isRollout({ tool: 'self.upgrade_firmware', arguments: {}, firmwareImage: { id: '1' } })).toBe(true);
    expect(isRollout({ tool: 'self.reboot', arguments: {}, firmwareImage: null })).toBe(false);
  });

  it.each(['self.upgrade_firmware', 'self.assets.set_download_url'])(
    'is known by its tool where the image is hidden (%s)',
    (tool) => expect(isRollout({ tool, arguments: {}, firmwareImage: null })).toBe(true),
  );

  it('is not a call with another address', () => {
    const job = { tool: 'self.upgrade_firmware', arguments: { url: '***' }, firmwareImage: null };
    expect(isRollout(job)).toBe(false);
  });
});
