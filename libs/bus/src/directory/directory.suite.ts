/** The contract of a session directory, for every implementation. */
import type { DeviceId, HubProcessId, ToolSetHash } from '@flotilla/mcp';
import { describe, expect, it } from 'vitest';
import type { BusHarness } from '../bus-harness.suite.js';
import type { DirectoryEntry } from './directory.js';

const deviceId = (name: string): DeviceId => name as DeviceId;

function entry(name: string, epoch: number, toolSetHash?: string): DirectoryEntry {
  return {
    deviceId: deviceId(name),
    gatewayId: 'gateway-1' as HubProcessId,
    epoch,
    toolSetHash: toolSetHash as ToolSetHash | undefined,
  };
}

export function describeDirectory(harness: BusHarness): void {
  describe(`session directory (${harness.name})`, () => {
    it('finds what was put, with and without a tool set', async () => {
      const { here, there } = harness.buses();
      await here.directory.put(entry('found', 3, 'abc'));
      await here.directory.put(entry('toolless', 1));
      expect(await there.directory.lookup(deviceId('found'))).toEqual(entry('found', 3, 'abc'));
      expect(await there.directory.lookup(deviceId('toolless'))).toEqual(entry('toolless', 1));
    });

    it('finds nothing for a device that was never put', async () => {
      expect(await harness.buses().here.directory.lookup(deviceId('unknown'))).toBeUndefined();
    });

    it('ignores an older epoch, and updates the tool set of the same one', async () => {
      const { here, there } = harness.buses();
      await here.directory.put(entry('aged', 10, 'new'));
      await there.directory.put(entry('aged', 9, 'old'));
      expect(await here.directory.lookup(deviceId('aged'))).toEqual(entry('aged', 10, 'new'));
      await here.directory.put(entry('aged', 10, 'newer'));
      expect(await there.directory.lookup(deviceId('aged'))).toEqual(entry('aged', 10, 'newer'));
    });

    it('removes an entry of the given epoch only', async () => {
      const { here, there } = harness.buses();
      await here.directory.put(entry('leaving', 5));
      await there.directory.remove(deviceId('leaving'), 4);
      expect(await here.directory.lookup(deviceId('leaving'))).toEqual(entry('leaving', 5));
      await here.directory.remove(deviceId('leaving'), 5);
      expect(await there.directory.lookup(deviceId('leaving'))).toBeUndefined();
    });
  });
}
