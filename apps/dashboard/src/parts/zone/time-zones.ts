/** The time zone of the viewer, as an IANA name. */
export function viewerZone(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone;
}

/** All that the browser knows, with UTC and the viewer's, which not every browser lists. */
export function timeZones(): readonly string[] {
  return [...new Set([viewerZone(), 'UTC', ...Intl.supportedValuesOf('timeZone')])].sort();
}
