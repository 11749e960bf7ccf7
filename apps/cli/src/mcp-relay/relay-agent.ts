/**
 * Relays the messages of an MCP host on standard input to the hub's `/mcp`, and back. It adds an
 * answer if the hub gives none, and a notification after a lost connection. Standard output has
 * messages only.
 */
import {
  StreamableHTTPClientTransport,
  type JSONRPCMessage,
  type JSONRPCNotification,
  type JSONRPCRequest,
  type RequestId,
} from '@modelcontextprotocol/client';
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import { setTimeout as pause } from 'node:timers/promises';
import { say } from '../console/output.js';
import { OpenRequest } from './open-request.js';
import { pauseMsAfter, notificationReconnection, retryAfterMs, unansweredError } from './retry.js';

/** Maximum bytes of one message of the host, as in the hub. */
const messageBytesMax = 1024 * 1024;

/** Resolves when the host closes standard input to end the program. */
export async function relayAgent(mcpUrl: URL, apiKey: string): Promise<void> {
  await new AgentRelay(mcpUrl, apiKey).run();
}

class AgentRelay {
  readonly #host = new StdioServerTransport(process.stdin, process.stdout, { maxBufferSize: messageBytesMax });
  readonly #hub: StreamableHTTPClientTransport;
  readonly #open = new Map<RequestId, OpenRequest>();
  #hadStream = false;

  constructor(mcpUrl: URL, apiKey: string) {
    this.#hub = new StreamableHTTPClientTransport(mcpUrl, {
      requestInit: { headers: { authorization: `Bearer ${apiKey}` } },
      reconnectionOptions: notificationReconnection,
      fetch: (url, init) => this.#fetch(url, init),
    });
  }

  async run(): Promise<void> {
    const ended = new Promise<void>((resolve) => (this.#host.onclose = resolve));
    this.#host.onerror = (error) => say(`The host sent an invalid MCP message: ${error.message}`);
    this.#host.onmessage = (message) => void this.#fromHost(message);
    this.#hub.onmessage = (message) => this.#fromHub(message);
    // A failed request is answered; the notification stream reconnects on its own.
    this.#hub.onerror = () => undefined;
    await this.#hub.start();
    await this.#host.start();
    await ended;
    for (const request of this.#open.values()) request.cancel();
    await this.#hub.close();
  }

  /**
   * The former revision receives notifications on a GET stream. The SDK opens it once and restores
   * it only if it was open.
   */
  async #fetch(url: string | URL, init?: RequestInit): Promise<Response> {
    if (init?.method !== 'GET') return fetch(url, init);
    for (let attempt = this.#hadStream ? 2 : 1; ; attempt++) {
      const response = await fetch(url, init).catch((error: unknown) => {
        if (init.signal?.aborted) throw error;
        return undefined;
      });
      if (response !== undefined && response.status < 500) {
        if (response.ok && attempt > 1)
          this.#sendToHost({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' });
        this.#hadStream = true;
        return response;
      }
      await pause(pauseMsAfter(attempt), undefined, { signal: init.signal ?? undefined, ref: false });
    }
  }

  async #fromHost(message: JSONRPCMessage): Promise<void> {
    if ('method' in message && 'id' in message) return this.#relay(message);
    const cancelled =
      'method' in message && message.method === 'notifications/cancelled' ? message.params?.['requestId'] : undefined;
    if (cancelled !== undefined) this.#open.get(cancelled as RequestId)?.cancel();
    await this.#hub
      .send(message)
      .catch((error: Error) => say(`A message of the host did not reach the hub: ${error.message}`));
  }

  /** Sends a request until the hub answers, as often as is safe. */
  async #relay(message: JSONRPCRequest): Promise<void> {
    const request = new OpenRequest(message);
    this.#open.set(message.id, request);
    try {
      for (let attempt = 1; ; attempt = request.isAcknowledged ? 1 : attempt + 1) {
        const end = await request.send(this.#hub);
        if (end === 'answered' || end === 'cancelled') return;
        const pauseMs = retryAfterMs(message, end, attempt);
        if (pauseMs === undefined) return this.#sendToHost(unansweredError(message, end));
        await request.pause(pauseMs);
      }
    } finally {
      if (this.#open.get(message.id) === request) this.#open.delete(message.id);
    }
  }

  #fromHub(message: JSONRPCMessage): void {
    if ('method' in message) {
      if (message.method === 'notifications/subscriptions/acknowledged' && !('id' in message))
        return this.#acknowledged(message);
      return this.#sendToHost(message);
    }
    const request = message.id === undefined ? undefined : this.#open.get(message.id);
    // A stopping hub ends its subscriptions with a result. They continue with the next hub.
    if (request?.isSubscribed === true && 'result' in message) return;
    // The former revision requires the protocol version in each later request.
    if ('result' in message && typeof message.result['protocolVersion'] === 'string')
      this.#hub.setProtocolVersion(message.result['protocolVersion']);
    this.#sendToHost(message);
    request?.answered();
  }

  #sendToHost(message: JSONRPCMessage): void {
    void this.#host.send(message).catch(() => undefined);
  }

  /** Relays the first acknowledgement; replaces later ones by notifications that may be lost. */
  #acknowledged(message: JSONRPCNotification): void {
    const request = this.#open.get(metaOf(message)?.['io.modelcontextprotocol/subscriptionId'] as RequestId);
    const missed = missedNotifications(message);
    if (request?.isSubscribed === true) missed.forEach((each) => this.#sendToHost(each));
    else this.#sendToHost(message);
    if (request) request.isSubscribed = request.isAcknowledged = missed.length > 0;
  }
}

function metaOf({ params }: JSONRPCNotification): Readonly<Record<string, unknown>> | undefined {
  return params?.['_meta'];
}

/** One notification of each kind that the hub has acknowledged. */
function missedNotifications(message: JSONRPCNotification): readonly JSONRPCNotification[] {
  const acknowledged: unknown = message.params?.['notifications'];
  const has = (name: string): boolean =>
    typeof acknowledged === 'object' && acknowledged !== null && Reflect.get(acknowledged, name) === true;
  return [
    ...(has('toolsListChanged') ? ['notifications/tools/list_changed'] : []),
    ...(has('resourcesListChanged') ? ['notifications/resources/list_changed'] : []),
  ].map((method) => ({ jsonrpc: '2.0', method, params: { _meta: metaOf(message) ?? {} } }));
}
