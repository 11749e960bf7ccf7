/** How each device family uses MQTT. */
import type { DeviceId, DialectName } from '@flotilla/mcp';

export interface DeviceIdentity {
  readonly deviceId: DeviceId;
  readonly dialect: DialectName;
}

/** Each names one device and one direction. */
export interface DeviceTopics {
  /** Messages of the hub; the only topic that the device may subscribe to. */
  readonly toDevice: string;
  /** Topics that the device may publish on. */
  readonly fromDevice: readonly string[];
}

interface MqttTraits {
  /** `publishTopic` is the topic that all xiaozhi devices publish on. */
  readonly topics: (deviceId: DeviceId, publishTopic: string) => DeviceTopics;
  /** The devices receive nothing before they have subscribed to their topic. */
  readonly mustSubscribe: boolean;
  /** A payload holds lines or parts of lines in place of one message. */
  readonly hasLines: boolean;
}

export const mqttTraits: Readonly<Record<DialectName, MqttTraits>> = {
  // [xiaozhi §2.2]
  XIAOZHI: {
    topics: (deviceId, publishTopic) => {
      const own = `devices/p2p/${deviceId.replaceAll(':', '_')}`;
      return { toDevice: own, fromDevice: [publishTopic, own] };
    },
    mustSubscribe: false,
    hasLines: false,
  },
  // [mcpu §6.4]
  MCPU: {
    topics: (deviceId) => ({ toDevice: `mcpu/${deviceId}/request`, fromDevice: [`mcpu/${deviceId}/response`] }),
    mustSubscribe: true,
    hasLines: true,
  },
};

export function topicsOf({ deviceId, dialect }: DeviceIdentity, publishTopic: string): DeviceTopics {
  return mqttTraits[dialect].topics(deviceId, publishTopic);
}
