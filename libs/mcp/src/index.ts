export { deviceOffline, notSent } from './tools/call-outcome.js';
export type {
  CallError,
  CallOutcome,
  CallOutcomeKind,
  SendCertainty,
  ToolContent,
  ToolResult,
} from './tools/call-outcome.js';
export { encodeMcpEnvelope, parseDeviceEnvelope } from './messages/device-envelope.js';
export { dialects, enrollingDialect, transportKinds } from './dialects.js';
export type { DialectName, IncomingTransport, TransportKind } from './dialects.js';
export {
  clientIdMax,
  deviceIdOf,
  likelyDialectOf,
  parseDeviceIdHeader,
  parseMicrocontrollerId,
  parseMqttClientId,
} from './device-identity.js';
export { deviceText } from './device-text.js';
export type { CallErrorCode, NotSentCode, UnknownCode, VerificationCode } from './error-codes.js';
export { parseDeviceHello, udpServerHello, websocketServerHello } from './messages/hello.js';
export type { DeviceHello } from './messages/hello.js';
export type { CallId, DeviceId, HubProcessId, JobId, ToolSetHash } from './ids.js';
export {
  alertTexts,
  alertTool,
  findHubTool,
  hubCall,
  hubToolDialect,
  hubTools,
  identifyTool,
} from './tools/hub-tools.js';
export { linkedPair } from './transport/in-memory-transport.js';
export { initializeParams, parseInitializeResult } from './messages/initialize.js';
export type { VisionService } from './messages/initialize.js';
export { encodeNotification, encodeRequest, int32Max, parseRpcMessage } from './json-rpc/json-rpc.js';
export type { RpcError } from './json-rpc/json-rpc.js';
export { canonicalJson } from './json-rpc/canonical-json.js';
export { clipText, isJsonObject, parseJsonText, quoteText } from './json-rpc/json-text.js';
export type { JsonObject } from './json-rpc/json-text.js';
export { parseMcpuInfo, strictestProfile } from './mcpu/device-profile.js';
export type { McpuProfile } from './mcpu/device-profile.js';
export { encodeMcpuRequest, mcpuRequestIdMax, readMcpuLine } from './mcpu/frame.js';
export { LineSplitter } from './mcpu/line-splitter.js';
export { findPinProblem } from './mcpu/pins.js';
export type { DevicePin } from './mcpu/pins.js';
export { freshSamples, sampleIntervalMsMax, sampleWindowMax } from './mcpu/sample-window.js';
export { parseMcpuTools } from './mcpu/tool-list.js';
export { parseMcpuResult } from './mcpu/tool-result.js';
export { sortServerMessage } from './messages/relayed-message.js';
export { alertMessage, goodbyeMessage } from './messages/server-messages.js';
export {
  hasMaskedSecret,
  isSecretMember,
  MASK,
  maskAll,
  maskArguments,
  maskSecrets,
  maskValue,
} from './tools/secret-arguments.js';
export { maskMessage } from './messages/mask-message.js';
export { compileArguments } from './tools/tool-arguments.js';
export type { CompiledArguments } from './tools/tool-arguments.js';
export { canonicalToolSet, diffToolSets } from './tools/tool-set.js';
export { clockSkewMsMax } from './clock-skew.js';
export { isTimeZone } from './time-zone.js';
export type { DeviceInfo, DeviceTool, DiscoveredTools, JsonSchema, ToolPage } from './tools/tool.js';
export { isSendableName, parseToolResult, toolsCallParams } from './messages/tools-call.js';
export { parseToolPage, toolsListParams } from './messages/tools-list.js';
export type { CloseReason, Transport } from './transport/transport.js';
