/** Which entries the Audit page shows, as its address carries it. */
export interface AuditSearch {
  readonly actor?: string;
  readonly action?: string;
  readonly subject?: string;
}

export function parseAuditSearch(raw: Readonly<Record<string, unknown>>): AuditSearch {
  const names = ['actor', 'action', 'subject'] as const;
  return Object.fromEntries(names.flatMap((name) => (isText(raw[name]) ? [[name, String(raw[name])]] : [])));
}

/** The router reads a text such as `12` as a number. */
function isText(value: unknown): boolean {
  return typeof value === 'number' || (typeof value === 'string' && value !== '');
}
