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
import { pauseMsAfter, newsReconnection, retryAfterMs, unansweredError } from './retry.js';

/** Bytes of one message of the host: as much as the hub takes. */
const messageBytesMax = 1024 * 1024;

/** Resolves when the host closes standard input, which is how it ends the program. */
export async function relayAgent(door: URL, apiKey: string): Promise<void> {
  await new AgentRelay(door, apiKey).run();
}

class AgentRelay {
  readonly #host = new StdioServerTransport(process.stdin, process.stdout, { maxBufferSize: messageBytesMax });
  readonly #hub: StreamableHTTPClientTransport;
  readonly #open = new Map<RequestId, OpenRequest>();
  #hasHadNews = false;

  constructor(door: URL, apiKey: string) {
    this.#hub = new StreamableHTTPClientTransport(door, {
      requestInit: { headers: { authorization: `Bearer ${apiKey}` } },
      reconnectionOptions: newsReconnection,
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
    for (let attempt = this.#hasHadNews ? 2 : 1; ; attempt++) {
      const response = await fetch(url, init).catch((error: unknown) => {
        if (init.signal?.aborted) throw error;
        return undefined;
      });
      if (response !== undefined && response.status < 500) {
        if (response.ok && attempt > 1) this.#tellHost({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' });
        this.#hasHadNews = true;
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

  /** Sends a request until the hub has answered it, or as often as is safe. */
  async #relay(message: JSONRPCRequest): Promise<void> {
    const request = new OpenRequest(message);
    this.#open.set(message.id, request);
    try {
      for (let attempt = 1; ; attempt = request.wasHeard ? 1 : attempt + 1) {
        const end = await request.send(this.#hub);
        if (end === 'answered' || end === 'cancelled') return;
        const pauseMs = retryAfterMs(message, end, attempt);
        if (pauseMs === undefined) return this.#tellHost(unansweredError(message, end));
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
      return this.#tellHost(message);
    }
    const request = message.id === undefined ? undefined : this.#open.get(message.id);
    // A stopping hub ends its subscriptions with a result. They continue with the next hub.
    if (request?.hasNews === true && 'result' in message) return;
    // From here on each request says the revision, as the former one wants it.
    if ('result' in message && typeof message.result['protocolVersion'] === 'string')
      this.#hub.setProtocolVersion(message.result['protocolVersion']);
    this.#tellHost(message);
    request?.answered();
  }

  #tellHost(message: JSONRPCMessage): void {
    void this.#host.send(message).catch(() => undefined);
  }

  /** The first is the hub's own; each later one becomes the news that may have been missed. */
  #acknowledged(message: JSONRPCNotification): void {
    const request = this.#open.get(metaOf(message)?.['io.modelcontextprotocol/subscriptionId'] as RequestId);
    const news = promisedNews(message);
    if (request?.hasNews === true) news.forEach((missed) => this.#tellHost(missed));
    else this.#tellHost(message);
    if (request) request.hasNews = request.wasHeard = news.length > 0;
  }
}

function metaOf({ params }: JSONRPCNotification): Readonly<Record<string, unknown>> | undefined {
  return params?.['_meta'];
}

/** One notification of each kind that a subscription was promised. */
function promisedNews(message: JSONRPCNotification): readonly JSONRPCNotification[] {
  const promised: unknown = message.params?.['notifications'];
  const has = (name: string): boolean =>
    typeof promised === 'object' && promised !== null && Reflect.get(promised, name) === true;
  return [
    ...(has('toolsListChanged') ? ['notifications/tools/list_changed'] : []),
    ...(has('resourcesListChanged') ? ['notifications/resources/list_changed'] : []),
  ].map((method) => ({ jsonrpc: '2.0', method, params: { _meta: metaOf(message) ?? {} } }));
}
