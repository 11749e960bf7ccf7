/** Decides which boards of a dump are registered, with which names and tags, and what is wrong. */
import type { Dump } from './read-dump.js';
import { zonedTime } from './zoned-time.js';

/** A board, as it is registered. */
export interface ImportedBoard {
  readonly deviceId: string;
  readonly name: string | undefined;
  readonly tags: readonly string[];
  readonly agent: string | undefined;
  readonly user: string | undefined;
  readonly model: string | undefined;
  readonly firmwareVersion: string | undefined;
  /** Its last OTA request there, RFC 3339. */
  readonly lastThere: string | undefined;
}

export interface BoardProblem {
  /** `cannotMove` leaves a row out; the others register the board. */
  readonly kind: 'cannotMove' | 'duplicate' | 'withoutAgent' | 'disabledUser';
  readonly board: string;
  readonly message: string;
}

interface DumpOptions {
  readonly timeZone: string;
  /** Leaves out the names of users, which are often telephone numbers. */
  readonly withoutUsers?: boolean | undefined;
  /** Tags of all boards. */
  readonly tags?: readonly string[];
}

type DeviceRow = Dump['ai_device'][number];

export function boardsOfDump(
  dump: Dump,
  { tags = [], timeZone, withoutUsers = false }: DumpOptions,
): { readonly boards: readonly ImportedBoard[]; readonly problems: readonly BoardProblem[] } {
  const agents = new Map(dump.ai_agent.map((agent) => [agent.id, agent]));
  const users = new Map(dump.sys_user.map((user) => [user.id, user]));
  const problems: BoardProblem[] = [];
  const boards: ImportedBoard[] = [];
  for (const [deviceId, rows] of byMac(dump.ai_device, problems)) {
    const sorted = [...rows].sort((a, b) => (b.last_connected_at ?? '').localeCompare(a.last_connected_at ?? ''));
    const [row] = sorted;
    if (row === undefined) continue;
    if (rows.length > 1) problems.push(duplicate(deviceId, rows.length));
    const agent = agents.get(row.agent_id);
    const user = users.get(row.user_id ?? agent?.user_id ?? null);
    if (agent === undefined) problems.push(withoutAgent(deviceId));
    if (user?.status === '0') problems.push(disabledUser(deviceId));
    const names = { agent: text(agent?.agent_name), user: withoutUsers ? undefined : text(user?.username) };
    boards.push({
      deviceId,
      name: nameOf(row),
      tags: [...tags, ...tagsOf(names)],
      ...names,
      model: text(row.board),
      firmwareVersion: text(row.app_version),
      lastThere: zonedTime(row.last_connected_at, timeZone),
    });
  }
  return { boards: boards.sort((a, b) => a.deviceId.localeCompare(b.deviceId)), problems };
}

function byMac(rows: readonly DeviceRow[], problems: BoardProblem[]): ReadonlyMap<string, DeviceRow[]> {
  const found = new Map<string, DeviceRow[]>();
  for (const row of rows) {
    const mac = macOf(row.mac_address) ?? macOf(row.id);
    if (mac === undefined) problems.push(cannotMove(row.mac_address ?? row.id ?? ''));
    else found.set(mac, [...(found.get(mac) ?? []), row]);
  }
  return found;
}

/** Lower case with colons, from six pairs with colons, dashes or nothing between them. */
export function macOf(written: string | null): string | undefined {
  const digits = /^[0-9a-f]{2}(?:([:-]?)[0-9a-f]{2})(?:\1[0-9a-f]{2}){4}$/i.test(written?.trim() ?? '')
    ? written?.replace(/[^0-9a-f]/gi, '').toLowerCase()
    : undefined;
  return digits?.match(/../g)?.join(':');
}

/** As the hub allows: 1 to 100 UTF-16 units on one line, without half a pair of them at the end. */
function nameOf({ alias }: DeviceRow): string | undefined {
  return text(alias)
    ?.slice(0, 100)
    .replace(/[\uD800-\uDBFF]$/, '');
}

/** As the hub allows: 64 letters, digits and _ . : / -. */
function tagsOf({ agent, user }: { readonly agent: string | undefined; readonly user: string | undefined }) {
  const tag = (kind: string, name: string | undefined) => {
    const usable = name?.replace(/[^\p{L}\p{N}_.:/-]+/gu, '-').replace(/^-+|-+$/g, '');
    return usable === undefined || usable === '' ? [] : [[...`${kind}:${usable}`].slice(0, 64).join('')];
  };
  return [...tag('agent', agent), ...tag('user', user)];
}

/** One line without spaces around it; undefined if nothing is left. */
function text(value: string | null | undefined): string | undefined {
  const cleaned = value?.replace(/\p{Cc}+/gu, ' ').trim();
  return cleaned === undefined || cleaned === '' ? undefined : cleaned;
}

function cannotMove(board: string): BoardProblem {
  const message = 'This is not a MAC address, so no board asks with it. The row was left out.';
  return { kind: 'cannotMove', board, message };
}

function duplicate(board: string, count: number): BoardProblem {
  const message = `There are ${count} rows with this MAC address. The one that asked last was taken.`;
  return { kind: 'duplicate', board, message };
}

function withoutAgent(board: string): BoardProblem {
  return { kind: 'withoutAgent', board, message: 'It has no agent there, so the former server does not talk with it.' };
}

function disabledUser(board: string): BoardProblem {
  return { kind: 'disabledUser', board, message: 'Its user is disabled there.' };
}
