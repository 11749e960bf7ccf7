import { describe, expect, it } from 'vitest';
import { shownThreshold, thresholdText, typedThreshold } from './rule-kinds';

describe('the threshold of a rule', () => {
  it('is a percentage where it is a share', () => {
    expect(thresholdText('FLEET_OFFLINE_SHARE', 0.1, 'en')).toBe('10%');
    expect(thresholdText('CALL_FAILURE_RATIO', 0.125, 'en')).toBe('12.5%');
  });

  it('is typed as a percentage where it is a share', () => {
    for (const typed of [0, 0.1, 7, 12.5, 14.3, 29, 57, 100, undefined])
      expect(shownThreshold('CALL_FAILURE_RATIO', typedThreshold('CALL_FAILURE_RATIO', typed))).toBe(typed);
    expect(typedThreshold('FLEET_OFFLINE_SHARE', 10)).toBe(0.1);
    expect([typedThreshold('MEASUREMENT', 3), shownThreshold('MEASUREMENT', 3)]).toEqual([3, 3]);
  });

  it('is the number where it is a count or a value of a device', () => {
    expect(thresholdText('UNEXPECTED_RESTARTS', 3, 'en')).toBe('3');
    expect(thresholdText('MEASUREMENT', -0.5, 'en')).toBe('-0.5');
  });
});
