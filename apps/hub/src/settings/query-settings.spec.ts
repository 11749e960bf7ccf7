import { describe, expect, it } from 'vitest';
import { parseListedQueries } from './query-settings.js';

describe('the file of listed queries', () => {
  it('is an array of documents, or an object that has them under their ids', () => {
    expect(parseListedQueries('f', '["{ a }", "{ b }"]')).toEqual(['{ a }', '{ b }']);
    expect(parseListedQueries('f', '{"1f": "{ a }"}')).toEqual(['{ a }']);
  });

  it.each(['', '{ devices }', '3', '[1]', '{"a": {"query": "{ a }"}}'])('is not %s', (text) => {
    expect(() => parseListedQueries('f', text)).toThrow(/^FLOTILLA_QUERIES_FILE \(f\) /);
  });
});
