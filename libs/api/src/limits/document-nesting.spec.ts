import { getIntrospectionQuery } from 'graphql';
import { describe, expect, it } from 'vitest';
import { defaultApiLimits } from './api-limits.js';
import { refuseDeepDocument } from './document-nesting.js';

const refuse =
  (document: string, levelsMax = 3) =>
  () =>
    refuseDeepDocument(document, levelsMax);

describe('the brackets of a document', () => {
  it.each(['{ a { b(c: 1) } }', '{a}'.repeat(100), '{ a(b: []) }', ''])('may nest up to the limit: %s', (document) => {
    expect(refuse(document)).not.toThrow();
  });

  it.each(['{{{{', '{ a(b: [{}])(b: [{c: []}]) }', 'query ($a: [[[Int]]])', '{"}" {{{'])(
    'may nest no deeper: %s',
    (document) => {
      expect(refuse(document)).toThrow(
        expect.objectContaining({ code: 'COST_LIMIT', message: expect.stringContaining('3 levels') }),
      );
    },
  );

  it.each([
    ['a string', '{ a(b: "{{{{ \\" ((((") }'],
    ['a block string', '{ a(b: """{{{{ \\""" " [[[[ """) }'],
    ['a comment', '{ a # {{{{ " \n }'],
    ['an empty string', '{ a(b: "", c: "", d: "") }'],
  ])('do not count in %s', (_where, document) => {
    expect(refuse(document)).not.toThrow();
  });

  it.each([
    ['a string', '{ a(b: "x") {{{'],
    ['a string with an escaped backslash', '{ a(b: "\\\\") {{{'],
    ['a block string', '{ a(b: """x""") {{{'],
    ['an empty block string', '{ a(b: """""") {{{'],
    ['a comment', '{ # x\r{{{'],
    ['a string that its line does not end', '{ "x\n{{{'],
  ])('count after %s', (_what, document) => {
    expect(refuse(document)).toThrow('3 levels');
  });

  it.each(['"""', '\\"""', '#'])('end with the document, however long it is: %s', (piece) => {
    expect(refuse(piece.repeat(200_000))).not.toThrow();
  });

  it('of introspection are within the limit of the API', () => {
    expect(refuse(getIntrospectionQuery(), defaultApiLimits.queryBracketsMax)).not.toThrow();
  });
});
