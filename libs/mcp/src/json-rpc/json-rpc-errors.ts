/** The numeric codes of JSON-RPC. Outside this lib, failures have names. [xiaozhi §4.2] */

const rpcErrorCodes = {
  methodNotFound: -32601,
  invalidParams: -32602,
  /** The first code of the range that is free for servers: a tool failed. */
  serverError: -32000,
} as const;

const invalidParamsMessage = /^(?:Unknown tool|Missing|Invalid|Value )/;

/** Derives the code of an error without one from the beginning of its message. */
export function codeFromMessage(message: string): number {
  if (message.startsWith('Method not implemented')) return rpcErrorCodes.methodNotFound;
  return invalidParamsMessage.test(message) ? rpcErrorCodes.invalidParams : rpcErrorCodes.serverError;
}
