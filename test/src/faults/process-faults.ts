/** The faults that a story draws, and how each begins and ends. */
import { once } from 'node:events';
import { connect } from 'node:net';
import type { FuzzDice } from '../fuzz/fuzz-dice.js';
import type { FleetOfProcesses, Member, MemberRole } from './fleet-of-processes.js';

/** Ends what the fault began. The supervisor starts killed processes meanwhile. */
type Heal = () => Promise<void> | void;

export interface Fault {
  readonly name: string;
  /** How long it lasts, ms. */
  readonly lastsMs: number;
  readonly begin: () => Promise<Heal> | Heal;
}

const HOUR_MS = 3_600_000;
/** A process that stands still for longer than its lease of 15 s has lost its devices and jobs. */
const LEASE_ENDS_AFTER_MS = 17_000;
const BRIEFLY_MS = 2_000;
const nothing: Heal = () => undefined;
const always: readonly string[] = ['fullDisk', 'clockAhead', 'clockBack'];

/** Makes faults of a fleet of processes. The same dice draw the same faults. */
export class ProcessFaults {
  readonly #fleet: FleetOfProcesses;
  readonly #dice: FuzzDice;

  constructor(fleet: FleetOfProcesses, dice: FuzzDice) {
    this.#fleet = fleet;
    this.#dice = dice;
  }

  /**
   * So many faults, in decks of all kinds, so that each comes about as often. The first deck has a
   * full disk and stepped clocks, however few they are.
   */
  deal(count: number): readonly Fault[] {
    const kinds: string[] = [];
    while (kinds.length < count) {
      const others = Object.keys(this.#kinds).filter((kind) => !always.includes(kind));
      const deck = [...always, ...this.#shuffled(others)].slice(0, count - kinds.length);
      kinds.push(...this.#shuffled(deck));
    }
    return kinds.flatMap((kind) => (this.#kinds[kind] as () => Fault | undefined)() ?? []);
  }

  readonly #kinds: Readonly<Record<string, () => Fault | undefined>> = {
    fullDisk: () => this.#fullDisk(),
    clockAhead: () => this.#clockStep(HOUR_MS),
    clockBack: () => this.#clockStep(-HOUR_MS),
    killGateway: () => this.#killed('gateway'),
    killWorker: () => this.#killed('worker'),
    killApi: () => this.#killed('api'),
    stopGateway: () => this.#stopped('gateway', LEASE_ENDS_AFTER_MS),
    stopWorker: () => this.#stopped('worker', BRIEFLY_MS + this.#dice.below(BRIEFLY_MS)),
    stopApi: () => this.#stopped('api', BRIEFLY_MS),
    cutLinks: () => this.#cut(),
    halfOpenLinks: () => this.#halfOpen(),
    slowLinks: () => this.#slowed(),
    flushRedis: () => fault('Redis loses its data', 0, () => this.#flush()),
    killRedis: () =>
      fault('kill -9 of Redis', BRIEFLY_MS, async () => {
        await this.#fleet.redis.stop();
        return () => this.#fleet.redis.restart();
      }),
    stopRedis: () =>
      fault('SIGSTOP of Redis', 2 * BRIEFLY_MS, () => {
        this.#fleet.redis.freeze();
        return () => this.#fleet.redis.thaw();
      }),
    killPostgres: () =>
      fault('kill -9 of PostgreSQL', BRIEFLY_MS, async () => {
        await this.#fleet.postgres.kill();
        return () => this.#fleet.postgres.start();
      }),
    stopPostgres: () =>
      fault('SIGSTOP of PostgreSQL', 3 * BRIEFLY_MS, () => {
        this.#fleet.postgres.freeze();
        return () => this.#fleet.postgres.thaw();
      }),
  };

  #shuffled(kinds: readonly string[]): readonly string[] {
    const rest = [...kinds];
    return kinds.flatMap(() => rest.splice(this.#dice.below(rest.length), 1));
  }

  /** PostgreSQL and all data folders are on this disk. Undefined where it cannot be filled. */
  #fullDisk(): Fault | undefined {
    const { disk, postgres } = this.#fleet;
    const { fill } = disk;
    if (fill === undefined) return undefined;
    return fault('full disk', 2 * BRIEFLY_MS, () => {
      fill();
      return async () => {
        disk.free();
        // It ends when it cannot write its log.
        await postgres.start();
      };
    });
  }

  /** The wall clock of one process steps and, at the end, steps back. */
  #clockStep(aheadMs: number): Fault {
    const member = this.#dice.pick(this.#fleet.members);
    const way = aheadMs > 0 ? 'ahead' : 'back';
    return fault(`clock of the ${member.role} ${way} by an hour`, 2 * BRIEFLY_MS, () => {
      member.setClockAhead(aheadMs);
      return () => member.setClockAhead(0);
    });
  }

  #memberOf(role: MemberRole): Member {
    return this.#dice.pick(this.#fleet.members.filter((member) => member.role === role));
  }

  #killed(role: MemberRole): Fault {
    const member = this.#memberOf(role);
    return fault(`kill -9 of the ${role}`, 0, async () => {
      await member.kill();
      return nothing;
    });
  }

  #stopped(role: MemberRole, lastsMs: number): Fault {
    const member = this.#memberOf(role);
    return fault(`SIGSTOP of the ${role} for ${lastsMs} ms`, lastsMs, () => {
      member.freeze();
      return () => member.thaw();
    });
  }

  #cut(): Fault {
    const name = this.#doorName();
    return fault(`cut links to ${name}`, 0, () => {
      this.#fleet.doors[name].cut();
      return nothing;
    });
  }

  /** Processes have limits of time. Devices and callers notice it at the end, and connect again. */
  #halfOpen(): Fault {
    const name = this.#doorName();
    const door = this.#fleet.doors[name];
    return fault(`half-open links to ${name}`, 2 * BRIEFLY_MS, () => {
      door.freeze();
      return () => (['mqtt', 'webSocket', 'api'].includes(name) ? door.resetClients() : undefined);
    });
  }

  #slowed(): Fault {
    const name = this.#doorName();
    const delayMs = 50 + this.#dice.below(250);
    return fault(`${delayMs} ms more to ${name}`, 2 * BRIEFLY_MS, () => {
      this.#fleet.doors[name].slow(delayMs);
      return () => this.#fleet.doors[name].slow(0);
    });
  }

  #doorName(): keyof FleetOfProcesses['doors'] {
    return this.#dice.pick(Object.keys(this.#fleet.doors) as (keyof FleetOfProcesses['doors'])[]);
  }

  async #flush(): Promise<Heal> {
    const socket = connect(Number(new URL(this.#fleet.redis.url).port), '127.0.0.1');
    socket.write('FLUSHALL\r\n');
    await once(socket, 'data');
    socket.destroy();
    return nothing;
  }
}

function fault(name: string, lastsMs: number, begin: Fault['begin']): Fault {
  return { name, lastsMs, begin };
}
