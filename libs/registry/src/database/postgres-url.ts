/**
 * Reads DATABASE_URL: one server as pg reads it, or several hosts of which one is primary, as libpq
 * writes them. A problem never quotes the URL, which may have a password.
 */

export interface PostgresHost {
  readonly host: string;
  readonly port: number;
}

interface PostgresUrl {
  /** The URL of each host, in order. */
  readonly urls: readonly [string, ...string[]];
  /** Whether to look for the host that accepts writes. */
  readonly mustFindPrimary: boolean;
}

const FORM = /^(postgres(?:ql)?:\/\/(?:[^/?#]*@)?)([^/?#@]*,[^/?#@]*)(.*)$/i;
const ATTRIBUTE = 'target_session_attrs';
const DEFAULT_PORT = 5_432;
const HOSTS_MAX = 32;

/** Throws a RangeError with the problem. */
export function parsePostgresUrl(text: string): PostgresUrl {
  const [whole, start = '', hosts = '', end = ''] = FORM.exec(text) ?? [];
  const texts = whole === undefined ? [text] : hosts.split(',').map((host) => start + host.trim() + end);
  if (texts.length > HOSTS_MAX) throw new RangeError(`must name at most ${String(HOSTS_MAX)} hosts`);
  const urls = texts.map((each, index) => {
    if (!URL.canParse(each) || !/^postgres(ql)?:$/.test(new URL(each).protocol))
      throw new RangeError(whole === undefined ? shape : `${entryRule}, and entry ${String(index + 1)} is not`);
    const url = new URL(each);
    if (whole !== undefined && url.hostname === '')
      throw new RangeError(`${entryRule}, and entry ${String(index + 1)} is not`);
    return url;
  });
  const attributes = urls[0]?.searchParams.get(ATTRIBUTE) ?? undefined;
  if (attributes !== undefined && attributes !== 'read-write' && attributes !== 'primary')
    throw new RangeError(`has another ${ATTRIBUTE} than read-write or primary, and the hub writes`);
  for (const url of urls) url.searchParams.delete(ATTRIBUTE);
  const [first = text, ...others] = attributes === undefined && whole === undefined ? [text] : urls.map(String);
  return { urls: [first, ...others], mustFindPrimary: attributes !== undefined || others.length > 0 };
}

const shape =
  'must be a URL that begins with postgres: or postgresql:. Several hosts are postgresql://host:port,host:port/database';
const entryRule = 'needs host:port between its commas';

/** What is wrong with a DATABASE_URL, without its password; undefined if it is right. */
export function postgresUrlProblem(text: string): string | undefined {
  try {
    parsePostgresUrl(text);
    return undefined;
  } catch (error) {
    if (error instanceof RangeError) return error.message;
    throw error;
  }
}

/** Empty for a socket in the file system. */
export function postgresHosts(databaseUrl: string): readonly PostgresHost[] {
  return parsePostgresUrl(databaseUrl).urls.flatMap((each) => hostOf(each) ?? []);
}

/** Undefined for a socket in the file system. */
export function hostOf(url: string): PostgresHost | undefined {
  const { hostname, port, searchParams } = new URL(url);
  const host = (searchParams.get('host') ?? hostname).replace(/^\[|\]$/g, '');
  if (host === '' || host.startsWith('/')) return undefined;
  return { host, port: Number(searchParams.get('port') ?? port) || DEFAULT_PORT };
}

/** Where a URL leads, for messages: hosts and database, without user and password. */
export function addressOf(databaseUrl: string): string {
  if (postgresUrlProblem(databaseUrl) !== undefined) return 'DATABASE_URL';
  const { urls } = parsePostgresUrl(databaseUrl);
  return urls.map((each) => new URL(each).host).join(',') + new URL(urls[0]).pathname;
}
