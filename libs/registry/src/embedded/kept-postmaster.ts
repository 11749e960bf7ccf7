/**
 * Keeps the server of a running hub running: starts it again when it has ended by itself, as after
 * a full disk or for lack of memory. The port stays the same, because the hub has it in its pools.
 */
import { messageOf } from '../registry-error.js';
import type { RegistryLogger } from '../registry-logger.js';
import { stopPostmaster } from './postmaster.js';
import type { Postmaster } from './postmaster.js';
import { isAlive } from './process-identity.js';

/** How often the process is looked for, ms. */
const CHECK_EVERY_MS = 1_000;
/** The pause after a start that failed, ms. */
const RETRY_AFTER_MS = 5_000;

export class KeptPostmaster {
  /** Undefined while there is no server: another process may get the number of the former one. */
  #running: Postmaster | undefined;
  #timer: NodeJS.Timeout | undefined;
  #starting: Promise<void> | undefined;
  #isFailing = false;
  #isStopped = false;

  constructor(
    private readonly first: Postmaster,
    private readonly start: (port: number) => Promise<Postmaster>,
    logger: RegistryLogger | undefined,
  ) {
    this.#running = first;
    if (logger !== undefined) this.#checkIn(CHECK_EVERY_MS, logger);
  }

  /** The server process. While there is no server, the first one. */
  get pid(): number {
    return (this.#running ?? this.first).pid;
  }

  /** A start that is under way ends first, so that no server is left. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    await this.#starting;
    if (this.#running !== undefined) await stopPostmaster(this.#running.pid);
  }

  #checkIn(delayMs: number, logger: RegistryLogger): void {
    if (!this.#isStopped) this.#timer = setTimeout(() => this.#check(logger), delayMs).unref();
  }

  #check(logger: RegistryLogger): void {
    if (this.#running !== undefined && isAlive(this.#running.pid)) this.#checkIn(CHECK_EVERY_MS, logger);
    else this.#starting = this.#startAgain(logger);
  }

  async #startAgain(logger: RegistryLogger): Promise<void> {
    const { port } = this.first;
    if (this.#running !== undefined)
      logger.error({ pid: this.#running.pid }, 'the embedded PostgreSQL has ended: starting it again');
    this.#running = undefined;
    try {
      this.#running = await this.start(port);
      this.#isFailing = false;
      logger.info({ pid: this.#running.pid }, 'the embedded PostgreSQL runs again');
      this.#checkIn(CHECK_EVERY_MS, logger);
    } catch (error) {
      if (!this.#isFailing)
        logger.error({ message: messageOf(error) }, 'the embedded PostgreSQL does not start: trying again');
      this.#isFailing = true;
      this.#checkIn(RETRY_AFTER_MS, logger);
    }
  }
}
