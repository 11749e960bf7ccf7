import { Readable } from 'node:stream';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { readSecret } from './console/secret.js';
import { jsonObject, readStandardInput } from './json-input.js';

afterEach(() => vi.restoreAllMocks());

function given(text: string): void {
  const stdin = Readable.from([Buffer.from(text)]) as unknown as typeof process.stdin;
  vi.spyOn(process, 'stdin', 'get').mockReturnValue(stdin);
}

describe('standard input', () => {
  it('of a file that an editor of Windows wrote has the same JSON and the same secret', async () => {
    given('\ufeff{"volume":30}\r\n');
    expect(jsonObject(await readStandardInput(100), 'Standard input')).toEqual({ volume: 30 });
    given('\ufeffcorrect horse battery\r\n');
    expect(await readSecret('')).toBe('correct horse battery');
  });

  it('is limited', async () => {
    given('12345');
    await expect(readStandardInput(4)).rejects.toThrow('Standard input has more than 4 bytes.');
  });
});
