/**
 * Moves boards here from their former server, and back. A move takes effect at the next OTA request
 * of a board, which is its next start.
 */
import type { Bus } from '@flotilla/bus';
import { deviceIdOf, parseDeviceIdHeader, type DeviceId } from '@flotilla/mcp';
import type { EventType, FormerBoard, MovingAnswer, MovingBoardRow, MovingCounts, Registry } from '@flotilla/registry';
import type { Clock } from '@flotilla/session';
import { sourceOf, type Actor } from '../actor.js';
import { refuse, type Refusal } from '../refusal.js';
import { writeEvent } from '../write-event.js';

interface MovingDeps {
  readonly registry: Pick<Registry, 'events' | 'movingBoards'>;
  readonly bus: Pick<Bus, 'feed'>;
  readonly clock: Clock;
  /** Whether boards that have not moved are passed on to their former server. */
  readonly hasFormerServer: boolean;
}

export type MovedBoards = { readonly boards: readonly MovingBoardRow[] } | { readonly refusal: Refusal };

type NamedBoard = Partial<Omit<FormerBoard, 'deviceId'>> & { readonly deviceId: string };

/** Boards of one request, which one transaction locks. */
const boardsMax = 500;
/** Characters of a name at the former server; its longest column has 64. */
const nameMax = 128;

export class Moving {
  constructor(private readonly deps: MovingDeps) {}

  /** How many boards are where, and whether there is a former server. */
  async summary(): Promise<MovingCounts & { readonly hasFormerServer: boolean }> {
    return { ...(await this.deps.registry.movingBoards.counts()), hasFormerServer: this.deps.hasFormerServer };
  }

  /** The hub answers the boards from their next start on, and admits them. All or none. */
  move(deviceIds: readonly string[], actor: Actor): Promise<MovedBoards> {
    return this.#change(
      deviceIds,
      (ids) => this.deps.registry.movingBoards.move(ids, actor.name, sourceOf(actor)),
      (deviceId) => this.#writeEvent('board.moved', deviceId, actor),
    );
  }

  /**
   * The former server answers the boards from their next start on. Their credentials work until it
   * has answered. All or none.
   */
  moveBack(deviceIds: readonly string[], actor: Actor): Promise<MovedBoards> {
    return this.#change(
      deviceIds,
      (ids) => this.deps.registry.movingBoards.moveBack(ids, sourceOf(actor)),
      (deviceId) => this.#writeEvent('board.moved_back', deviceId, actor),
    );
  }

  /** Lists boards that an import found at the former server. It moves and registers none. */
  async add(
    boards: readonly NamedBoard[],
    actor: Actor,
  ): Promise<{ readonly addedCount: number } | { readonly refusal: Refusal }> {
    const refusal = refuseNumber(boards.length, 'boards');
    if (refusal !== undefined) return { refusal };
    const parsed: FormerBoard[] = [];
    for (const [index, { agent, deviceId, name, user }] of boards.entries()) {
      const identity = parseDeviceIdHeader(deviceId);
      if (!identity.ok) return { refusal: refuse('INVALID', ['boards', String(index), 'deviceId'], notMac(deviceId)) };
      const long = Object.entries({ name, agent, user }).find(([, text]) => (text?.length ?? 0) > nameMax);
      if (long !== undefined) {
        const message = `"${long[0]}" has at most ${String(nameMax)} characters.`;
        return { refusal: refuse('LIMIT_EXCEEDED', ['boards', String(index), long[0]], message) };
      }
      parsed.push({ deviceId: identity.deviceId, name, agent, user });
    }
    const added = await this.deps.registry.movingBoards.add(parsed, sourceOf(actor));
    return { addedCount: added.length };
  }

  async #change(
    deviceIds: readonly string[],
    change: (ids: readonly string[]) => Promise<MovingAnswer>,
    changed: (deviceId: DeviceId) => void,
  ): Promise<MovedBoards> {
    const refusal = refuseNumber(deviceIds.length, 'deviceIds');
    if (refusal !== undefined) return { refusal };
    const ids = deviceIds.map(deviceIdOf);
    const answer = await change(ids);
    if (answer.kind === 'missing') {
      const index = ids.indexOf(answer.deviceId);
      const message =
        `The board "${answer.deviceId.slice(0, 80)}" has not asked for its settings here, and no import named it. ` +
        'No board was moved.';
      return { refusal: refuse('NOT_FOUND', ['deviceIds', String(Math.max(index, 0))], message) };
    }
    answer.changed.forEach(changed);
    return { boards: answer.boards };
  }

  #writeEvent(type: EventType, deviceId: DeviceId, actor: Actor): void {
    writeEvent(this.deps, type, deviceId, { actor: actor.name });
    this.deps.bus.feed.publish('device', { deviceId });
  }
}

function refuseNumber(count: number, name: string): Refusal | undefined {
  if (count > 0 && count <= boardsMax) return undefined;
  const message = `Name 1 to ${String(boardsMax)} boards in one request.`;
  return refuse(count === 0 ? 'INVALID' : 'LIMIT_EXCEEDED', [name], message);
}

function notMac(deviceId: string): string {
  return `"${deviceId.slice(0, 80)}" is not a MAC address, for example 02:5e:7a:10:c4:9f.`;
}
