import { afterEach, expect, it, vi } from 'vitest';
import { printList } from './lists.js';

afterEach(() => vi.restoreAllMocks());

it('says after the rows that there are more', async () => {
  const written: string[] = [];
  for (const stream of [process.stdout, process.stderr])
    vi.spyOn(stream, 'write').mockImplementation((text: unknown, ...rest: unknown[]) => {
      written.push(String(text));
      const done = rest.at(-1);
      if (typeof done === 'function') done();
      return true;
    });
  async function* read() {
    yield* [{ id: 'a' }, { id: 'b' }, { id: 'c' }];
  }
  await printList(read, ['id'], { limit: 2, every: 2 });
  expect(written).toEqual(['ID\na\nb\n', 'More than 2 match. List all with --limit 0.\n']);
});
