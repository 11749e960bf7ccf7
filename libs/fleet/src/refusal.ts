/** Expected refusals: data for the caller, never thrown. */
import type { NotSentCode } from '@flotilla/mcp';
import type { z } from 'zod';

export type RefusalCode =
  NotSentCode | 'NOT_FOUND' | 'INVALID' | 'CONFLICT' | 'IDEMPOTENCY_KEY_REUSED' | 'LIMIT_EXCEEDED';

/** `path` names the input that it is about, from the operation's argument on. */
export interface Refusal {
  readonly code: RefusalCode;
  readonly message: string;
  readonly path: readonly string[];
}

export function refuse(code: RefusalCode, path: readonly string[], message: string): Refusal {
  return { code, message, path };
}

export function noSuchDevice(deviceId: string, path: readonly string[]): Refusal {
  return refuse('NOT_FOUND', path, `There is no device "${deviceId}".`);
}

/** For operations without `input`: what such a path is about belongs to the thing at `path`. */
export function withoutInput(refusal: Refusal, path: readonly string[]): Refusal {
  return refusal.path[0] === 'input' ? { ...refusal, path } : refusal;
}

/** The thing has another revision than the caller has read. */
export function changedMeanwhile(thing: string): Refusal {
  const message = `The ${thing} was changed meanwhile. Read it again, and apply your change to it.`;
  return refuse('CONFLICT', ['expectedRevision'], message);
}

/** Of the first rule that a schema found broken; `path` leads to what it looked at. */
export function refuseIssue(issue: z.core.$ZodIssue | undefined, path: readonly string[]): Refusal {
  const code = issue?.code === 'too_big' ? 'LIMIT_EXCEEDED' : 'INVALID';
  return refuse(code, [...path, ...(issue?.path ?? []).map(String)], issue?.message ?? 'The request is not valid.');
}

/** Adds the name of the member to the messages of zod. Messages of the schemas take precedence. */
export function sayIssue(issue: z.core.$ZodRawIssue): string | undefined {
  const name = `"${String(issue.path?.findLast((part) => typeof part === 'string') ?? 'input')}"`;
  if (issue.code === 'unrecognized_keys') return `"${issue.keys.join('", "')}" is not a member of ${name}.`;
  const isTooSmall = issue.code === 'too_small';
  if (!isTooSmall && issue.code !== 'too_big') return undefined;
  const bound = String(isTooSmall ? issue.minimum : issue.maximum);
  const isWithin = issue.inclusive !== false;
  const limit = isTooSmall ? (isWithin ? 'at least' : 'more than') : isWithin ? 'at most' : 'less than';
  if (issue.origin === 'string') return `${name} has ${limit} ${bound} characters.`;
  if (issue.origin === 'array') return `${name} has ${limit} ${bound} entries.`;
  return `${name} is ${limit} ${bound}.`;
}
