/** Reads whether a board is bound at its former server from the answer that it gets there. */
import { isJsonObject } from '@flotilla/mcp';
import type { FormerAnswer } from './former-server.js';

/**
 * True: the answer has settings and asks for no activation. False: it asks for one. Undefined: it
 * is an error or another text, and the board starts with the settings that it has stored.
 */
export function isBoundThere({ status, body }: Pick<FormerAnswer, 'status' | 'body'>): boolean | undefined {
  const answer = status === 200 ? parsed(body) : undefined;
  if (!isJsonObject(answer)) return undefined;
  const { activation } = answer;
  if (isJsonObject(activation) && (isText(activation['code']) || isText(activation['challenge']))) return false;
  if (['activation', 'error', 'code'].some((name) => answer[name] !== undefined)) return undefined;
  const hasSettings = isJsonObject(answer['websocket']) || isJsonObject(answer['mqtt']);
  return isJsonObject(answer['server_time']) && hasSettings ? true : undefined;
}

function isText(value: unknown): boolean {
  return typeof value === 'string' && value !== '';
}

function parsed(body: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(body).toString('utf8'));
  } catch {
    return undefined;
  }
}
