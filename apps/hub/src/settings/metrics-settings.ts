/**
 * Settings of metrics. A proxy on this machine may add no header, and then all its clients look
 * local; so reading without a key is off by default.
 */
import type { z } from 'zod';
import { isLoopbackProxy } from '../http/trusted-proxies.js';
import { choice } from './setting-kinds.js';

export const metricsSettings = {
  FLOTILLA_METRICS: choice(['key', 'loopback'], 'key'),
};

type Values = z.infer<z.ZodObject<typeof metricsSettings>>;

export function metricsContradictions({ FLOTILLA_METRICS: access }: Values, trusted: readonly string[]): string[] {
  const proxy = trusted.find(isLoopbackProxy);
  if (access === 'key' || proxy === undefined) return [];
  return [
    `FLOTILLA_METRICS=loopback opens metrics to all clients of the proxy on this machine, ${proxy} in ` +
      'FLOTILLA_TRUSTED_PROXIES. Use FLOTILLA_METRICS=key.',
  ];
}
