/**
 * The session directory in Redis: one signed hash per device, replaced only by the same or a newer
 * epoch. Entries expire after a minute unless their process renews them. So entries of a killed
 * gateway disappear, and a restarted Redis gets its entries again.
 */
import type { DeviceId, HubProcessId, ToolSetHash } from '@flotilla/mcp';
import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import { BusError } from '../bus-error.js';
import type { BusLogger } from '../bus-logger.js';
import type { DirectoryEntry, SessionDirectory } from './directory.js';
import { withoutCommand } from '../redis/redis-errors.js';
import type { RedisLink } from '../redis/redis-link.js';

/**
 * Life of an entry without renewal. A call to a killed gateway still ends NOT_SENT, because its
 * channel has no receiver.
 */
const ENTRY_LIFE_MS = 60_000;
const RENEWAL_INTERVAL_MS = 20_000;
/** Entries per pipeline, so that calls do not wait behind ten thousand renewals. */
const RENEWALS_PER_PIPELINE = 500;

const PUT_SCRIPT = `
local known = redis.call('HGET', KEYS[1], 'epoch')
if known and tonumber(known) > tonumber(ARGV[1]) then return 0 end
redis.call('DEL', KEYS[1])
redis.call('HSET', KEYS[1], 'epoch', ARGV[1], 'gatewayId', ARGV[2], 'toolSetHash', ARGV[3], 'mac', ARGV[4])
redis.call('PEXPIRE', KEYS[1], ARGV[5])
return 1`;

const REMOVE_SCRIPT = `
if redis.call('HGET', KEYS[1], 'epoch') == ARGV[1] then return redis.call('DEL', KEYS[1]) end
return 0`;

/** Entries with a verified signature, so that further calls need no verification. */
const CHECKED_MAX = 20_000;

const storedEntry = z.tuple([
  z.coerce.number().int(),
  z.custom<HubProcessId>((value) => typeof value === 'string' && value !== ''),
  z.custom<ToolSetHash | ''>((value) => typeof value === 'string'),
  z.string(),
]);

export class RedisDirectory implements SessionDirectory {
  readonly #link: RedisLink;
  readonly #logger: BusLogger;
  /** The entries of this process, limited by its session table. */
  readonly #own = new Map<DeviceId, DirectoryEntry>();
  /** The verified text and signature of each device. */
  readonly #checked = new LRUCache<DeviceId, string>({ max: CHECKED_MAX });
  readonly #renewal: NodeJS.Timeout;

  constructor(link: RedisLink, logger: BusLogger) {
    this.#link = link;
    this.#logger = logger;
    this.#renewal = setInterval(() => void this.#renewOwn(), RENEWAL_INTERVAL_MS);
    this.#renewal.unref();
    link.commands.on('ready', () => void this.#renewOwn());
  }

  async put(entry: DirectoryEntry): Promise<void> {
    const known = this.#own.get(entry.deviceId);
    if (known === undefined || known.epoch <= entry.epoch) this.#own.set(entry.deviceId, entry);
    await reach('put a directory entry', this.#write(entry));
  }

  async remove(deviceId: DeviceId, epoch: number): Promise<void> {
    if (this.#own.get(deviceId)?.epoch === epoch) this.#own.delete(deviceId);
    await reach('remove a directory entry', this.#link.commands.eval(REMOVE_SCRIPT, 1, this.#key(deviceId), epoch));
  }

  async lookup(deviceId: DeviceId): Promise<DirectoryEntry | undefined> {
    const key = this.#key(deviceId);
    const fields = await reach(
      'look up a device',
      this.#link.commands.hmget(key, 'epoch', 'gatewayId', 'toolSetHash', 'mac'),
    );
    if (fields[0] === null) return this.#absent();
    const stored = storedEntry.safeParse(fields);
    if (!stored.success) {
      this.#link.refused.add('entry', key);
      return undefined;
    }
    const [epoch, gatewayId, hash, mac] = stored.data;
    const entry = { deviceId, gatewayId, epoch, toolSetHash: hash === '' ? undefined : hash };
    if (this.#isSigned(entry, mac)) return entry;
    this.#link.refused.add('entry', key);
    return undefined;
  }

  close(): void {
    clearInterval(this.#renewal);
  }

  /** A recovered Redis may be empty until gateways have renewed their entries. */
  #absent(): undefined {
    if (!this.#link.isRecovering) return undefined;
    throw new BusError('BUS_UNAVAILABLE', 'Redis has just recovered and does not know the connected devices yet.');
  }

  #write(entry: DirectoryEntry): Promise<unknown> {
    const { deviceId, epoch, gatewayId, toolSetHash } = entry;
    const key = this.#key(deviceId);
    const mac = this.#link.macOf(key, textOf(entry));
    return this.#link.commands.eval(PUT_SCRIPT, 1, key, epoch, gatewayId, toolSetHash ?? '', mac, ENTRY_LIFE_MS);
  }

  #isSigned(entry: DirectoryEntry, mac: string): boolean {
    const { deviceId } = entry;
    const text = textOf(entry);
    const signed = `${mac} ${text}`;
    if (this.#checked.get(deviceId) === signed) return true;
    if (this.#link.macOf(this.#key(deviceId), text) !== mac) return false;
    this.#checked.set(deviceId, signed);
    return true;
  }

  async #renewOwn(): Promise<void> {
    const entries = [...this.#own.values()];
    try {
      for (let start = 0; start < entries.length; start += RENEWALS_PER_PIPELINE) {
        const chunk = entries.slice(start, start + RENEWALS_PER_PIPELINE);
        // An entry removed in the meantime must not come back.
        await Promise.all(
          chunk.filter((entry) => this.#own.get(entry.deviceId) === entry).map((entry) => this.#write(entry)),
        );
      }
    } catch (error) {
      this.#logger.warn({ err: withoutCommand(error), entries: entries.length }, 'could not renew directory entries');
    }
  }

  #key(deviceId: DeviceId): string {
    return `${this.#link.prefix}:session:${deviceId}`;
  }
}

/** The text that the signature of an entry covers, besides its key. */
function textOf({ epoch, gatewayId, toolSetHash }: DirectoryEntry): string {
  return `${epoch} ${gatewayId} ${toolSetHash ?? ''}`;
}

async function reach<Result>(what: string, answer: Promise<Result>): Promise<Result> {
  try {
    return await answer;
  } catch (cause) {
    throw new BusError('BUS_UNAVAILABLE', `Could not ${what}.`, { cause: withoutCommand(cause) });
  }
}
