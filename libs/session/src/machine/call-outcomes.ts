/** The outcomes that a session can give a call, with the certainty about its bytes. */
import { quoteText } from '@flotilla/mcp';
import type { CallOutcome, ToolResult, UnknownCode } from '@flotilla/mcp';
import type { DeviceError, Dialect, DialectMessage } from '../dialect.js';
import { quotedTextMax } from '../session-limits.js';

/** An answer of the device to a request. */
export type Answer = Extract<DialectMessage, { readonly kind: 'result' | 'error' | 'garbled' }>;

/** For calls whose bytes were handed to the socket: the tool may have run. */
export function unknown(code: UnknownCode, message: string): CallOutcome {
  return { kind: 'UNKNOWN', certainty: 'YES', error: { code, message } };
}

export function outcomeOf(answer: Answer, dialect: Dialect, tool: string): CallOutcome {
  switch (answer.kind) {
    case 'error':
      return deviceError(answer.error);
    case 'garbled':
      return malformed(`${answer.problem}: ${answer.text}`);
    case 'result': {
      const result = dialect.readToolResult(answer.result, tool);
      if (result === undefined) return malformed('the result is empty');
      return result.isError ? toolError(result) : { kind: 'SUCCEEDED', certainty: 'YES', result };
    }
  }
}

function deviceError({ isToolGone, message, rpcCode }: DeviceError): CallOutcome {
  const code = isToolGone ? 'TOOL_GONE' : 'DEVICE_ERROR';
  const text = quoteText(message === '' ? 'The device gave no message.' : message, quotedTextMax);
  return {
    kind: 'FAILED',
    certainty: 'YES',
    error: { code, message: text, ...(rpcCode === undefined ? {} : { rpcCode }) },
  };
}

function toolError(result: ToolResult): CallOutcome {
  const text = result.content.find((item) => item.type === 'text')?.['text'];
  const message = quoteText(typeof text === 'string' ? text : 'The tool reported an error.', quotedTextMax);
  return { kind: 'FAILED', certainty: 'YES', result, error: { code: 'DEVICE_ERROR', message } };
}

function malformed(what: string): CallOutcome {
  return {
    kind: 'FAILED',
    certainty: 'YES',
    error: { code: 'MALFORMED_REPLY', message: quoteText(what, quotedTextMax) },
  };
}
