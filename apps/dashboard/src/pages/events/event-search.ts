/** Which events the Events page shows, as its address carries it. */
export interface EventSearch {
  readonly types?: readonly string[];
  readonly deviceId?: string;
}

export function parseEventSearch({ types, deviceId }: Readonly<Record<string, unknown>>): EventSearch {
  const wanted = (Array.isArray(types) ? types : [types]).filter((type) => typeof type === 'string');
  return { ...(wanted.length > 0 && { types: wanted }), ...(typeof deviceId === 'string' && { deviceId }) };
}
