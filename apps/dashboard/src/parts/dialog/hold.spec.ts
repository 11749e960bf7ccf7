import { describe, expect, it } from 'vitest';
import { isHolding } from './hold';

describe('an answer that is on its way', () => {
  it('holds its dialog while the connection stands', () => {
    expect(isHolding(true, { isUp: true, healed: 2 }, 2)).toBe(true);
    expect(isHolding(false, { isUp: true, healed: 2 }, 2)).toBe(false);
  });

  it('holds it no longer where the connection is lost, nor when it is back', () => {
    expect(isHolding(true, { isUp: false, healed: 2 }, 2)).toBe(false);
    expect(isHolding(true, { isUp: true, healed: 3 }, 2)).toBe(false);
  });
});
