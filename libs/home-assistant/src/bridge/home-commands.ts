/**
 * Takes commands of Home Assistant, which may be for all devices at once, as in a scene. Those for
 * one device run one after the other, so that the last one decides.
 */
import type { FleetLogger } from '@flotilla/fleet';
import type { Principal } from '@flotilla/registry';
import { payloadLengthMax } from '../mapping/command.js';
import type { CommandResult, CommandRunner } from './command-runner.js';
import type { Publications } from './publications.js';

/** Devices that carry out a command at the same time. */
const runningMax = 100;
/** Commands that wait: two for each of a thousand devices. Further ones are refused. */
const waitingMax = 2_000;
/** Of one device, so that a broken automation leaves room for other devices. */
const deviceWaitingMax = 100;
/** What a person wanted longer ago is a surprise, ms. */
const waitMsMax = 30_000;

interface ReceivedCommand {
  readonly slug: string;
  readonly component: string;
  readonly payload: string;
}

interface WaitingCommand extends ReceivedCommand {
  readonly since: number;
}

type SucceededCall = Awaited<ReturnType<CommandRunner['run']>>['call'];

export interface HomeCommandsDeps {
  readonly publications: Pick<Publications, 'find' | 'repeatState'>;
  readonly runner: Pick<CommandRunner, 'run'>;
  readonly clock: { now(): number };
  readonly logger: FleetLogger;
  /** The holder of the key now; undefined if it is not valid any more. */
  readonly authenticate: () => Promise<Principal | undefined>;
  readonly onSucceeded: (deviceId: string, call: SucceededCall) => void;
}

export class HomeCommands {
  /** By device. A device that waits or carries out a command has an entry. */
  readonly #queues = new Map<string, WaitingCommand[]>();
  readonly #running = new Set<string>();
  /** Devices that carry out nothing and have a command, in the order of their turns. */
  #ready: string[] = [];
  #waiting = 0;
  readonly #counts = new Map<CommandResult, number>();

  constructor(private readonly deps: HomeCommandsDeps) {}

  /** Commands by result. */
  get counts(): ReadonlyMap<CommandResult, number> {
    return this.#counts;
  }

  /** Returns at once. */
  take(command: ReceivedCommand): void {
    const { payload, slug } = command;
    // It would take memory while it waits, and be invalid then.
    if (payload.length > payloadLengthMax)
      return this.#refuse(command, 'a command of Home Assistant was too long', { result: 'invalid' });
    const queue = this.#queues.get(slug);
    if (this.#waiting >= waitingMax || (queue?.length ?? 0) >= deviceWaitingMax)
      return this.#refuse(command, 'too many commands of Home Assistant wait');
    this.#waiting += 1;
    const waiting = { ...command, since: this.deps.clock.now() };
    if (queue === undefined) {
      this.#queues.set(slug, [waiting]);
      this.#ready.push(slug);
    } else queue.push(waiting);
    this.#next();
  }

  /** Drops those that wait: this process does not serve Home Assistant any more. */
  clear(): void {
    if (this.#waiting > 0) {
      this.#count('refused', this.#waiting);
      const reason = 'commands of Home Assistant were dropped: this process does not serve it any more';
      this.deps.logger.warn({ commands: this.#waiting }, reason);
    }
    for (const slug of this.#queues.keys()) {
      if (this.#running.has(slug)) this.#queues.set(slug, []);
      else this.#queues.delete(slug);
    }
    this.#ready = [];
    this.#waiting = 0;
  }

  #next(): void {
    while (this.#running.size < runningMax) {
      const slug = this.#ready.shift();
      const command = slug === undefined ? undefined : this.#queues.get(slug)?.shift();
      if (slug === undefined || command === undefined) return;
      this.#waiting -= 1;
      this.#running.add(slug);
      void this.#run(command).finally(() => this.#ended(slug));
    }
  }

  #ended(slug: string): void {
    this.#running.delete(slug);
    if (this.#queues.get(slug)?.length === 0) this.#queues.delete(slug);
    else this.#ready.push(slug);
    this.#next();
  }

  async #run(command: WaitingCommand): Promise<void> {
    const { authenticate, clock, onSucceeded, publications, runner } = this.deps;
    if (clock.now() - command.since > waitMsMax)
      return this.#refuse(command, 'a command of Home Assistant was refused: those before it took too long');
    const { component, payload, slug } = command;
    const published = publications.find(slug);
    const entity = published?.entities.get(component);
    if (published === undefined || entity === undefined)
      return this.#refuse(command, 'a command of Home Assistant named no entity that the key may command');
    let principal: Principal | undefined;
    try {
      principal = await authenticate();
    } catch (error) {
      return this.#refuse(command, 'a command of Home Assistant was refused: the hub could not check its key', {
        error,
      });
    }
    if (principal === undefined)
      return this.#refuse(command, 'a command of Home Assistant was refused: the key is not valid any more');
    const { result, call } = await runner.run(published.device, entity, payload, principal);
    this.#count(result);
    if (result === 'succeeded') onSucceeded(published.device.id, call);
    else publications.repeatState(slug);
  }

  /** Home Assistant gets the true value again. */
  #refuse(
    { component, slug }: ReceivedCommand,
    reason: string,
    { error, result = 'refused' }: { readonly error?: unknown; readonly result?: CommandResult } = {},
  ): void {
    this.#count(result);
    this.deps.logger.warn({ slug, component, ...(error !== undefined && { err: error }) }, reason);
    this.deps.publications.repeatState(slug);
  }

  #count(result: CommandResult, commands = 1): void {
    this.#counts.set(result, (this.#counts.get(result) ?? 0) + commands);
  }
}
