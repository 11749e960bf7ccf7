/**
 * Opens connections only to public addresses. Each connect checks the resolved addresses that it
 * then uses.
 */
import { Agent, buildConnector } from 'undici';
import { publicOnly } from './public-only.js';

export interface AgentLimits {
  /** Connections to one origin. */
  readonly connections: number;
  /** For each step of an attempt, ms. */
  readonly timeoutMs: number;
}

/** An agent without a proxy from the environment. */
export function openAgent({ connections, timeoutMs }: AgentLimits): Agent {
  return new Agent({ ...timeouts(timeoutMs), connections, connect: { timeout: timeoutMs } });
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
