import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { PersistedQueries } from './persisted-queries.js';

const limits = { persistedQueriesMax: 2, persistedQueryLengthMax: 40 };
const key = { kind: 'KEY' } as const;
const hashOf = (query: string) => createHash('sha256').update(query).digest('hex');
const named = (query: string) => ({ persistedQuery: { version: 1, sha256Hash: hashOf(query) } });
const code = (expected: string) => expect.objectContaining({ code: expected });

describe('a document by its hash', () => {
  it('is unknown until a caller has sent it with its hash', () => {
    const book = new PersistedQueries(limits);
    const extensions = named('{ a }');
    expect(() => book.documentOf({ extensions }, key)).toThrow(code('PERSISTED_QUERY_NOT_FOUND'));
    expect(book.documentOf({ query: '{ a }', extensions }, key)).toBe('{ a }');
    expect(book.documentOf({ extensions }, key)).toBe('{ a }');
  });

  it('is not kept under the hash of another', () => {
    const book = new PersistedQueries(limits);
    expect(() => book.documentOf({ query: '{ b }', extensions: named('{ a }') }, key)).toThrow(code('BAD_USER_INPUT'));
    expect(() => book.documentOf({ extensions: named('{ a }') }, key)).toThrow(code('PERSISTED_QUERY_NOT_FOUND'));
  });

  it('is forgotten when others were used later, or is too long', () => {
    const book = new PersistedQueries(limits);
    const send = (query: string) => book.documentOf({ query, extensions: named(query) }, key);
    send('{ a }');
    send('{ b }');
    book.documentOf({ extensions: named('{ a }') }, key);
    send('{ c }');
    expect(book.documentOf({ extensions: named('{ a }') }, key)).toBe('{ a }');
    expect(() => book.documentOf({ extensions: named('{ b }') }, key)).toThrow(code('PERSISTED_QUERY_NOT_FOUND'));
    const long = `{ a${' '.repeat(40)}}`;
    expect(send(long)).toBe(long);
    expect(() => book.documentOf({ extensions: named(long) }, key)).toThrow(code('PERSISTED_QUERY_NOT_FOUND'));
  });

  it.each([
    { persistedQuery: {} },
    { persistedQuery: 'x' },
    { persistedQuery: { version: 2, sha256Hash: hashOf('{ a }') } },
  ])('is named by version 1 and 64 digits, not by %j', (extensions) => {
    expect(() => new PersistedQueries(limits).documentOf({ extensions }, key)).toThrow(code('BAD_USER_INPUT'));
  });
});

describe('a hub with a list of documents', () => {
  const book = new PersistedQueries(limits, ['{ a }']);

  it('runs listed documents, sent in full or by hash', () => {
    expect(book.documentOf({ query: '{ a }' }, key)).toBe('{ a }');
    expect(book.documentOf({ extensions: named('{ a }') }, key)).toBe('{ a }');
  });

  it('runs and stores no other documents for a key', () => {
    for (const request of [
      { query: '{ b }' },
      { query: '{ b }', extensions: named('{ b }') },
      { extensions: named('{ b }') },
    ])
      expect(() => book.documentOf(request, key)).toThrow(code('QUERY_NOT_LISTED'));
    expect(() => book.documentOf({ query: '{ b }', extensions: named('{ a }') }, key)).toThrow(code('BAD_USER_INPUT'));
  });

  it('does not limit people, who use the console', () => {
    expect(book.documentOf({ query: '{ b }' }, { kind: 'USER' })).toBe('{ b }');
  });
});
