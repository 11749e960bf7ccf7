/** The time zone of this machine: that of windows, messages and devices without another one. */
import { isTimeZone } from '@flotilla/mcp';

/**
 * Without a name for the zone, as with the empty TZ of a compose file, every use of it would fail.
 * Sets UTC then, and returns a warning for the operator. `zone` is what Node found.
 */
export function correctTimeZone(zone: string | undefined, env: { TZ?: string | undefined }): string | undefined {
  if (zone !== undefined && isTimeZone(zone)) return undefined;
  const given = env.TZ ?? '';
  env.TZ = 'UTC';
  return `TZ=${given} names no time zone, so the hub uses UTC. Set it to a name such as Europe/Berlin, or unset it.`;
}

/** UTC where the machine names none: `correctTimeZone` warns of it. */
export function machineTimeZone(): string {
  const zone: string | undefined = Intl.DateTimeFormat().resolvedOptions().timeZone;
  return zone !== undefined && isTimeZone(zone) ? zone : 'UTC';
}
