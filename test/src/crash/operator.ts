/**
 * An operator who works on a hub that is killed under them: makes jobs, pauses, resumes, cancels,
 * opens waves, calls devices, and writes down what was answered. Where no answer came, a request
 * with a key is made again after the restart; anything else stays undecided.
 */
import type { FuzzDice } from '../fuzz/fuzz-dice.js';
import { ask } from '../api/graphql-client.js';
import type { HubProcess } from '../hub/hub-process.js';
import type { JobShape, JobShapes } from './job-shapes.js';

export type SteeringVerb = 'pauseJob' | 'resumeJob' | 'cancelJob' | 'forceCancel' | 'openNextWave';

/** `state` is what the hub answered; undefined where it refused, or died before it answered. */
interface Steering {
  readonly verb: SteeringVerb;
  readonly askedAt: number;
  readonly answeredAt: number;
  readonly state: string | undefined;
}

export interface MadeJob {
  readonly shape: JobShape;
  /** Undefined while no answer has come. */
  id: string | undefined;
  readonly steerings: Steering[];
}

export interface KeyedCall {
  readonly key: string;
  readonly deviceId: string;
  outcome: string | undefined;
}

export const SINGLE_CALL_TOOL = 'self.lamp.turn_off';

const CREATE = `mutation ($input: CreateJobInput!, $key: String!) {
  createJob(input: $input, idempotencyKey: $key) { job { id } userErrors { message } }
}`;
const CALL = 'mutation ($input: CallToolInput!) { callTool(input: $input) { call { outcome } userErrors { code } } }';

export class Operator {
  readonly jobs: MadeJob[] = [];
  readonly calls: KeyedCall[] = [];
  readonly #dice: FuzzDice;
  readonly #shapes: JobShapes;
  /** Requests that have no answer yet. */
  readonly #open = new Set<Promise<unknown>>();

  constructor(dice: FuzzDice, shapes: JobShapes) {
    this.#dice = dice;
    this.#shapes = shapes;
  }

  /** Asks again for what has no answer, and for so many new jobs. */
  createJobs(hub: HubProcess, count: number): void {
    for (let n = 0; n < count; n++) this.jobs.push({ shape: this.#shapes.next(), id: undefined, steerings: [] });
    for (const job of this.jobs) if (job.id === undefined) this.#try(this.#create(hub, job));
    for (const call of this.calls) if (call.outcome === undefined) this.#try(this.#call(hub, call));
  }

  /** Some act on some job or device. */
  act(hub: HubProcess, lamps: readonly string[]): void {
    const job = this.#dice.pick(this.jobs.slice(-6));
    const verb = this.#dice.pick<SteeringVerb | 'callTool'>([
      'pauseJob',
      'pauseJob',
      'resumeJob',
      'resumeJob',
      'openNextWave',
      'callTool',
      'callTool',
      ...(this.#dice.below(3) === 0 ? (['cancelJob', 'forceCancel'] as const) : []),
    ]);
    if (verb === 'callTool') {
      const call: KeyedCall = {
        key: `call-${this.calls.length}`,
        deviceId: this.#dice.pick(lamps),
        outcome: undefined,
      };
      this.calls.push(call);
      this.#try(this.#call(hub, call));
    } else if (job?.id !== undefined && !job.shape.isLeftAlone) this.#try(this.steer(hub, job, verb));
  }

  async steer(hub: HubProcess, job: MadeJob, verb: SteeringVerb): Promise<void> {
    const askedAt = Date.now();
    const field = verb === 'forceCancel' ? 'cancelJob(id: $id, force: true)' : `${verb}(id: $id)`;
    const query = `mutation ($id: ID!) { answer: ${field} { job { state } userErrors { code } } }`;
    const asked = ask<{ answer: { job: { state: string } | null } }>(hub, query, { id: job.id });
    const state = await asked.then(({ answer }) => answer.job?.state).catch(() => undefined);
    job.steerings.push({ verb, askedAt, answeredAt: Date.now(), state });
  }

  /** Every request has been answered, or its connection was cut. */
  async settled(): Promise<void> {
    while (this.#open.size > 0) await Promise.all(this.#open);
  }

  #try(asked: Promise<unknown>): void {
    const open = asked.catch(() => undefined).finally(() => this.#open.delete(open));
    this.#open.add(open);
  }

  async #create(hub: HubProcess, job: MadeJob): Promise<void> {
    const { name, input } = job.shape;
    const { createJob } = await ask<{ createJob: { job: { id: string } | null; userErrors: unknown } }>(hub, CREATE, {
      input: { ...input, name },
      key: name,
    });
    if (createJob.job === null) throw new Error(`The hub refused ${name}: ${JSON.stringify(createJob.userErrors)}`);
    job.id = createJob.job.id;
  }

  async #call(hub: HubProcess, call: KeyedCall): Promise<void> {
    const input = { deviceId: call.deviceId, tool: SINGLE_CALL_TOOL, timeoutMs: 2_000, idempotencyKey: call.key };
    const { callTool } = await ask<{ callTool: { call: { outcome: string } | null } }>(hub, CALL, { input });
    call.outcome = callTool.call?.outcome ?? 'REFUSED';
  }
}
