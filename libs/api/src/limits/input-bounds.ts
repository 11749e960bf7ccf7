/**
 * Limits every input: variables, arguments of agents, and parameters of REST routes. PostgreSQL
 * must be able to store the text and devices to receive it. The depth is checked before recursive
 * code reads the value.
 */
import { ApiError } from '../errors/api-error.js';
import { jsonDepthMax } from '../scalars/json.scalar.js';

/**
 * Levels of arrays and objects: those of a JSON value, and eight for the input objects around it.
 */
const inputDepthMax = jsonDepthMax + 8;
/** Segments of a path and characters of each that an error shows. */
const pathSegmentsMax = 10;
const segmentLengthMax = 100;

interface InputProblem {
  /** From the innermost segment outwards. */
  readonly path: (string | number)[];
  readonly reason: string;
}

/** Throws BAD_USER_INPUT with the path of the first text or level that is out of bounds. */
export function refuseUnfitInput(input: unknown): void {
  const problem = findProblem(input, 0);
  if (problem !== undefined)
    throw new ApiError('BAD_USER_INPUT', `${sentenceStart(problem.path.reverse())} ${problem.reason}`);
}

/**
 * Why PostgreSQL and devices cannot take this text, as the end of a sentence; undefined if they
 * can.
 */
export function textProblem(text: string): string | undefined {
  const [character] = /\0|\p{Surrogate}/u.exec(text) ?? [];
  if (character === undefined) return undefined;
  if (character === '\0') return 'contains the character NUL (U+0000), which cannot be stored. Remove it.';
  const code = character.charCodeAt(0).toString(16).toUpperCase();
  return `contains the lone surrogate U+${code}, which is half of a character. Remove it, or send both halves.`;
}

/** Recursive, because its depth is bounded. */
function findProblem(value: unknown, depth: number): InputProblem | undefined {
  if (typeof value === 'string') return problemOf(textProblem(value));
  if (typeof value !== 'object' || value === null) return undefined;
  if (depth > inputDepthMax)
    return problemOf(
      `nests too deep: an input has at most ${inputDepthMax} levels, ` +
        `and JSON in it nests at most ${jsonDepthMax} levels.`,
    );
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) {
      const problem = findProblem(item, depth + 1);
      if (problem !== undefined) return within(index, problem);
    }
    return undefined;
  }
  for (const [name, member] of Object.entries(value)) {
    const problem = problemOf(textProblem(name)) ?? findProblem(member, depth + 1);
    if (problem !== undefined) return within(name, problem);
  }
  return undefined;
}

function problemOf(reason: string | undefined): InputProblem | undefined {
  return reason === undefined ? undefined : { path: [], reason };
}

function within(segment: string | number, problem: InputProblem): InputProblem {
  problem.path.push(segment);
  return problem;
}

/**
 * The path as in userErrors: `input.arguments.text`. It is escaped, because a name can be the
 * problem.
 */
function sentenceStart(path: readonly (string | number)[]): string {
  const shown = path.slice(0, pathSegmentsMax).map((segment) => String(segment).slice(0, segmentLengthMax));
  const text = JSON.stringify(shown.join('.') + (path.length > pathSegmentsMax ? '…' : ''));
  return path.length === 0 ? 'The input' : `The input at ${text}`;
}
