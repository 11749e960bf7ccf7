/** A device of the model: its sessions, its firmware and its lamp, as the hub sees them. */
import type { DeviceId } from '@flotilla/mcp';

interface Session {
  readonly epoch: number;
  readonly connectedAt: number;
  readonly version: string;
}

export class ModelDevice {
  isOnline = true;
  version = 1;
  level = 0;
  bootedAt = -Infinity;
  /** When it left its session or booted, without the hub. */
  readonly leftAt: number[] = [];
  readonly sessions: Session[] = [];
  readonly #leftEpochs = new Set<number>();

  constructor(
    readonly id: DeviceId,
    now: number,
  ) {
    this.connect(now);
  }

  get epoch(): number {
    return this.sessions.length;
  }

  get connectedAt(): number {
    return this.sessions.at(-1)?.connectedAt ?? 0;
  }

  connect(now: number): void {
    this.isOnline = true;
    this.sessions.push({ epoch: this.epoch + 1, connectedAt: now, version: String(this.version) });
  }

  leave(now: number): void {
    if (!this.isOnline) return;
    this.isOnline = false;
    this.leftAt.push(now);
    this.#leftEpochs.add(this.epoch);
  }

  boot(now: number, isUpgraded: boolean): void {
    this.leave(now);
    if (isUpgraded) this.version += 1;
    this.bootedAt = now;
    this.leftAt.push(now);
    this.connect(now);
  }

  hasLeft(epoch: number): boolean {
    return this.#leftEpochs.has(epoch);
  }

  /** Since when it is known to run other firmware than `baseline` after the session `epoch`. */
  backSince(epoch: number, baseline: string): number | undefined {
    return this.sessions.find((session) => session.epoch > epoch && session.version !== baseline)?.connectedAt;
  }
}
