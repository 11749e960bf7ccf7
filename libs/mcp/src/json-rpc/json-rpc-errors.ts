/** JSON-RPC's numeric codes. They are read and written here only; beyond this lib failures have names. [xiaozhi §4.2] */

export const rpcErrorCodes = {
  methodNotFound: -32601,
  invalidParams: -32602,
  /** The first of the range that servers may use as they like: a failure of a tool. */
  serverError: -32000,
} as const;

const invalidParamsMessage = /^(?:Unknown tool|Missing|Invalid|Value )/;

/** The code that an error without one means, told by how its message begins. */
export function codeFromMessage(message: string): number {
  if (message.startsWith('Method not implemented')) return rpcErrorCodes.methodNotFound;
  return invalidParamsMessage.test(message) ? rpcErrorCodes.invalidParams : rpcErrorCodes.serverError;
}
