/** Arguments, serial execution and the order of replies. [xiaozhi §4.5] */
import { describe, expect, it } from 'vitest';
import { DeviceOnBench } from '../device-on-bench.suite.js';

const setVolume = 'self.audio_speaker.set_volume';

describe('arguments of a call', () => {
  it.each([
    ['missing params', { jsonrpc: '2.0', id: 1, method: 'tools/call' }, 'Missing params'],
    [
      'a name that is not a string',
      { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 1 } },
      'Missing name',
    ],
    [
      'null arguments',
      { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: setVolume, arguments: null } },
      'Invalid arguments',
    ],
    [
      'an unknown tool',
      { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'self.nope' } },
      'Unknown tool: self.nope',
    ],
  ])('are refused with %s', (_name, payload, message) => {
    const bench = new DeviceOnBench();
    bench.mcp(payload);
    expect(bench.lastReply().payload.error).toEqual({ message });
  });

  it.each([
    [{}, 'Missing valid argument: volume'],
    [{ volume: '50' }, 'Missing valid argument: volume'],
    [{ volume: -1 }, 'Value is below minimum allowed: 0'],
    [{ volume: 101 }, 'Value exceeds maximum allowed: 100'],
  ])('%o end with "%s" and do not run the tool', (args, message) => {
    const bench = new DeviceOnBench();
    bench.call(1, setVolume, args);
    expect(bench.lastReply().payload.error).toEqual({ message });
    expect(bench.device.toolCounts.size).toBe(0);
  });

  it('lose their fraction before the range is checked', () => {
    const bench = new DeviceOnBench();
    bench.call(1, setVolume, { volume: 100.9, extra: true });
    bench.call(2, 'self.get_device_status');
    expect(bench.lastText()).toContain('"volume":100}');
  });

  it('fall back to the default in silence where the type is wrong', () => {
    const bench = new DeviceOnBench({ profile: 'robot' });
    bench.call(1, 'self.otto.set_trim', { trim_value: 'ten' });
    expect(bench.lastText()).toBe('left_leg: 0');
  });
});

describe('state behind the tools', () => {
  it('shows a lamp that was switched on', () => {
    const bench = new DeviceOnBench({ profile: 'lamp' });
    bench.call(1, 'self.lamp.turn_on');
    bench.call(2, 'self.lamp.get_state');
    expect(bench.lastText()).toBe('{"power": true}');
  });

  it('fades brightness by one step per 5 ms and ignores the value that is shown', () => {
    const bench = new DeviceOnBench();
    const brightness = (): unknown => {
      bench.call(9, 'self.get_device_status');
      return JSON.parse(String(bench.lastText())).screen.brightness;
    };
    bench.call(1, 'self.screen.set_brightness', { brightness: 90 });
    bench.call(2, 'self.screen.set_brightness', { brightness: 75 });
    bench.waitUntil(50);
    expect(brightness()).toBe(85);
    bench.waitUntil(1000);
    expect(brightness()).toBe(90);
  });

  it('reports itself as valid JSON in every profile', () => {
    for (const profile of ['screen-camera', 'lamp', 'robot', 'old', 'interim'] as const) {
      const bench = new DeviceOnBench({ profile });
      bench.call(1, 'self.get_device_status');
      expect(JSON.parse(String(bench.lastText()))).toMatchObject({
        audio_speaker: { volume: 70 },
        network: { type: 'wifi' },
      });
    }
  });
});

describe('execution on the main task', () => {
  const slow = { kind: 'slow', ms: 1000, tool: setVolume } as const;

  it('sends the replies of a slow call behind everything that arrived meanwhile', () => {
    const bench = new DeviceOnBench({ behaviours: [slow] });
    bench.call(1, setVolume, { volume: 1 });
    bench.mcp({ jsonrpc: '2.0', id: 2, method: 'initialize' });
    bench.mcp({ jsonrpc: '2.0', id: 3, method: 'tools/list' });
    bench.call(4, 'self.get_device_status');
    bench.call(5, 'self.nope');
    expect(bench.sent).toEqual([]);
    bench.waitUntil(5000);
    expect(bench.replyTimes.map(([id]) => id)).toEqual([2, 3, 5, 1, 4]);
  });

  it('runs the next call before it sends the reply of the first', () => {
    const bench = new DeviceOnBench({ behaviours: [slow] });
    bench.call(1, setVolume, { volume: 1 });
    bench.waitUntil(100);
    bench.call(2, setVolume, { volume: 2 });
    bench.waitUntil(5000);
    expect(bench.replyTimes).toEqual([
      [1, 2000],
      [2, 2000],
    ]);
  });

  it('runs calls side by side on firmware up to 2.0.0', () => {
    const bench = new DeviceOnBench({ profile: 'old', behaviours: [slow] });
    bench.call(1, setVolume, { volume: 1 });
    bench.call(2, 'self.get_device_status');
    bench.waitUntil(5000);
    expect(bench.replyTimes).toEqual([
      [2, 0],
      [1, 1000],
    ]);
  });

  it('goes on when the link is lost, and what it would say is lost', () => {
    const bench = new DeviceOnBench({ behaviours: [slow] });
    bench.call(1, setVolume, { volume: 33 });
    bench.do((device, now) => device.disconnected(now));
    bench.waitUntil(5000);
    expect(bench.sent).toEqual([]);
    bench.do((device, now) => device.connected(now));
    bench.call(2, 'self.get_device_status');
    expect(bench.lastText()).toContain('"volume":33');
  });
});
