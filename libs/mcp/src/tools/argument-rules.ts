/**
 * Says which rule an argument breaks, in the words of the hub. The messages of the validator are
 * for programmers and change with its version.
 */
import type { z } from 'zod';

/** Names or values in one message: enough for the tools of all known boards. */
const listedMax = 20;
/** UTF-16 code units of a listed name or value. */
const listedLengthMax = 64;

const types: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  int: 'an integer',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  null: 'null',
};

/** Continues a sentence that begins with the argument: "must be at most 100". */
export function brokenRule(issue: z.core.$ZodIssue | undefined): string {
  switch (issue?.code) {
    case 'invalid_type':
      return `must be ${types[issue.expected] ?? issue.expected}`;
    case 'too_big':
      return limit(issue.origin, issue.inclusive === false ? 'less than' : 'at most', Number(issue.maximum));
    case 'too_small':
      return limit(issue.origin, issue.inclusive === false ? 'more than' : 'at least', Number(issue.minimum));
    case 'not_multiple_of':
      return `must be a multiple of ${String(issue.divisor)}`;
    case 'invalid_value':
      return issue.values.length === 1
        ? `must be ${listed(issue.values)}`
        : `must be one of these values: ${listed(issue.values)}`;
    default:
      return 'has none of the forms that the tool accepts';
  }
}

/** The valid names of arguments as a sentence. */
export function validNames(names: readonly string[]): string {
  return names.length === 0 ? 'The tool takes no arguments.' : `Valid arguments: ${listed(names)}.`;
}

function limit(origin: string, comparison: string, bound: number): string {
  if (origin === 'string') return `must have ${comparison} ${counted(bound, 'character')}`;
  if (origin === 'array') return `must have ${comparison} ${counted(bound, 'entry', 'entries')}`;
  return `must be ${comparison} ${String(bound)}`;
}

function counted(count: number, one: string, many = `${one}s`): string {
  return `${String(count)} ${count === 1 ? one : many}`;
}

function listed(values: readonly unknown[]): string {
  const shown = values.slice(0, listedMax).map((value) => JSON.stringify(shortened(value)));
  const others = values.length - shown.length;
  return others === 0 ? shown.join(', ') : `${shown.join(', ')} and ${counted(others, 'other')}`;
}

function shortened(value: unknown): unknown {
  return typeof value === 'string' && value.length > listedLengthMax ? `${value.slice(0, listedLengthMax)}…` : value;
}
