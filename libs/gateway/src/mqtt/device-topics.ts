/** The topics of a device. Each names one device and one direction. [xiaozhi §2.2, mcpu §6.4] */
import type { DeviceId } from '@flotilla/mcp';

export interface DeviceIdentity {
  readonly deviceId: DeviceId;
  readonly dialect: 'XIAOZHI' | 'MCPU';
}

export interface DeviceTopics {
  /** Messages of the hub; the only topic that the device may subscribe to. */
  readonly toDevice: string;
  /** Topics that the device may publish on. */
  readonly fromDevice: readonly string[];
}

/** `publishTopic` is the topic that all xiaozhi devices publish on. */
export function topicsOf({ deviceId, dialect }: DeviceIdentity, publishTopic: string): DeviceTopics {
  if (dialect === 'MCPU') return { toDevice: `mcpu/${deviceId}/request`, fromDevice: [`mcpu/${deviceId}/response`] };
  const own = `devices/p2p/${deviceId.replaceAll(':', '_')}`;
  return { toDevice: own, fromDevice: [publishTopic, own] };
}
