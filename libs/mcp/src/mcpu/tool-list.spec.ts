import { describe, expect, it } from 'vitest';
import { compileArguments } from '../tools/tool-arguments.js';
import { findPinProblem } from './pins.js';
import { parseMcpuTools } from './tool-list.js';

/** A listing of an AVR board: no schemas for the built-in tools, empty ones for custom tools. */
const uno = {
  device: 'bench-uno',
  version: '0.4',
  tools: [
    { name: 'gpio_write', description: 'Set an output' },
    { name: 'pwm_write', description: 'Set duty' },
    { name: 'buzz', description: 'Beep.\nParams: ms', inputSchema: { type: 'object', required: [], properties: {} } },
    { name: 'wet', description: 'Samples', polling: { enabled: true, interval_ms: 5000 } },
    { name: '' },
    null,
  ],
  pins: [
    { pin: 13, name: 'lamp', type: 'digital_output', description: 'On-board lamp' },
    { pin: 13, name: 'again', type: 'pwm_output' },
    { pin: 9, name: 'fan', type: 'pwm_output' },
    { pin: 14, name: 'pot', type: 'adc_input', sampling: { interval_ms: 1000, buffer_size: 60 } },
    { pin: 256, name: 'beyond' },
  ],
};

const page = parseMcpuTools(uno);
const schemaOf = (name: string) => page?.tools.find((tool) => tool.name === name)?.inputSchema ?? {};

describe('parseMcpuTools', () => {
  it('reads tools and pins of a board, and counts entries that are neither', () => {
    expect(page?.tools.map(({ name }) => name)).toEqual(['gpio_write', 'pwm_write', 'buzz', 'wet']);
    expect(page?.droppedEntries).toBe(2);
    expect(page?.tools[2]?.description).toBe('Beep. Params: ms');
    expect(page?.tools[3]?.pollingIntervalMs).toBe(5000);
    expect(page?.pins?.map(({ pin, name }) => [pin, name])).toEqual([
      [13, 'lamp'],
      [9, 'fan'],
      [14, 'pot'],
    ]);
    expect(page?.pins?.[2]?.sampling).toEqual({ intervalMs: 1000, bufferSize: 60 });
  });

  it.each([
    [1, 1],
    [65_535, 65_535],
    [4_294_967_295, 65_535],
    [0, undefined],
    [2.5, undefined],
    ['5000', undefined],
  ])('reads a polling interval of %j as %j', (interval_ms, expected) => {
    const read = parseMcpuTools({ tools: [{ name: 'wet', polling: { enabled: true, interval_ms } }] });
    expect(read?.tools[0]?.pollingIntervalMs).toBe(expected);
  });

  it('reads a sampling interval of more than a day as one day', () => {
    const pins = [{ pin: 14, sampling: { interval_ms: 1e15, buffer_size: 60 } }];
    expect(parseMcpuTools({ tools: [], pins })?.pins?.[0]?.sampling).toEqual({
      intervalMs: 86_400_000,
      bufferSize: 60,
    });
  });

  it('adds the schemas of built-in tools that a board omits', () => {
    const gpioWrite = compileArguments(schemaOf('gpio_write'));
    expect(gpioWrite.schemaKnown).toBe(true);
    expect(gpioWrite.check({ pin: 13, value: true }).ok).toBe(true);
    expect(gpioWrite.check({ pin: 258, value: true }).ok).toBe(false);
    expect(gpioWrite.check({ pin: 13, value: 1 }).ok).toBe(false);
  });

  it('accepts any object for a custom tool with an empty schema', () => {
    const buzz = compileArguments(schemaOf('buzz'));
    expect(buzz.schemaKnown).toBe(false);
    expect(buzz.check({ ms: 200 }).ok).toBe(true);
  });

  it('returns undefined for a value that is not a listing', () => {
    expect(parseMcpuTools({ pins: [] })).toBeUndefined();
  });
});

describe('findPinProblem', () => {
  const pins = page?.pins ?? [];

  it.each([
    ['gpio_write', { pin: 13, value: true }, undefined],
    ['gpio_write', { pin: 9, value: true }, 'pin'],
    ['gpio_write', { pin: 40, value: true }, 'pin'],
    ['pwm_write', { pin: 9, duty: 255 }, undefined],
    ['pwm_write', { pin: 9, duty: 256 }, 'duty'],
    ['get_pin_buffer', { pin: 'pot' }, undefined],
    ['buzz', { pin: 99 }, undefined],
  ])('%s %j', (tool, args, path) => {
    expect(findPinProblem(tool, args, pins)?.path).toBe(path);
  });

  it('checks nothing if the board reported no pins', () => {
    expect(findPinProblem('gpio_write', { pin: 40 }, [])).toBeUndefined();
  });
});
