/**
 * Opens connections only to public addresses. Each connect checks the resolved addresses that it
 * then uses.
 */
import { Agent, buildConnector } from 'undici';
import { publicOnly } from './public-only.js';

interface AgentLimits {
  /** Connections to one origin. */
  readonly connections: number;
  /** For each step of an attempt, ms. */
  readonly timeoutMs: number;
}

/** Agents for addresses that users entered. None has a proxy from the environment. */
export class UserAddressAgents {
  readonly #trusted: ReadonlySet<string>;
  readonly #open: Agent;
  readonly #guarded: Agent;

  /** `trustedOrigins`: those that the operator named, which may be anywhere. */
  constructor(trustedOrigins: readonly string[], limits: AgentLimits) {
    const { connections, timeoutMs } = limits;
    this.#trusted = new Set(trustedOrigins);
    this.#open = new Agent({ ...timeouts(timeoutMs), connections, connect: { timeout: timeoutMs } });
    this.#guarded = openGuardedAgent(limits);
  }

  agentFor(url: string): Agent {
    return this.#trusted.has(new URL(url).origin) ? this.#open : this.#guarded;
  }

  async close(): Promise<void> {
    await Promise.all([this.#open.destroy(), this.#guarded.destroy()]);
  }
}

export function openGuardedAgent({ connections, timeoutMs }: AgentLimits): Agent {
  const connectTo = buildConnector({ timeout: timeoutMs, lookup: publicOnly.lookup });
  const connect: buildConnector.connector = (options, callback) => {
    // Nothing is looked up for an address, so a lookup alone would let all of them pass.
    const forbidden = publicOnly.refuse(options.hostname);
    if (forbidden === undefined) connectTo(options, callback);
    else callback(forbidden, null);
  };
  return new Agent({ ...timeouts(timeoutMs), connections, connect });
}

function timeouts(timeoutMs: number) {
  return { headersTimeout: timeoutMs, bodyTimeout: timeoutMs, pipelining: 1 };
}

/** Characters of an error that a log of deliveries or a test of a channel shows. */
const ERROR_CHARACTERS_MAX = 300;

/** Why an attempt failed, as users see it. */
export function attemptError(error: unknown): string {
  if (!(error instanceof Error)) return 'The attempt failed.';
  const code = 'code' in error && typeof error.code === 'string' ? `${error.code}: ` : '';
  return `${code}${error.message}`.slice(0, ERROR_CHARACTERS_MAX);
}
