import { describe, expect, it } from 'vitest';
import { answeredAt, answeredValue, kindOf, readToolOf, sampledValue, withValue } from './pin-values';

const at = '2026-01-01T00:00:00.000Z';
const later = '2026-01-01T00:00:01.000Z';

describe('the values of pins', () => {
  it('come from the answers of pin tools, with volts where the board says so', () => {
    expect(answeredValue({ pin: 16, name: 'valve', value: true }, at)).toEqual({ value: true, at });
    expect(answeredValue({ pin: 36, value: 1876, volts: 1.5 }, at)).toEqual({ value: 1876, volts: 1.5, at });
    expect(answeredValue({ pin: 14, value: 511, mv: 1648 }, at)).toEqual({ value: 511, volts: 1.648, at });
    expect(answeredValue({ pin: 18, duty: 128 }, at)).toEqual({ value: 128, at });
    for (const answer of [null, 'ok', {}, { value: 'high' }]) expect(answeredValue(answer, at)).toBeUndefined();
  });

  it('come from the newest sample of a pin, not from those of a tool', () => {
    expect(sampledValue({ pin: 36, name: 'soil', values: [1, 2, 3] }, at)).toEqual({
      pin: 36,
      value: { value: 3, at },
    });
    expect(sampledValue({ tool: 'leaf_wetness', values: [1] }, at)).toBeUndefined();
    expect(sampledValue({ pin: 36, values: [] }, at)).toBeUndefined();
  });

  it('have the time of the hub at its answer, as samples have', () => {
    expect(answeredAt({ startedAt: at, durationMs: 1_000 })).toBe(later);
    expect(answeredAt({ startedAt: '2026-01-01T01:00:00+01:00', durationMs: null })).toBe(at);
  });

  it('are never replaced by older ones', () => {
    const values = withValue({}, 1, { value: true, at: later });
    expect(withValue(values, 1, { value: false, at })).toBe(values);
    expect(withValue(values, 1, undefined)).toBe(values);
    expect(withValue(values, 2, { value: 7, at })).toEqual({ 1: { value: true, at: later }, 2: { value: 7, at } });
  });

  it('are read by the tool for the type of the pin', () => {
    const tools = ['digital_output', 'digital_input', 'adc_input', 'pwm_output', 'touch', 'constructor'].map((type) => [
      kindOf(type),
      readToolOf(kindOf(type)),
    ]);
    expect(tools).toEqual([
      ['switch', 'gpio_read'],
      ['level', 'gpio_read'],
      ['analogue', 'adc_read'],
      ['duty', undefined],
      ['other', undefined],
      ['other', undefined],
    ]);
  });
});
