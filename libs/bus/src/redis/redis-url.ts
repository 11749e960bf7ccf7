/**
 * Reads REDIS_URL: one server, the Sentinels of a master, or nodes of a cluster, each with or
 * without TLS. A problem never quotes the URL, which may have a password.
 */

export interface RedisHost {
  readonly host: string;
  readonly port: number;
}

/** How Sentinels name the master, and the account of the hub there. */
export interface SentinelAccess {
  readonly masterName: string;
  readonly username: string | undefined;
  readonly password: string | undefined;
}

/** What a REDIS_URL says. `hosts` are the server, Sentinels, or some nodes of the cluster. */
export interface RedisUrl {
  readonly topology: 'single' | 'sentinel' | 'cluster';
  readonly hosts: readonly RedisHost[];
  readonly isTls: boolean;
  readonly username: string | undefined;
  readonly password: string | undefined;
  /** Number of the database; always 0 in a cluster. */
  readonly db: number;
  /** Only for the topology `sentinel`. */
  readonly sentinel: SentinelAccess | undefined;
}

const FORM = /^(rediss?)(-sentinel|-cluster)?:\/\/(?:([^/?#]*)@)?([^/?#@]*)(?:\/([^?#]*))?(?:\?([^#]*))?$/i;
const HOST = /^(?:\[([0-9a-f:.]+)\]|([^:[\]]+))(?::(\d{1,5}))?$/i;
const PORT_MAX = 65_535;
const REDIS_PORT = 6_379;
const SENTINEL_PORT = 26_379;
/** More is a mistake: a few suffice to find the others. */
const HOSTS_MAX = 32;

const shape =
  'must be redis://host:port, redis-sentinel://host:port,host:port?sentinelMasterId=NAME or ' +
  'redis-cluster://host:port,host:port, or with rediss for TLS. Percent-encode special characters of the password';

/** Throws a RangeError with the problem. */
export function parseRedisUrl(text: string): RedisUrl {
  const [whole, scheme = '', kind, credentials, hostList = '', path = '', query = ''] = FORM.exec(text) ?? [];
  if (whole === undefined) throw new RangeError(shape);
  const topology = kind === undefined ? 'single' : kind.toLowerCase() === '-sentinel' ? 'sentinel' : 'cluster';
  const hosts = hostsOf(hostList, topology === 'sentinel' ? SENTINEL_PORT : REDIS_PORT);
  if (topology === 'single' && hosts.length > 1)
    throw new RangeError('has several hosts. Begin it with redis-sentinel:// or redis-cluster://, as your servers are');
  if (topology === 'cluster' && path !== '' && path !== '0')
    throw new RangeError('names a database, and a cluster has only database 0. Remove it from the URL');
  const [username, password] = credentialsOf(credentials);
  const parameters = new URLSearchParams(query);
  return {
    topology,
    hosts,
    username,
    password,
    db: databaseOf(path),
    isTls: scheme.toLowerCase() === 'rediss',
    sentinel: sentinelOf(parameters, topology === 'sentinel'),
  };
}

/** What is wrong with a REDIS_URL, without its password; undefined if it is right. */
export function redisUrlProblem(text: string): string | undefined {
  try {
    parseRedisUrl(text);
    return undefined;
  } catch (error) {
    if (error instanceof RangeError) return error.message;
    throw error;
  }
}

/** `host:port`, as in a URL. */
export function hostText({ host, port }: RedisHost): string {
  return `${host.includes(':') ? `[${host}]` : host}:${String(port)}`;
}

function hostsOf(list: string, defaultPort: number): readonly RedisHost[] {
  const hosts = list.split(',').map((entry, index) => {
    const [whole, address, name, digits] = HOST.exec(entry.trim()) ?? [];
    const port = digits === undefined ? defaultPort : Number(digits);
    // The entry itself may be a part of a password that is not encoded.
    if (whole === undefined || port < 1 || port > PORT_MAX)
      throw new RangeError(
        `needs host:port between its commas, and entry ${String(index + 1)} is not. Percent-encode special ` +
          'characters of the password, and write an IPv6 address in brackets: [::1]:6379',
      );
    return { host: address ?? name ?? '', port };
  });
  if (hosts.length > HOSTS_MAX) throw new RangeError(`must name at most ${String(HOSTS_MAX)} hosts`);
  return hosts;
}

function credentialsOf(credentials: string | undefined): readonly [string | undefined, string | undefined] {
  if (credentials === undefined) return [undefined, undefined];
  const end = credentials.indexOf(':');
  const [name, password] = end < 0 ? [credentials, ''] : [credentials.slice(0, end), credentials.slice(end + 1)];
  return [decoded(name), decoded(password)];
}

/** Undefined for an empty text. */
function decoded(text: string): string | undefined {
  try {
    return text === '' ? undefined : decodeURIComponent(text);
  } catch {
    throw new RangeError('has a % in the user name or password that is not percent-encoded. Write %25 for it');
  }
}

function databaseOf(path: string): number {
  if (!/^\d{0,5}$/.test(path)) throw new RangeError('must end with the number of a database after the last /, or none');
  return Number(path);
}

function sentinelOf(parameters: URLSearchParams, isSentinel: boolean): SentinelAccess | undefined {
  const known = isSentinel ? ['sentinelMasterId', 'sentinelUsername', 'sentinelPassword'] : [];
  if ([...parameters.keys()].some((name) => !known.includes(name)))
    throw new RangeError(
      'has an unknown parameter after the ?. redis-sentinel:// takes sentinelMasterId, sentinelUsername and ' +
        'sentinelPassword, other URLs none',
    );
  if (!isSentinel) return undefined;
  const text = (name: string) => parameters.get(name) || undefined;
  const masterName = text('sentinelMasterId');
  if (masterName === undefined)
    throw new RangeError('needs the name of the master in the Sentinels: ?sentinelMasterId=NAME');
  return { masterName, username: text('sentinelUsername'), password: text('sentinelPassword') };
}
