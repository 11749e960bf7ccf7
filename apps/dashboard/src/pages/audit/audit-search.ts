/** Which entries the Audit page shows, as its address carries it. */
import { isText } from '../../parts/unknown-values';

export interface AuditSearch {
  readonly actor?: string;
  readonly action?: string;
  readonly subject?: string;
}

export function parseAuditSearch(raw: Readonly<Record<string, unknown>>): AuditSearch {
  const names = ['actor', 'action', 'subject'] as const;
  return Object.fromEntries(names.flatMap((name) => (isText(raw[name]) ? [[name, String(raw[name])]] : [])));
}
