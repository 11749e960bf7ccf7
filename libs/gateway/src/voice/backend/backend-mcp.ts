/**
 * Presents a device to a voice server as an MCP server. The hub answers greetings and listings from
 * what it knows; calls are authorised, recorded and queued like all others. Ids of the voice server
 * are returned unchanged.
 */
import { isJsonObject } from '@flotilla/mcp';
import type { DeviceId, JsonObject, ToolResult } from '@flotilla/mcp';
import type { StoredTool } from '@flotilla/registry';
import type { Clock } from '@flotilla/session';
import type { KnownDevice } from '../../conversations/conversation-host.js';
import type { VoiceLimits } from '../voice-limits.js';

/** The result of a voice server's call, or an error message of the hub or the device. */
export type VoiceAnswer =
  | { readonly kind: 'result'; readonly result: ToolResult }
  | { readonly kind: 'error'; readonly message: string; readonly isInvalid: boolean };

/** Calls tools with all checks. Never rejects. */
export interface VoiceCalls {
  callTool(call: {
    readonly deviceId: DeviceId;
    /** `host:port` of the voice server. */
    readonly backend: string;
    readonly tool: string;
    readonly arguments: JsonObject;
    readonly timeoutMs: number;
    /** Whether this voice server may call user-only tools and restart devices. */
    readonly mayCallUserOnly: boolean;
  }): Promise<VoiceAnswer>;
}

interface BackendMcpOptions {
  readonly deviceId: DeviceId;
  readonly backend: string;
  readonly calls: VoiceCalls;
  readonly known: () => KnownDevice;
  /** Whether the voice server may list and call privileged tools; otherwise they are hidden. */
  readonly mayCallUserOnly: boolean;
  readonly clock: Clock;
  readonly limits: Pick<VoiceLimits, 'backendRequestsMax' | 'backendCallTimeoutMs' | 'drainPollMs'>;
  /** Sends an answer as the payload of an envelope. */
  readonly answer: (payload: JsonObject) => void;
}

/** Error codes of JSON-RPC. */
const INVALID_PARAMS = -32_602;
const METHOD_NOT_FOUND = -32_601;
const SERVER_ERROR = -32_000;
/** Pages have the size that devices use, because voice servers expect it. [xiaozhi §4.4] */
const PAGE_BYTES_MAX = 8_000 - 30;

type RpcId = string | number;

export class BackendMcp {
  #pending = 0;
  #isOver = false;

  constructor(private readonly options: BackendMcpOptions) {}

  /** Receives a payload of the voice server. Answers only requests, as devices do. */
  receive(payload: unknown): void {
    if (!isJsonObject(payload) || payload['jsonrpc'] !== '2.0') return;
    const { id, method, params } = payload;
    if (typeof method !== 'string' || !isRpcId(id)) return;
    if (params !== undefined && !isJsonObject(params))
      return this.#refuse(id, INVALID_PARAMS, 'params must be an object');
    if (this.#pending >= this.options.limits.backendRequestsMax)
      return this.#refuse(
        id,
        SERVER_ERROR,
        `more than ${this.options.limits.backendRequestsMax} requests wait for this device`,
      );
    this.#pending += 1;
    void this.#serve(id, method, params ?? {}).finally(() => {
      this.#pending -= 1;
    });
  }

  /** Ends the conversation: no further answers are sent. */
  end(): void {
    this.#isOver = true;
  }

  async #serve(id: RpcId, method: string, params: JsonObject): Promise<void> {
    switch (method) {
      case 'initialize':
        return this.#reply(id, this.#greeting());
      case 'ping':
        return this.#reply(id, {});
      case 'tools/list':
        return this.#list(id, params);
      case 'tools/call':
        return this.#answerCall(id, params);
      default:
        return this.#refuse(id, METHOD_NOT_FOUND, `Method not implemented: ${method}`);
    }
  }

  #greeting(): JsonObject {
    const { model, firmwareVersion } = this.options.known().info;
    return {
      protocolVersion: '2024-11-05',
      capabilities: { tools: {} },
      serverInfo: { name: model ?? 'device', version: firmwareVersion ?? 'unknown' },
    };
  }

  async #list(id: RpcId, { cursor, withUserTools }: JsonObject): Promise<void> {
    const known = await this.#toolsOnceKnown();
    if (known === undefined) return this.#refuse(id, SERVER_ERROR, 'The device has not listed its tools');
    const shown = withUserTools === true ? known : known.filter((tool) => !tool.userOnly);
    const from = typeof cursor === 'string' && cursor !== '' ? shown.findIndex((tool) => tool.name === cursor) : 0;
    if (from === -1) return this.#refuse(id, INVALID_PARAMS, `Unknown cursor: ${String(cursor)}`);
    this.#reply(id, pageOf(shown.slice(from)));
  }

  async #answerCall(id: RpcId, params: JsonObject): Promise<void> {
    const { name, arguments: given = {} } = params;
    if (typeof name !== 'string') return this.#refuse(id, INVALID_PARAMS, 'Missing name');
    if (!isJsonObject(given)) return this.#refuse(id, INVALID_PARAMS, 'Invalid arguments');
    const isNamed = (tool: StoredTool): boolean => tool.name === name;
    const isShown = (await this.#toolsOnceKnown())?.some(isNamed) === true;
    const { backend, calls, deviceId, known, limits, mayCallUserOnly } = this.options;
    const isHidden = !isShown && known().tools?.some(isNamed) === true;
    if (!isShown && !isHidden) return this.#refuse(id, INVALID_PARAMS, `Unknown tool: ${name}`);
    // A hidden tool is called as well, so that the rejection is recorded. The answer is the same as
    // for an unknown tool.
    const timeoutMs = limits.backendCallTimeoutMs;
    const answer = await calls.callTool({
      deviceId,
      backend,
      tool: name,
      arguments: given,
      timeoutMs,
      mayCallUserOnly,
    });
    if (isHidden && answer.kind === 'error') this.#refuse(id, INVALID_PARAMS, `Unknown tool: ${name}`);
    else if (answer.kind === 'result')
      this.#reply(id, { content: answer.result.content, isError: answer.result.isError });
    else this.#refuse(id, answer.isInvalid ? INVALID_PARAMS : SERVER_ERROR, answer.message);
  }

  /**
   * Waits for the tools of a device that has just connected, because voice servers list right after
   * their hello.
   */
  async #toolsOnceKnown(): Promise<readonly StoredTool[] | undefined> {
    const { clock, known, limits, mayCallUserOnly } = this.options;
    const until = clock.now() + limits.backendCallTimeoutMs;
    let tools = known().tools;
    while (tools === undefined && !this.#isOver && clock.now() < until) {
      await new Promise<void>((resolve) => void clock.setTimer(limits.drainPollMs, resolve));
      tools = known().tools;
    }
    return mayCallUserOnly ? tools : tools?.filter((tool) => !isPrivileged(tool));
  }

  #reply(id: RpcId, result: JsonObject): void {
    if (!this.#isOver) this.options.answer({ jsonrpc: '2.0', id, result });
  }

  #refuse(id: RpcId, code: number, message: string): void {
    if (!this.#isOver) this.options.answer({ jsonrpc: '2.0', id, error: { code, message } });
  }
}

/** Some firmware offers its restart to every client. */
function isPrivileged({ name, userOnly }: StoredTool): boolean {
  return userOnly || name.toLowerCase() === 'self.reboot';
}

function isRpcId(id: unknown): id is RpcId {
  return typeof id === 'string' || typeof id === 'number';
}

/**
 * Returns as many tools as fit in a page, at least one. The cursor is the name of the first tool
 * that did not fit.
 */
function pageOf(tools: readonly StoredTool[]): JsonObject {
  const entries: JsonObject[] = [];
  let bytes = 0;
  for (const tool of tools) {
    const entry = entryOf(tool);
    bytes += Buffer.byteLength(JSON.stringify(entry)) + 1;
    if (bytes > PAGE_BYTES_MAX && entries.length > 0) return { tools: entries, nextCursor: tool.name };
    entries.push(entry);
  }
  return { tools: entries };
}

function entryOf({ name, description, inputSchema, userOnly }: StoredTool): JsonObject {
  return { name, description, inputSchema, ...(userOnly && { annotations: { audience: ['user'] } }) };
}
