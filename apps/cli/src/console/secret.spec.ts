import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { exitCodes } from '../exit-codes.js';
import { answerTo } from './secret.js';

/** The answer of a person who types these keys. */
function typed(keys: string): Promise<string> {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const answer = answerTo('Continue? [y/N] ', output, input);
  input.write(keys);
  return answer;
}

describe('a question on the terminal', () => {
  it('returns the line', async () => expect(await typed(' yes \r')).toBe('yes'));

  it('returns an empty text after Ctrl-D', async () => expect(await typed('\u0004')).toBe(''));

  it('ends with the code of Ctrl-C after Ctrl-C', async () => {
    await expect(typed('\u0003')).rejects.toMatchObject({ name: 'UsageError', exitCode: exitCodes.interrupted });
  });
});
