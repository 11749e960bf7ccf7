/** The former server of boards that move to this hub. */
import type { z } from 'zod';
import type { DeviceConfig } from './device-settings.js';
import { checked } from './setting-kinds.js';

export const formerSettings = {
  FLOTILLA_OTA_UPSTREAM: checked(upstreamProblem),
};

type Values = z.infer<z.ZodObject<typeof formerSettings>>;

export function formerContradictions({ deviceAuth }: Pick<DeviceConfig, 'deviceAuth'>, values: Values): string[] {
  if (values.FLOTILLA_OTA_UPSTREAM === undefined || deviceAuth === 'credentials') return [];
  return [
    'FLOTILLA_OTA_UPSTREAM needs FLOTILLA_DEVICE_AUTH=credentials: otherwise the hub cannot refuse boards that went ' +
      'back.',
  ];
}

function upstreamProblem(text: string): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !['http:', 'https:'].includes(url.protocol))
    return 'must be a URL that begins with http: or https:';
  return url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== ''
    ? 'must have no user, query or fragment'
    : undefined;
}
