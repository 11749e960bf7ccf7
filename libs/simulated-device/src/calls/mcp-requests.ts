/** Checks MCP requests; answers `initialize`, `tools/list` and `tools/call`. [xiaozhi §4] */
import type { BehaviourScript, RequestMethod } from '../behaviour/behaviour-script.js';
import type { Link } from '../connection/link.js';
import { endlessPage, repeatingPage } from '../behaviour/spoilt-pages.js';
import { errorBody, resultBody, type Replies, type ReplyBody } from '../connection/replies.js';
import type { DeviceState } from '../device-state.js';
import { FirmwareObject } from '../json/firmware-json.js';
import type { DeviceProfile } from '../profile.js';
import { toInt32 } from './check-arguments.js';
import type { ToolCalls } from './tool-calls.js';

interface Parts {
  readonly profile: DeviceProfile;
  readonly link: Link;
  readonly state: DeviceState;
  readonly script: BehaviourScript;
  readonly replies: Replies;
  readonly calls: ToolCalls;
}

export class McpRequests {
  constructor(private readonly parts: Parts) {}

  /**
   * The order of acceptance: the first failing check decides, and most fail silently. [xiaozhi
   * §4.1]
   */
  take(payload: unknown, now: number): void {
    if (!(payload instanceof FirmwareObject) || payload.get('jsonrpc') !== '2.0') return;
    const method = payload.get('method');
    if (typeof method !== 'string' || method.startsWith('notifications')) return;
    const params = payload.get('params');
    if (params !== undefined && !(params instanceof FirmwareObject)) return;
    const number = payload.get('id');
    if (typeof number !== 'number') return;
    const id = toInt32(number);
    switch (method) {
      case 'initialize':
        return this.#reply(id, method, this.#initialize(params));
      case 'tools/list':
        return this.#reply(id, method, this.#list(params));
      case 'tools/call':
        return this.parts.calls.call(id, params, now);
      default:
        return this.#reply(id, 'other', errorBody(`Method not implemented: ${method}`));
    }
  }

  #reply(id: number, method: RequestMethod, body: ReplyBody): void {
    this.parts.replies.queue({ id, method }, body);
  }

  #initialize(params: FirmwareObject | undefined): ReplyBody {
    const capabilities = params?.get('capabilities');
    const vision = capabilities instanceof FirmwareObject ? capabilities.get('vision') : undefined;
    const url = vision instanceof FirmwareObject ? vision.get('url') : undefined;
    const token = vision instanceof FirmwareObject ? vision.get('token') : undefined;
    if (typeof url === 'string' && this.parts.profile.parts.hasCamera) {
      this.parts.state.visionUrl = url;
      // An absent token clears the one before. [xiaozhi §4.3]
      this.parts.state.visionToken = typeof token === 'string' ? token : '';
    }
    const { profile, state } = this.parts;
    const serverInfo = `{"name":"${profile.parts.board}","version":"${state.firmware.running.version}"}`;
    return resultBody(`{"protocolVersion":"2024-11-05","capabilities":{"tools":{}},"serverInfo":${serverInfo}}`);
  }

  #list(params: FirmwareObject | undefined): ReplyBody {
    const given = params?.get('cursor');
    const cursor = typeof given === 'string' ? given : '';
    const subject = { method: 'tools/list' } as const;
    if (this.parts.script.strike('repeatingCursor', subject))
      return resultBody(repeatingPage(this.parts.profile.tools, cursor));
    if (this.parts.script.strike('neverEndingPages', subject)) return resultBody(endlessPage(cursor));
    const page = this.parts.profile.tools.page(cursor, params?.get('withUserTools') === true);
    return 'error' in page ? errorBody(page.error) : resultBody(page.result);
  }

  /** Sends a notification of the device. */
  notify(method: string, params: Readonly<Record<string, unknown>> | undefined): void {
    const payload = JSON.stringify({ jsonrpc: '2.0', method, ...(params && { params }) });
    this.parts.link.send(`{"session_id":"${this.parts.link.sessionId}","type":"mcp","payload":${payload}}`);
  }
}
