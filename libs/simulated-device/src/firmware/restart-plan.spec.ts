/** Reboot, upgrade and provisioning by firmware age. [xiaozhi §4.6] */
import { describe, expect, it } from 'vitest';
import { DeviceOnBench } from '../device-on-bench.suite.js';

const upgrade = 'self.upgrade_firmware';

describe('self.reboot', () => {
  it('never answers on present firmware, and neither does anything sent after it', () => {
    const bench = new DeviceOnBench();
    bench.call(1, 'self.reboot');
    bench.mcp({ jsonrpc: '2.0', id: 2, method: 'initialize' });
    bench.waitUntil(60_000);
    expect(bench.sent).toEqual([]);
    expect(bench.turns).toEqual([
      { at: 1000, effect: { kind: 'close', how: 'graceful' } },
      { at: 1000, effect: { kind: 'reconnectAt', at: 7000 } },
    ]);
  });

  it('answers at once on firmware 2.0.1 to 2.0.5 and then goes', () => {
    const bench = new DeviceOnBench({ profile: 'interim' });
    bench.call(1, 'self.reboot');
    bench.waitUntil(60_000);
    expect(bench.replyTimes).toEqual([[1, 0]]);
    expect(bench.turns[0]).toEqual({ at: 1000, effect: { kind: 'close', how: 'graceful' } });
  });

  it('follows the age that a behaviour gives it', () => {
    const bench = new DeviceOnBench({ behaviours: [{ kind: 'rebootAs', age: 'immediate' }] });
    bench.call(1, 'self.reboot');
    expect(bench.lastText()).toBe('true');
  });

  it('brings levels of 0 back as 10 and forgets the vision address', () => {
    const bench = new DeviceOnBench();
    bench.mcp({
      jsonrpc: '2.0',
      id: 1,
      method: 'initialize',
      params: { capabilities: { vision: { url: 'http://hub/vision' } } },
    });
    bench.call(2, 'self.audio_speaker.set_volume', { volume: 0 });
    bench.call(3, 'self.reboot');
    bench.waitUntil(10_000);
    bench.do((device, now) => device.connected(now));
    bench.call(4, 'self.get_device_status');
    expect(bench.lastText()).toContain('"volume":10}');
    bench.call(5, 'self.camera.take_photo', { question: 'What is it?' });
    expect(bench.lastReply().payload.error).toEqual({ message: 'Image explain URL or token is not set' });
  });

  it('happens on a system message, too', () => {
    const bench = new DeviceOnBench();
    bench.receive({ type: 'system', command: 'reboot' });
    bench.waitUntil(2000);
    expect(bench.turns).toHaveLength(2);
  });
});

describe('the behaviour reboot', () => {
  const rebooted = (how?: 'power') => {
    const bench = new DeviceOnBench();
    bench.do((device, now) => device.behave({ kind: 'reboot', how }, now));
    bench.waitUntil(60_000);
    return bench.turns;
  };

  it('closes the connection after a second by default', () => {
    expect(rebooted()).toEqual([
      { at: 1000, effect: { kind: 'close', how: 'graceful' } },
      { at: 1000, effect: { kind: 'reconnectAt', at: 7000 } },
    ]);
  });

  it('cuts the connection at once when the power fails', () => {
    expect(rebooted('power')).toEqual([
      { at: 0, effect: { kind: 'close', how: 'abrupt' } },
      { at: 0, effect: { kind: 'reconnectAt', at: 5000 } },
    ]);
  });
});

describe('self.upgrade_firmware with a scripted success', () => {
  it('never answers when it succeeds, and comes back with the new version', () => {
    const bench = new DeviceOnBench({ behaviours: [{ kind: 'upgradeTo', version: '2.5.0', transferMs: 2000 }] });
    bench.call(1, upgrade, { url: 'http://hub/fw.bin' });
    bench.waitUntil(60_000);
    expect(bench.sent).toEqual([]);
    expect(bench.turns[0]).toEqual({ at: 7000, effect: { kind: 'close', how: 'graceful' } });
    bench.do((device, now) => device.connected(now));
    bench.mcp({ jsonrpc: '2.0', id: 2, method: 'initialize' });
    expect(bench.sent[0]).toContain('"version":"2.5.0"');
  });

  it('is taken back by the boot loader where a behaviour says so', () => {
    const bench = new DeviceOnBench({ behaviours: [{ kind: 'upgradeTo', version: '2.5.0', rollBackAfterMs: 3000 }] });
    bench.call(1, upgrade, { url: 'http://hub/fw.bin' });
    bench.waitUntil(12_000);
    bench.do((device, now) => device.connected(now));
    bench.waitUntil(60_000);
    expect(bench.turns.map(({ effect }) => effect)).toMatchObject([
      { kind: 'close', how: 'graceful' },
      { kind: 'reconnectAt', at: 11_000 },
      { kind: 'close', how: 'abrupt' },
      { kind: 'reconnectAt', at: 19_000 },
    ]);
    bench.do((device, now) => device.connected(now));
    bench.mcp({ jsonrpc: '2.0', id: 2, method: 'initialize' });
    expect(bench.sent[0]).toContain('"version":"2.4.2"');
  });

  it('is the last thing that a bricked device does', () => {
    const bench = new DeviceOnBench({ behaviours: [{ kind: 'upgradeTo', version: '2.5.0' }, { kind: 'brick' }] });
    bench.call(1, upgrade, { url: 'http://hub/fw.bin' });
    bench.waitUntil(600_000);
    expect(bench.turns.map(({ effect }) => effect)).toEqual([{ kind: 'close', how: 'graceful' }]);
  });
});

describe('a tool without effect', () => {
  it('says true and leaves everything as it was', () => {
    const bench = new DeviceOnBench({ behaviours: [{ kind: 'noEffect', times: 2 }] });
    bench.call(1, 'self.audio_speaker.set_volume', { volume: 11 });
    bench.call(2, 'self.reboot');
    bench.waitUntil(60_000);
    expect(bench.turns).toEqual([]);
    expect(bench.lastText()).toBe('true');
    bench.call(3, 'self.get_device_status');
    expect(bench.lastText()).not.toContain('"volume":11');
  });
});

describe('self.system.reconfigure_wifi', () => {
  it('leaves at once without an answer and stays away for long', () => {
    const bench = new DeviceOnBench();
    bench.call(1, 'self.system.reconfigure_wifi');
    expect(bench.sent).toEqual([]);
    expect(bench.turns).toEqual([
      { at: 0, effect: { kind: 'close', how: 'graceful' } },
      { at: 0, effect: { kind: 'reconnectAt', at: 60_000 } },
    ]);
  });
});
