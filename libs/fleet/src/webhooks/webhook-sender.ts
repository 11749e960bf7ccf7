/**
 * Makes one attempt to deliver one event: one POST without redirects, limited in time and bytes.
 * The caller decides what follows.
 */
import type { EventRow } from '@flotilla/registry';
import { request } from 'undici';
import { attemptError, UserAddressAgents } from './guarded-agent.js';
import { signatureOf } from './sign-delivery.js';
import { defaultWebhookLimits } from './webhook-limits.js';
import type { WebhookLimits } from './webhook-limits.js';

interface Attempt {
  readonly url: string;
  readonly secret: string;
  readonly event: EventRow;
  /** Milliseconds since the Unix epoch. */
  readonly at: number;
}

/** Delivered: without `error`. */
export interface AttemptEnd {
  /** Of HTTP; undefined where no answer came. */
  readonly status: number | undefined;
  readonly error: string | undefined;
}

export class WebhookSender {
  readonly #limits: WebhookLimits;
  readonly #agents: UserAddressAgents;

  /** `trustedOrigins`: those that the operator named, which may be anywhere. */
  constructor(trustedOrigins: readonly string[], limits: WebhookLimits = defaultWebhookLimits) {
    this.#limits = limits;
    // Webhooks may share an origin: one that hangs must leave connections to the others.
    const bounds = { connections: limits.atATime, timeoutMs: limits.attemptMs };
    this.#agents = new UserAddressAgents(trustedOrigins, bounds);
  }

  /** Rejects only when `stopped` aborts it. */
  async send({ url, secret, event, at }: Attempt, stopped: AbortSignal): Promise<AttemptEnd> {
    const body = JSON.stringify(shown(event));
    const late = AbortSignal.timeout(this.#limits.attemptMs);
    const signal = AbortSignal.any([late, stopped]);
    try {
      const answer = await request(url, {
        dispatcher: this.#agents.agentFor(url),
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'user-agent': 'Flotilla',
          'flotilla-event-id': event.id,
          'flotilla-signature': signatureOf({ secret, body, at }),
        },
        body,
        signal,
      });
      // Reads the rest of the response within limits, so that the connection can be reused.
      await answer.body.dump({ limit: this.#limits.answerBytesMax, signal }).catch(() => undefined);
      return { status: answer.statusCode, error: problemOf(answer.statusCode) };
    } catch (error) {
      if (stopped.aborted) throw error;
      return {
        status: undefined,
        error: late.aborted ? `No answer within ${this.#limits.attemptMs / 1_000} s.` : attemptError(error),
      };
    }
  }

  close(): Promise<void> {
    return this.#agents.close();
  }
}

/** As GraphQL gives it. */
function shown({ id, type, deviceId, at, data }: EventRow) {
  return { id, type, deviceId: deviceId ?? null, at: new Date(at).toISOString(), data };
}

function problemOf(status: number): string | undefined {
  if (status >= 200 && status < 300) return undefined;
  if (status >= 300 && status < 400) return `The receiver answered ${status}: redirects are not followed.`;
  return `The receiver answered ${status}.`;
}
