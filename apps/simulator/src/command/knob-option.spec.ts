/** The option `--knob` describes turns in a short form. */
import { describe, expect, it } from 'vitest';
import { addKnob } from './knob-option.js';
import { readOptions } from './options.js';

describe('--knob', () => {
  it.each([
    ['volume:6', { knob: 'volume', perHour: 6 }],
    ['volume:0.5=20', { knob: 'volume', perHour: 0.5, value: 20 }],
    ['brightness@22:00=80', { knob: 'brightness', at: ['22:00'], value: 80 }],
    ['brightness@06:30', { knob: 'brightness', at: ['06:30'] }],
  ])('reads %s', (text, knob) => {
    expect(addKnob(text)).toEqual([{ kind: 'knob', ...knob }]);
  });

  it.each(['volume', 'volume:', 'volume:0', 'treble:5', 'volume@25:00', 'volume:5=101', 'volume:1..2'])(
    'refuses %s and names the form',
    (text) => expect(() => addKnob(text)).toThrow(/Expected (?:a knob with its turns, such as|volume or brightness)/),
  );

  it('may be given several times, for some of the devices', () => {
    const options = readOptions(
      ['node', 'simulate', '--knob', 'volume:6', '--knob', 'brightness@08:00', '--knob-devices', '3'],
      {},
    );
    expect(options.knobs).toHaveLength(2);
    expect(options.knobDevices).toBe(3);
  });
});
