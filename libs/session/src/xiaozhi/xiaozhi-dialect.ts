/**
 * The dialect of xiaozhi-esp32 devices: MCP inside the text envelope, `initialize` as greeting,
 * `tools/list` in pages. [xiaozhi §4]
 */
import {
  alertMessage,
  alertTexts,
  alertTool,
  encodeMcpEnvelope,
  encodeNotification,
  encodeRequest,
  initializeParams,
  isJsonObject,
  int32Max,
  isSendableName,
  parseDeviceEnvelope,
  parseInitializeResult,
  parseRpcMessage,
  parseToolPage,
  parseToolResult,
  toolsCallParams,
  toolsListParams,
} from '@flotilla/mcp';
import type { DeviceInfo, JsonObject, RpcError, ToolPage, ToolResult, VisionService } from '@flotilla/mcp';
import type { CallRefusal, DeviceError, Dialect, DialectMessage, ProvenMessage } from '../dialect.js';
import type { CallArguments } from '../session-contract.js';

/** The beginning of an answer exactly as the firmware writes it. */
const firmwareAnswerHead =
  /^\{"session_id":"[^"\\]*","type":"mcp","payload":\{"jsonrpc":"2\.0","id":(\d{1,10}),"result":/;

/** No tool of such a device has such a name, and the device could not report it in an error. */
const unsendableName: CallRefusal = {
  code: 'TOOL_UNKNOWN',
  message: 'The name of the tool contains quotes, backslashes or control characters.',
};

/** The result of a hub tool after the device has shown the banner. */
const shown: ToolResult = { content: [{ type: 'text', text: 'true' }], isError: false };

/** Message types of devices besides hello and MCP; older firmware sends `iot`. [xiaozhi §3.1] */
const knownTypes = new Set(['listen', 'abort', 'goodbye', 'iot']);

export class XiaozhiDialect implements Dialect {
  readonly requestIdMax = int32Max;
  readonly statusTool = 'self.get_device_status';
  readonly #vision: VisionService | undefined;
  #sessionId: string | undefined;

  constructor(options: { readonly vision?: VisionService | undefined } = {}) {
    this.#vision = options.vision;
  }

  /**
   * Sets the session id that a server hello assigned; every later request repeats it. Not needed
   * over MQTT. [xiaozhi §2.7]
   */
  setSessionId(sessionId: string): void {
    this.#sessionId = sessionId;
  }

  encodeGreeting(id: number): string {
    return this.#wrap(encodeRequest(id, 'initialize', initializeParams(this.#vision)));
  }

  encodeGreeted(): string {
    return this.#wrap(encodeNotification('notifications/initialized'));
  }

  encodePageRequest(id: number, cursor: string | undefined): string {
    return this.#wrap(encodeRequest(id, 'tools/list', toolsListParams(cursor)));
  }

  encodeCall(id: number, tool: string, args: CallArguments): string | ProvenMessage | CallRefusal {
    if (tool === alertTool.name) return this.#encodeAlert(id, args);
    return isSendableName(tool)
      ? this.#wrap(encodeRequest(id, 'tools/call', toolsCallParams(tool, args)))
      : unsendableName;
  }

  encodeMessage(message: JsonObject): string {
    return JSON.stringify(message);
  }

  read(text: string): DialectMessage {
    const envelope = parseDeviceEnvelope(text);
    switch (envelope.kind) {
      case 'mcp':
        return readPayload(envelope.payload, text);
      case 'hello':
        return { kind: 'message', type: 'hello', isKnown: true, message: envelope.message };
      case 'other':
        return {
          kind: 'message',
          type: envelope.type,
          isKnown: knownTypes.has(envelope.type),
          message: envelope.message,
        };
      case 'unparseable':
        return {
          kind: 'garbled',
          id: envelope.replyId,
          anomaly: 'unparseable_message',
          problem: 'the message is not JSON',
          text,
        };
      case 'invalid':
        return { kind: 'garbled', id: undefined, anomaly: 'invalid_envelope', problem: envelope.problem, text };
    }
  }

  pageTextOf(text: string, id: number): string | undefined {
    const head = firmwareAnswerHead.exec(text);
    return head !== null && Number(head[1]) === id && text.endsWith('}}') ? text.slice(head[0].length, -2) : undefined;
  }

  readGreeting(result: unknown): DeviceInfo {
    return parseInitializeResult(result);
  }

  readPage(result: unknown): ToolPage | undefined {
    return parseToolPage(result);
  }

  readToolResult(result: unknown, tool: string): ToolResult | undefined {
    if (tool === alertTool.name) return isJsonObject(result) ? shown : undefined;
    return parseToolResult(result);
  }

  /**
   * A banner has no answer. Messages are processed in order, so the answer to the greeting after it
   * shows that it arrived. [xiaozhi §3.2, §4.3]
   */
  #encodeAlert(id: number, args: CallArguments): ProvenMessage {
    return {
      text: this.encodeMessage(alertMessage(alertTexts(args))),
      proof: this.#wrap(encodeRequest(id, 'initialize', initializeParams(undefined))),
    };
  }

  #wrap(payloadText: string): string {
    return encodeMcpEnvelope(this.#sessionId, payloadText);
  }
}

function readPayload(payload: JsonObject, text: string): DialectMessage {
  const message = parseRpcMessage(payload);
  switch (message.kind) {
    case 'result':
    case 'notification':
    case 'request':
      return message;
    case 'error':
      return { kind: 'error', id: message.id, error: readError(message.error) };
    case 'invalid':
      return { kind: 'garbled', id: message.id, anomaly: 'invalid_json_rpc', problem: message.problem, text };
  }
}

function readError(error: RpcError): DeviceError {
  return {
    message: error.message,
    rpcCode: error.isCodeGiven ? error.code : undefined,
    isToolGone: error.message.startsWith('Unknown tool'),
  };
}
