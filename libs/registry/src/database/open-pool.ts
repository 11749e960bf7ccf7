/**
 * Opens a pool or a client for a DATABASE_URL. With several hosts, each new connection goes to the
 * one that accepts writes now, which pg cannot do itself. A connection that a former primary has
 * left is closed by its first error, like any other, and the next one finds the new primary.
 */
import pg from 'pg';
import { messageOf, RegistryError } from '../registry-error.js';
import { hostOf, parsePostgresUrl } from './postgres-url.js';
import type { PostgresHost } from './postgres-url.js';

/** A host that does not answer in this time is skipped, ms. */
const ANSWER_MAX_MS = 3_000;
/** Connections that are opened together ask once, ms. */
const FRESH_MS = 1_000;

/** Throws a RangeError if the URL is wrong. */
export function openPool(databaseUrl: string, options: pg.PoolConfig): pg.Pool {
  const { urls, mustFindPrimary } = parsePostgresUrl(databaseUrl);
  const config = { ...options, connectionString: urls[0] };
  if (!mustFindPrimary) return new pg.Pool(config);
  const finder = new PrimaryFinder(urls);
  // The types of pg have a class without arguments; the pool calls it with its options.
  return new pg.Pool({ ...config, Client: primaryClient(finder) as unknown as new () => pg.ClientBase });
}

/** One connection outside a pool, not connected yet. Throws a RangeError if the URL is wrong. */
export function openClient(databaseUrl: string, options: pg.ClientConfig): pg.Client {
  const { urls, mustFindPrimary } = parsePostgresUrl(databaseUrl);
  const Client = mustFindPrimary ? primaryClient(new PrimaryFinder(urls)) : pg.Client;
  return new Client({ ...options, connectionString: urls[0] });
}

/** A client that asks for the primary before it connects. */
function primaryClient(finder: PrimaryFinder): typeof pg.Client {
  return class PrimaryClient extends pg.Client {
    override connect(): Promise<pg.Client>;
    override connect(callback: (error: Error | null, client?: pg.Client) => void): void;
    override connect(callback?: (error: Error | null, client?: pg.Client) => void): Promise<pg.Client> | void {
      const connected = finder.find().then((place) => {
        Object.assign(this, place);
        return super.connect();
      });
      if (callback === undefined) return connected;
      connected.then(() => callback(null, this), callback);
    }
  };
}

class PrimaryFinder {
  /** The last primary is first: if two hosts accept writes, all connections stay with one. */
  #urls: readonly string[];
  #found: Promise<PostgresHost> | undefined;

  constructor(urls: readonly string[]) {
    this.#urls = urls;
  }

  /** Rejects with RegistryError DATABASE_UNAVAILABLE, which names each host and its reason. */
  find(): Promise<PostgresHost> {
    if (this.#found !== undefined) return this.#found;
    const forget = (): void => (this.#found = undefined);
    this.#found = this.#ask();
    this.#found.then(() => setTimeout(forget, FRESH_MS).unref(), forget);
    return this.#found;
  }

  async #ask(): Promise<PostgresHost> {
    const reasons: string[] = [];
    for (const url of this.#urls) {
      const place = hostOf(url);
      if (place === undefined) continue;
      const reason = await refusalOf(url);
      if (reason === undefined) {
        this.#urls = [url, ...this.#urls.filter((other) => other !== url)];
        return place;
      }
      reasons.push(`${place.host}:${String(place.port)}: ${reason}`);
    }
    throw new RegistryError('DATABASE_UNAVAILABLE', `No host of DATABASE_URL accepts writes (${reasons.join('; ')}).`);
  }
}

/** Why a host cannot be used; undefined if it accepts writes. */
async function refusalOf(url: string): Promise<string | undefined> {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: ANSWER_MAX_MS,
    query_timeout: ANSWER_MAX_MS,
    application_name: 'flotilla',
  });
  // An error after the answer has no other listener.
  client.on('error', () => undefined);
  try {
    await client.connect();
    const { rows } = await client.query<{ transaction_read_only: string }>('SHOW transaction_read_only');
    return rows[0]?.transaction_read_only === 'off' ? undefined : 'it is read-only';
  } catch (error) {
    return messageOf(error);
  } finally {
    client.end().catch(() => undefined);
  }
}
