/** Asks Sentinels, or nodes of a cluster, which server holds the data of the hub now. */
import { Redis } from 'ioredis';
import { impatient, reasonOf } from './redis-errors.js';
import { connectorTo } from './redis-connector.js';
import type { RedisTls } from './redis-connector.js';
import { hostText } from './redis-url.js';
import type { RedisHost, RedisUrl, SentinelAccess } from './redis-url.js';

/** Time for an answer of one server, ms; the others are asked at the same time. */
const ANSWER_MAX_MS = 1_500;

type Ask = <Answer>(place: RedisHost, question: (redis: Redis) => Promise<Answer>) => Promise<Answer>;

/** Finds the server to connect to. Rejects with a message that names each server and its reason. */
type FindMaster = () => Promise<RedisHost>;

/** `slotKey`: a key of the hub, whose slot decides in a cluster. */
export function masterFinder(url: RedisUrl, tls: RedisTls, slotKey: string): FindMaster {
  const [first] = url.hosts;
  if (url.sentinel !== undefined) return shared(sentinelFinder(url.hosts, url.sentinel, askWith(url.sentinel, tls)));
  if (url.topology === 'cluster') return shared(clusterFinder(url.hosts, askWith(url, tls), slotKey));
  return () => (first === undefined ? Promise.reject(new Error('No host is named.')) : Promise.resolve(first));
}

/** Connections that are lost together ask once. */
function shared(find: FindMaster): FindMaster {
  let running: Promise<RedisHost> | undefined;
  return () => (running ??= find().finally(() => (running = undefined)));
}

/**
 * The master that most Sentinels name: one that was cut off from the others may name a former
 * master.
 */
function sentinelFinder(hosts: readonly RedisHost[], { masterName }: SentinelAccess, ask: Ask): FindMaster {
  return async () => {
    const answers = await Promise.allSettled(
      hosts.map((place) => ask(place, (redis) => redis.call('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', masterName))),
    );
    const votes = new Map<string, { readonly place: RedisHost; count: number }>();
    const reasons = answers.flatMap((answer, index) => {
      const asked = hosts[index];
      const place = answer.status === 'fulfilled' ? placeIn(answer.value, '') : undefined;
      if (place === undefined) {
        const reason =
          answer.status === 'rejected' ? reasonOf(answer.reason) : `no master has the name "${masterName}"`;
        return asked === undefined ? [] : [`${hostText(asked)}: ${reason}`];
      }
      const vote = votes.get(hostText(place)) ?? { place, count: 0 };
      votes.set(hostText(place), { place, count: vote.count + 1 });
      return [];
    });
    const [winner] = [...votes.values()].sort((one, other) => other.count - one.count);
    if (winner === undefined) throw new Error(`No Sentinel names a master (${reasons.join('; ')})`);
    return winner.place;
  };
}

/** Remembers all nodes that it hears of, so that the named ones may be replaced. */
function clusterFinder(seeds: readonly RedisHost[], ask: Ask, slotKey: string): FindMaster {
  let known = new Map(seeds.map((place) => [hostText(place), place]));
  return async () => {
    const asked = [...known.values()];
    const views = asked.map((place) => ask(place, (redis) => viewOf(redis, place, slotKey)));
    const view = await Promise.any(views).catch((error: unknown) => {
      const reasons = error instanceof AggregateError ? error.errors.map(reasonOf) : [reasonOf(error)];
      const text = asked.map((place, index) => `${hostText(place)}: ${reasons[index] ?? ''}`).join('; ');
      throw new Error(`No node of the cluster can be used (${text})`);
    });
    known = new Map([...seeds, ...view.nodes].map((place) => [hostText(place), place]));
    return view.owner;
  };
}

interface ClusterView {
  readonly owner: RedisHost;
  readonly nodes: readonly RedisHost[];
}

async function viewOf(redis: Redis, asked: RedisHost, slotKey: string): Promise<ClusterView> {
  const [info, slot, ranges] = await Promise.all([
    redis.call('CLUSTER', 'INFO'),
    redis.call('CLUSTER', 'KEYSLOT', slotKey),
    redis.call('CLUSTER', 'SLOTS'),
  ]);
  if (!String(info).includes('cluster_state:ok')) throw new Error('the cluster is down for this node');
  const isRange = (range: unknown): range is unknown[] => Array.isArray(range) && range.length > 2;
  const all = Array.isArray(ranges) ? ranges.filter(isRange) : [];
  const placesOf = (range: unknown[]) => range.slice(2).map((node) => placeIn(node, asked.host));
  const own = all.find(([from, to]) => Number(from) <= Number(slot) && Number(slot) <= Number(to));
  const owner = own && placesOf(own)[0];
  if (owner === undefined) throw new Error(`no node serves slot ${String(slot)}`);
  return { owner, nodes: all.flatMap(placesOf).filter((place) => place !== undefined) };
}

/** `askedHost`: a node that does not know its own address means the one that was asked. */
function placeIn(answer: unknown, askedHost: string): RedisHost | undefined {
  if (!Array.isArray(answer)) return undefined;
  const [host, port] = answer as unknown[];
  const place = { host: typeof host === 'string' && host !== '' ? host : askedHost, port: Number(port) };
  return place.host !== '' && place.port > 0 ? place : undefined;
}

interface Account {
  readonly username: string | undefined;
  readonly password: string | undefined;
}

/** Asks over a new connection, which is closed afterwards. */
function askWith({ username, password }: Account, tls: RedisTls): Ask {
  return async (place, question) => {
    const redis = new Redis({
      ...(username !== undefined && { username }),
      ...(password !== undefined && { password }),
      ...(tls !== undefined && { tls: {} }),
      ...impatient,
      Connector: connectorTo({ find: () => Promise.resolve(place), tls, mustBeMaster: false }),
      lazyConnect: true,
      enableReadyCheck: false,
      disableClientInfo: true,
      retryStrategy: null,
      maxRetriesPerRequest: 0,
      connectTimeout: ANSWER_MAX_MS,
      commandTimeout: ANSWER_MAX_MS,
    });
    let reason: Error | undefined;
    redis.on('error', (error) => (reason ??= error));
    try {
      await redis.connect();
      return await question(redis);
    } catch (error) {
      throw reason ?? error;
    } finally {
      redis.disconnect();
    }
  };
}
