/** The client: any operation of the API with its types, and methods for what is done every day. */
import { parse, type DocumentNode } from 'graphql';
import {
  defaultClientLimits,
  type ClientLimits,
  type FlotillaClientOptions,
  type RequestOptions,
} from './client-options.js';
import type { Given, Operation, OperationSender } from './operation.js';
import { eachDevice, type DeviceListOptions } from './fleet/each-device.js';
import { jobResults, type JobResultsFormat } from './fleet/job-results.js';
import { tailEvents, type TailedEvent, type TailOptions } from './fleet/tail-events.js';
import { expectAccepted, FlotillaError } from './flotilla-error.js';
import {
  CallToolDocument,
  CreateDesiredStateDocument,
  CreateJobDocument,
  DesiredStateChangedDocument,
  JobProgressDocument,
  JobTargetsDecidedDocument,
  type CallOutcomeFragment,
  type DesiredStateStatusFragment,
  type DeviceSummaryFragment,
  type JobStatusFragment,
  type TargetOutcomeFragment,
} from './generated/operations.js';
import type { CallToolInput, CreateJobInput, DesiredStateInput } from './generated/schema-types.js';
import { sendOperation, type HttpPeer } from './transport/http-operations.js';
import { Subscriptions, type SubscriptionOptions } from './transport/subscriptions.js';
import { uploadFirmware, type FirmwareFile } from './fleet/upload-firmware.js';

/**
 * The longest that a call may last, 300 s, and the way there and back, ms. Node's own fetch waits
 * only 301 s for an answer, and then fails with UNREACHABLE.
 */
const CALL_MS_MAX = 310_000;

export class FlotillaClient implements OperationSender {
  readonly #peer: HttpPeer;
  readonly #base: string;
  readonly #limits: ClientLimits;
  readonly #subscriptions: Subscriptions;

  constructor({
    url,
    apiKey,
    fetch = globalThis.fetch.bind(globalThis),
    webSocket,
    headers = {},
    limits,
  }: FlotillaClientOptions) {
    this.#base = baseOf(url);
    this.#limits = { ...defaultClientLimits, ...limits };
    const sent = { ...headers, ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }) };
    this.#peer = { graphqlUrl: `${this.#base}/graphql`, headers: sent, fetch, limits: this.#limits };
    const wsUrl = `${this.#base.replace(/^http/, 'ws')}/graphql`;
    this.#subscriptions = new Subscriptions({ url: wsUrl, apiKey, webSocket, limits: this.#limits });
  }

  /**
   * Returns the data of a query or mutation. Throws FlotillaError if the answer has errors; user
   * errors are in the data.
   */
  async request<Data, Variables extends object = Record<string, unknown>>(
    document: Operation<Data, Variables>,
    ...[variables, options = {}]: Given<Variables, RequestOptions>
  ): Promise<Data> {
    return (await sendOperation(this.#peer, nodeOf(document), { ...variables }, options)) as Data;
  }

  /** Iterates a subscription until its end, across lost connections. Leaving the loop ends it. */
  subscribe<Data, Variables extends object = Record<string, unknown>>(
    document: Operation<Data, Variables>,
    ...[variables, options = {}]: Given<Variables, SubscriptionOptions>
  ): AsyncGenerator<Data, void, void> {
    return this.#subscriptions.iterate(nodeOf(document), { ...variables }, options) as AsyncGenerator<Data, void, void>;
  }

  /** Every device that matches, page by page as the loop goes on. */
  devices(options: DeviceListOptions = {}): AsyncGenerator<DeviceSummaryFragment, void, void> {
    return eachDevice(this, options);
  }

  /**
   * Calls one tool and waits for its outcome, which is data: FAILED, REJECTED and UNKNOWN too.
   * Throws if there is no call, such as for an unknown device. Retries only with `idempotencyKey`.
   */
  async callTool(input: CallToolInput, options: RequestOptions = {}): Promise<CallOutcomeFragment> {
    const { callTool } = await this.request(CallToolDocument, { input }, { timeoutMs: CALL_MS_MAX, ...options });
    if (callTool.call) return callTool.call;
    expectAccepted(callTool);
    throw new FlotillaError('BAD_RESPONSE', 'The hub answered a call with neither an outcome nor a reason.');
  }

  /**
   * Starts a job. The same key and input find the same job; without a key, one is created for this
   * call.
   */
  async createJob(
    input: CreateJobInput,
    { idempotencyKey = crypto.randomUUID(), ...options }: RequestOptions & { readonly idempotencyKey?: string } = {},
  ): Promise<JobStatusFragment> {
    const { createJob } = await this.request(CreateJobDocument, { input, idempotencyKey }, options);
    const { job } = expectAccepted(createJob);
    if (!job) throw new FlotillaError('BAD_RESPONSE', 'The hub answered with neither a job nor a reason.');
    return job;
  }

  /**
   * Returns a job now and after each change, at most twice a second, until FINISHED. Leaving the
   * loop keeps the job running.
   */
  async *followJob(jobId: string, options: SubscriptionOptions = {}): AsyncGenerator<JobStatusFragment, void, void> {
    for await (const { jobProgress } of this.subscribe(JobProgressDocument, { jobId }, options)) {
      yield jobProgress;
      if (jobProgress.state === 'FINISHED') return;
    }
  }

  /**
   * Returns targets in batches as they are decided, until the job is finished. A very fast job
   * skips some; `jobResults` has all.
   */
  async *followJobTargets(
    jobId: string,
    options: SubscriptionOptions = {},
  ): AsyncGenerator<readonly TargetOutcomeFragment[], void, void> {
    for await (const { jobTargetsDecided } of this.subscribe(JobTargetsDecidedDocument, { jobId }, options))
      yield jobTargetsDecided;
  }

  /**
   * Creates a desired state. The same key and input find the same one; without a key, one is
   * created for this call. Without the scope JOBS_READ it throws FORBIDDEN after the creation.
   */
  async createDesiredState(
    input: DesiredStateInput,
    { idempotencyKey = crypto.randomUUID(), ...options }: RequestOptions & { readonly idempotencyKey?: string } = {},
  ): Promise<DesiredStateStatusFragment> {
    const { createDesiredState } = await this.request(CreateDesiredStateDocument, { input, idempotencyKey }, options);
    const { desiredState } = expectAccepted(createDesiredState);
    if (!desiredState)
      throw new FlotillaError('FORBIDDEN', 'The desired state is created, but reading it needs the scope JOBS_READ.');
    return desiredState;
  }

  /**
   * Returns a desired state now and after each change, at most twice a second, until it is deleted.
   * Leaving the loop does not change it.
   */
  async *followDesiredState(
    id: string,
    options: SubscriptionOptions = {},
  ): AsyncGenerator<DesiredStateStatusFragment, void, void> {
    for await (const { desiredStateChanged } of this.subscribe(DesiredStateChangedDocument, { id }, options))
      yield desiredStateChanged;
  }

  /**
   * Uploads a firmware image and returns its id. Devices get it after it is published and named by
   * a job.
   */
  uploadFirmware(file: FirmwareFile, options: RequestOptions = {}): Promise<string> {
    const { fetch, headers, limits } = this.#peer;
    const timed = { fetch, timeoutMs: options.timeoutMs ?? limits.uploadMs, signal: options.signal };
    return uploadFirmware(`${this.#base}/api/firmware`, headers, file, timed);
  }

  /** The outcome of every device of a job, as a file in pieces. */
  jobResults(
    jobId: string,
    format: JobResultsFormat,
    { signal }: Pick<RequestOptions, 'signal'> = {},
  ): AsyncGenerator<Uint8Array, void, void> {
    const { fetch, headers } = this.#peer;
    return jobResults(`${this.#base}/api/jobs/${encodeURIComponent(jobId)}/results.${format}`, {
      fetch,
      headers,
      signal,
    });
  }

  /** Events as they happen, without end; none is missed while a connection is lost. */
  events(options: TailOptions = {}): AsyncGenerator<TailedEvent, void, void> {
    return tailEvents(this, options, this.#limits);
  }

  /** Ends every subscription with CLOSED, and the connection. */
  close(): void {
    this.#subscriptions.close();
  }
}

function baseOf(url: string): string {
  const { protocol, origin, pathname } = new URL(url);
  if (protocol !== 'http:' && protocol !== 'https:')
    throw new TypeError(`The address of a hub begins with http: or https:, not ${protocol}`);
  return origin + pathname.replace(/\/+$/, '');
}

function nodeOf(document: Operation<unknown, never>): DocumentNode {
  return typeof document === 'string' ? parse(document) : document;
}
