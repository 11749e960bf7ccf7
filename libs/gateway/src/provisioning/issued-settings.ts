/**
 * The settings that a person sees after a credential was issued: everything that must be entered on
 * the device.
 */
import type { DialectName } from '@flotilla/mcp';
import type { KnownDevice } from '@flotilla/registry';
import { topicsOf } from '../mqtt/device-topics.js';
import type { DeviceAddresses } from './device-addresses.js';
import { transportObject } from './ota/ota-answer.js';
import type { TransportSettings } from './ota/ota-answer.js';

interface IssuedSettingsOptions {
  readonly addresses: DeviceAddresses;
  readonly publishTopic: string;
}

/** For the transport that the device was registered with. */
export function issuedSettings(options: IssuedSettingsOptions, known: KnownDevice): TransportSettings {
  return settingsOf[known.dialect](options, known);
}

const settingsOf: Readonly<Record<DialectName, typeof issuedSettings>> = {
  XIAOZHI: xiaozhiSettings,
  MCPU: microcontrollerSettings,
};

function xiaozhiSettings(options: IssuedSettingsOptions, known: KnownDevice): TransportSettings {
  const settings = transportObject(options, known);
  return 'mqtt' in settings ? settings.mqtt : settings.websocket;
}

function microcontrollerSettings(options: IssuedSettingsOptions, known: KnownDevice): TransportSettings {
  const settings = transportObject(options, known);
  if ('mqtt' in settings) {
    const { toDevice, fromDevice } = topicsOf(known, options.publishTopic);
    return { ...settings.mqtt, publish_topic: fromDevice[0] ?? '', subscribe_topic: toDevice };
  }
  const url = options.addresses.webSocketUrl(undefined, '/mcpu/v1/');
  const { secret } = known.credential;
  return {
    ...(url !== undefined && { url }),
    device_id: known.deviceId,
    ...(secret !== undefined && { token: secret }),
  };
}
