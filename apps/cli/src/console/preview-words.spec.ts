import { describe, expect, it } from 'vitest';
import { previewInWords } from './preview-words.js';

const preview = {
  targetCount: 245,
  onlineCount: 240,
  missingToolCount: 5,
  blastRadius: 49,
  estimatedSeconds: 300,
  argumentErrors: [{ message: 'volume: at most 100', deviceCount: 1 }],
  waves: [12, 49, 184],
  warnings: [],
  userErrors: [],
};

describe('a preview', () => {
  it('says in sentences what the job would do', () => {
    expect(previewInWords(preview)).toEqual([
      'The job selects 245 devices; 240 of them are online now.',
      '5 devices without this tool will be rejected.',
      '1 device will reject the arguments: volume: at most 100',
      'It works in 3 waves: 12, 49, 184 devices.',
      'In the worst case it reaches 49 devices before its rules stop it.',
      'It takes about 5 min.',
    ]);
  });

  it('leaves out what does not apply', () => {
    const small = { ...preview, targetCount: 1, onlineCount: 1, missingToolCount: 0, argumentErrors: [], waves: [] };
    expect(previewInWords({ ...small, blastRadius: 1, estimatedSeconds: null })).toEqual([
      'The job selects 1 device; 1 of them is online now.',
      'It has no waves: all devices are one group.',
      'In the worst case it reaches 1 device before its rules stop it.',
    ]);
    expect(previewInWords({ ...small, targetCount: 0 })).toEqual(['The filter matches no devices.']);
  });
});
