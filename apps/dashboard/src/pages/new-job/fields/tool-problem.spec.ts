import { describe, expect, it } from 'vitest';
import { toolProblem } from './tool-problem';

const read = { names: ['a', 'b'], isLoading: false, hasFailed: false };
const draft = (tool: string | undefined, isSound = false) => ({ tool, isSound });

describe('the problem of a tool', () => {
  it.each([
    ['none selected', draft(undefined), read, 'tool'],
    ['one of the list', draft('a'), read, undefined],
    ['one that is not in the list', draft('gone'), read, 'knownTool'],
    ['one whose arguments were filled in before', draft('gone', true), read, undefined],
    ['one whose list is being read', draft('a'), { ...read, names: [], isLoading: true }, 'toolList'],
    [
      'one whose list could not be read, as a message says',
      draft('a'),
      { ...read, names: [], hasFailed: true },
      undefined,
    ],
  ])('is, for %s, what the form says', (_, chosen, list, problem) => {
    expect(toolProblem(chosen, list)).toBe(problem);
  });
});
