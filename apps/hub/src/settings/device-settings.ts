/** Settings of devices: how they prove who they are, how they enrol, and their limits. */
import { defaultDownloadLimits, defaultGatewayLimits, type EnrolmentMode } from '@flotilla/gateway';
import { isTimeZone } from '@flotilla/mcp';
import type { z } from 'zod';
import type { ListenerConfig } from './listener-settings.js';
import { machineTimeZone } from '../environment/machine-time-zone.js';
import { checked, choice, loopback, numberIn, optionalText, textOfLength } from './setting-kinds.js';

export const deviceSettings = {
  FLOTILLA_DEVICE_AUTH: choice(['credentials', 'hmac', 'open'], 'credentials'),
  FLOTILLA_DEVICE_SECRET: textOfLength(16),
  FLOTILLA_ENROLMENT: choice(['approve', 'open', 'closed'], 'approve'),
  FLOTILLA_ENROLMENT_CONFIRM: optionalText,
  FLOTILLA_FACTORY_KEYS: optionalText,
  FLOTILLA_DEVICE_TIMEZONE: checked((zone) =>
    isTimeZone(zone) ? undefined : 'must be a name of the tz database, such as Europe/Berlin',
  ),
  FLOTILLA_DEVICES_MAX: numberIn(
    { fallback: defaultGatewayLimits.sessionsMax, min: 1, max: defaultGatewayLimits.sessionsMax },
    `must be a number of devices from 1 to ${defaultGatewayLimits.sessionsMax}`,
  ),
  FLOTILLA_RECONNECTS_MAX: numberIn(
    { fallback: defaultGatewayLimits.reconnectsMax, min: 0, max: 9_999 },
    'must be a number of connects from 1 to 9999, or 0 for no limit',
  ),
  FLOTILLA_DOWNLOADS_MAX: numberIn(
    { fallback: defaultDownloadLimits.downloadsMax, min: 1, max: 9_999 },
    'must be a number of downloads from 1 to 9999',
  ),
  FLOTILLA_STATUS_INTERVAL_SECONDS: numberIn(
    { fallback: defaultGatewayLimits.statusIntervalSeconds, min: 10, max: 99_999 },
    'must be a number of seconds from 10 to 99999, or 0 for never',
    0,
  ),
  FLOTILLA_VOICELESS_SECONDS: numberIn(
    { fallback: defaultGatewayLimits.voicelessIdleMs / 1_000, min: 0, max: 99_999 },
    'must be a number of seconds from 1 to 99999, or 0 to leave conversations to the device',
  ).transform((value) => value * 1_000),
};

export interface DeviceConfig {
  readonly deviceAuth: 'credentials' | 'hmac' | 'open';
  readonly enrolment: EnrolmentMode;
  /** File with a line `serial,key` for each chip with a factory key. */
  readonly factoryKeysFile: string | undefined;
  /** Time zone of devices, windows and messages without one; by default that of this machine. */
  readonly timeZone: string;
  readonly deviceSecret: string | undefined;
  /** Devices with a session at this gateway. */
  readonly devicesMax: number;
  /** Connects in a row after which a device must wait; 0: no limit. */
  readonly reconnectsMax: number;
  /** Firmware downloads at the same time. */
  readonly downloadsMax: number;
  readonly statusIntervalSeconds: number;
  /** Time after which an idle WebSocket conversation ends without a voice server, ms; 0: never. */
  readonly voicelessIdleMs: number;
}

type Values = z.infer<z.ZodObject<typeof deviceSettings>>;

export function devicesOf(values: Values): DeviceConfig {
  return {
    deviceAuth: values.FLOTILLA_DEVICE_AUTH,
    enrolment: values.FLOTILLA_ENROLMENT,
    factoryKeysFile: values.FLOTILLA_FACTORY_KEYS,
    timeZone: values.FLOTILLA_DEVICE_TIMEZONE ?? machineTimeZone(),
    deviceSecret: values.FLOTILLA_DEVICE_SECRET,
    devicesMax: values.FLOTILLA_DEVICES_MAX,
    reconnectsMax: values.FLOTILLA_RECONNECTS_MAX,
    downloadsMax: values.FLOTILLA_DOWNLOADS_MAX,
    statusIntervalSeconds: values.FLOTILLA_STATUS_INTERVAL_SECONDS,
    voicelessIdleMs: values.FLOTILLA_VOICELESS_SECONDS,
  };
}

/** Confirms open enrolment on a network. */
const CONFIRMATION = 'open-to-anybody';

export function deviceContradictions(config: DeviceConfig & ListenerConfig, values: Values): string[] {
  const problems: string[] = [];
  if (config.deviceAuth === 'open' && !loopback.test(config.host)) {
    problems.push(
      `FLOTILLA_DEVICE_AUTH=open admits any device, so FLOTILLA_HOST must be a loopback address; it is ${config.host}.`,
    );
  }
  if (config.enrolment === 'open' && !loopback.test(config.host) && values.FLOTILLA_ENROLMENT_CONFIRM !== CONFIRMATION)
    problems.push(
      'FLOTILLA_ENROLMENT=open admits every device that asks. Set FLOTILLA_HOST to a loopback address, or confirm ' +
        `with FLOTILLA_ENROLMENT_CONFIRM=${CONFIRMATION}.`,
    );
  return problems;
}
