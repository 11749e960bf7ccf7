/** A hub at which a story shoots, and a normal device on it that must notice nothing. */
import { expect } from 'vitest';
import { callTool, deviceThat, isOnline, viewDevice } from '../devices/device-api.js';
import { removeDataDir, startHub, type HubOptions, type HubProcess } from '../hub/hub-process.js';
import { RawMqttDevice } from '../devices/raw-mqtt-device.js';

export const victimMac = '02:00:00:00:09:99';

export interface HubUnderFire {
  readonly hub: HubProcess;
  /** A normal device that is connected all the time. */
  readonly victim: RawMqttDevice;
  /** The victim was not thrown out, and answers. */
  expectUnharmed(): Promise<void>;
  /** Stops the hub, which must end in order and have logged no bug. */
  stop(): Promise<void>;
}

export async function startHubUnderFire(options?: HubOptions): Promise<HubUnderFire> {
  const hub = await startHub(options);
  const victim = await RawMqttDevice.connect(hub, victimMac);
  await deviceThat(hub, victimMac, isOnline);
  return {
    hub,
    victim,
    expectUnharmed: async () => {
      expect(victim.isClosed).toBe(false);
      expect(await callTool(hub, { deviceId: victimMac, tool: 'self.lamp.turn_on' })).toMatchObject({
        outcome: 'SUCCEEDED',
      });
      expect((await viewDevice(hub, victimMac))?.sessions).toHaveLength(1);
    },
    stop: async () => {
      victim.drop();
      expect(await hub.stop()).toBe(0);
      expect(hub.log()).not.toMatch(/unhandled|callback_threw|the broker failed/i);
      removeDataDir(hub.dataDir);
    },
  };
}
