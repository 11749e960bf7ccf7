/** Keys for agents, straight in the database, and the texts in what the MCP server answers. */
import { createHash, randomUUID } from 'node:crypto';
import type { Client as PgClient } from 'pg';
import type { HubProcess } from '../hub/hub-process.js';

export interface KeyLimits {
  /** Ms since the Unix epoch. */
  readonly expiresAt?: number;
  /** The device filter of a scoped key. */
  readonly devices?: object;
}

/** Inserts a key and returns its secret. */
export async function insertKey(
  pg: PgClient,
  scopes: readonly string[],
  { expiresAt, devices }: KeyLimits = {},
): Promise<string> {
  const secret = `spec-${randomUUID()}`;
  const hash = createHash('sha256').update(secret).digest('hex');
  await pg.query(
    `INSERT INTO api_key (id, name, prefix, secret_hash, scopes, expires_at, devices)
     VALUES ($1, $2, $3, $4, $5, $6, $7)`,
    [
      randomUUID(),
      scopes.join(' '),
      secret.slice(0, 8),
      hash,
      scopes,
      expiresAt === undefined ? null : new Date(expiresAt),
      devices ?? null,
    ],
  );
  return secret;
}

export interface ShortLivedKey {
  readonly key: string;
  readonly expiresAt: number;
  /** Resolves when the stream of the key has ended. */
  readonly end: Promise<void>;
}

/** A key that is valid for three seconds, and the GET stream that it opened. */
export async function openShortLived(hub: HubProcess, pg: PgClient): Promise<ShortLivedKey> {
  const expiresAt = Date.now() + 3_000;
  const key = await insertKey(pg, ['DEVICES_READ'], { expiresAt });
  const headers = { authorization: `Bearer ${key}`, accept: 'text/event-stream' };
  const { status, body } = await fetch(`${hub.httpUrl}/mcp`, { headers });
  if (status !== 200) throw new Error(`The stream was refused with ${String(status)}.`);
  // A stream that is cut ends in an error.
  const end = new Response(body).text().then(
    () => undefined,
    () => undefined,
  );
  return { key, expiresAt, end };
}

/** All texts in a value, names of members too. */
export function textsIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null
    ? Object.entries(value).flatMap(([name, member]) => [name, ...textsIn(member)])
    : [];
}

export function textOf(result: unknown): string {
  const { content } = result as { readonly content: readonly { readonly text?: string }[] };
  return content.map(({ text }) => text ?? '').join('\n');
}
