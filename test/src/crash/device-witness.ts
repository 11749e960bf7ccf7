/**
 * What the devices of a fleet ran, gathered from their short memories while a story goes on: the
 * truth that a hub's records are held against.
 */
import type { DeviceCall, SimulatedFleet } from '../devices/simulated-fleet.js';

export interface DeviceRun extends DeviceCall {
  readonly device: string;
}

/** Between two looks, ms: a device remembers 16 calls, and no story makes so many in that time. */
const LOOK_EVERY_MS = 200;

export class DeviceWitness {
  readonly #byDevice = new Map<string, DeviceRun[]>();
  readonly #fleet: SimulatedFleet;
  #looking: Promise<void> = Promise.resolve();
  readonly #timer: NodeJS.Timeout;

  constructor(fleet: SimulatedFleet) {
    this.#fleet = fleet;
    this.#timer = setInterval(() => void this.look(), LOOK_EVERY_MS);
  }

  /**
   * Everything so far, in the order of each device. Rejects where a call was missed: counts and
   * memory must agree.
   */
  async runs(): Promise<readonly DeviceRun[]> {
    await this.look();
    const { devices } = await this.#fleet.counts();
    await this.look();
    for (const [device, tools] of Object.entries(devices)) {
      for (const [tool, count] of Object.entries(tools)) {
        const seen = (this.#byDevice.get(device) ?? []).filter((run) => run.tool === tool).length;
        if (seen < count)
          throw new Error(`${device} ran ${tool} ${count} times, of which ${count - seen} were not witnessed.`);
      }
    }
    return [...this.#byDevice.values()].flat();
  }

  look(): Promise<void> {
    this.#looking = this.#looking.then(async () => {
      for (const [device, calls] of Object.entries(await this.#fleet.calls())) this.#add(device, calls);
    });
    return this.#looking;
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** Finds the start of the remembered calls in the known ones by the longest overlap. */
  #add(device: string, calls: readonly DeviceCall[]): void {
    const known = this.#byDevice.get(device) ?? [];
    let overlap = Math.min(known.length, calls.length);
    while (overlap > 0 && !isSame(known.slice(-overlap), calls.slice(0, overlap))) overlap -= 1;
    known.push(...calls.slice(overlap).map((call) => ({ device, ...call })));
    this.#byDevice.set(device, known);
  }
}

function isSame(some: readonly DeviceCall[], others: readonly DeviceCall[]): boolean {
  return some.every(({ tool, at, args }, index) => {
    const other = others[index];
    return other?.tool === tool && other.at === at && JSON.stringify(other.args) === JSON.stringify(args);
  });
}
