/**
 * The dialect of MCP/U microcontrollers: one line per message, `get_info` as greeting, `list_tools`
 * in one frame, the tool name as method. [mcpu §1, §2]
 */
import {
  encodeMcpuRequest,
  findHubTool,
  mcpuRequestIdMax,
  parseMcpuInfo,
  parseMcpuResult,
  parseMcpuTools,
  readMcpuLine,
  strictestProfile,
} from '@flotilla/mcp';
import type { DeviceInfo, McpuProfile, RpcError, ToolPage, ToolResult } from '@flotilla/mcp';
import type { CallRefusal, DeviceError, Dialect, DialectMessage } from '../dialect.js';
import type { CallArguments } from '../session-contract.js';
import { utf8BytesExceed } from '../utf8-length.js';

/** JSON-RPC's code; the texts differ between firmware versions. [mcpu §2.6] */
const methodNotFound = -32_601;

export class McpuDialect implements Dialect {
  readonly requestIdMax = mcpuRequestIdMax;
  readonly statusTool = undefined;
  readonly isOneAtATime = true;
  #profile: McpuProfile = strictestProfile;

  encodeGreeting(id: number): string {
    return encodeMcpuRequest(id, 'get_info', {});
  }

  encodeGreeted(): undefined {
    return undefined;
  }

  encodePageRequest(id: number): string {
    return encodeMcpuRequest(id, 'list_tools', {});
  }

  encodeCall(id: number, tool: string, args: CallArguments): string | CallRefusal {
    if (findHubTool(tool))
      return { code: 'TOOL_UNKNOWN', message: `A board of this family cannot show what "${tool}" says.` };
    const text = encodeMcpuRequest(id, tool, args);
    const { requestBytesMax } = this.#profile;
    if (!utf8BytesExceed(text, requestBytesMax)) return text;
    return {
      code: 'REQUEST_TOO_LARGE',
      message: `The request is larger than the ${requestBytesMax} bytes that the board can read.`,
    };
  }

  encodeMessage(message: Readonly<Record<string, unknown>>): string {
    return JSON.stringify(message);
  }

  read(text: string): DialectMessage {
    const frame = readMcpuLine(text);
    switch (frame.kind) {
      case 'result':
        return frame;
      case 'error':
        return { kind: 'error', id: frame.id, error: readError(frame.error) };
      case 'unread':
        return { kind: 'unread', error: readError(frame.error) };
      case 'strange':
        return { kind: 'garbled', id: undefined, anomaly: 'invalid_json_rpc', problem: frame.problem, text };
      case 'noise':
        return { kind: 'garbled', id: undefined, anomaly: 'log_line', problem: 'the line is not a frame', text };
    }
  }

  /** Boards list once per connection, so caching their text has no benefit. */
  pageTextOf(): undefined {
    return undefined;
  }

  readGreeting(result: unknown): DeviceInfo {
    this.#profile = parseMcpuInfo(result);
    return this.#profile;
  }

  readPage(result: unknown): ToolPage | undefined {
    return parseMcpuTools(result);
  }

  readToolResult(result: unknown): ToolResult {
    return parseMcpuResult(result);
  }
}

function readError({ code, isCodeGiven, message }: RpcError): DeviceError {
  return { message, rpcCode: isCodeGiven ? code : undefined, isToolGone: code === methodNotFound };
}
