/** Which topics are a device's own. Nothing is fanned out by them: each names the one device and one direction. [xiaozhi §2.2, mcpu §6.4] */
import type { DeviceId } from '@flotilla/mcp';

export interface DeviceIdentity {
  readonly deviceId: DeviceId;
  readonly dialect: 'XIAOZHI' | 'MCPU';
}

export interface DeviceTopics {
  /** From the hub; the only one that the device may subscribe to. */
  readonly toDevice: string;
  /** Those that it may publish on. */
  readonly fromDevice: readonly string[];
}

/** `publishTopic` is the one that all xiaozhi devices publish on. */
export function topicsOf({ deviceId, dialect }: DeviceIdentity, publishTopic: string): DeviceTopics {
  if (dialect === 'MCPU') return { toDevice: `mcpu/${deviceId}/request`, fromDevice: [`mcpu/${deviceId}/response`] };
  const own = `devices/p2p/${deviceId.replaceAll(':', '_')}`;
  return { toDevice: own, fromDevice: [publishTopic, own] };
}
