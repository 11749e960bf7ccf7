import { expect, it } from 'vitest';
import { olderNodeHint } from './node-version.js';

it('recommends the current release with long-term support, and only where an older one runs', () => {
  expect(olderNodeHint('20.19.0')).toMatch(/^Node 20\.19\.0 works, but .* Use Node 24 when you can\.$/);
  expect(olderNodeHint('22.21.1')).toContain('Node 22.21.1');
  expect(olderNodeHint('24.0.0')).toBeUndefined();
  expect(olderNodeHint('26.1.0')).toBeUndefined();
});
