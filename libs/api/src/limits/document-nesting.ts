/** Limits the nesting of brackets in a document before the recursive parser of graphql reads it. */
import { ApiError } from '../errors/api-error.js';

/** Throws COST_LIMIT. Brackets in strings and comments do not count. */
export function refuseDeepDocument(document: string, levelsMax: number): void {
  let depth = 0;
  for (let at = 0; at < document.length; at += 1) {
    switch (document[at]) {
      case '{':
      case '[':
      case '(':
        depth += 1;
        if (depth > levelsMax)
          throw new ApiError('COST_LIMIT', `The query nests brackets deeper than ${levelsMax} levels.`);
        break;
      case '}':
      case ']':
      case ')':
        depth -= 1;
        break;
      case '#':
        at = lineEnd(document, at);
        break;
      case '"':
        at = document.startsWith('"""', at) ? blockStringEnd(document, at) : stringEnd(document, at);
        break;
    }
  }
}

function lineEnd(document: string, start: number): number {
  let at = start;
  while (at < document.length && !isLineEnd(document[at])) at += 1;
  return at;
}

/** The index of the closing quote. A string that does not end on its line is a syntax error. */
function stringEnd(document: string, start: number): number {
  let at = start + 1;
  while (at < document.length && document[at] !== '"' && !isLineEnd(document[at])) at += document[at] === '\\' ? 2 : 1;
  return at;
}

/** Of the last of its closing quotes. The only escape in it is `\"""`. [GraphQL §2.9.4] */
function blockStringEnd(document: string, start: number): number {
  let at = document.indexOf('"""', start + 3);
  while (at !== -1 && document[at - 1] === '\\') at = document.indexOf('"""', at + 3);
  return at === -1 ? document.length : at + 2;
}

function isLineEnd(character: string | undefined): boolean {
  return character === '\n' || character === '\r';
}
