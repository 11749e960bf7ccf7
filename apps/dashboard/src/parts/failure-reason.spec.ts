import { readFileSync } from 'node:fs';
import { GraphQLError } from 'graphql';
import { describe, expect, it } from 'vitest';
import en from '../strings/en.json';
import zh from '../strings/zh.json';
import { beforeHubWords, detailsOf, kindOf, reasonOf, translatedCodeOf } from './failure-reason';

function refused(code: string, message: string) {
  return { graphQLErrors: [new GraphQLError(message, { extensions: { code } })], networkError: undefined };
}

describe('the reason why a page cannot be shown', () => {
  it('is the address if the hub does not accept a value of it, without the words of GraphQL', () => {
    const error = refused('BAD_USER_INPUT', 'Variable "$filter" got invalid value "x" at "filter.lastSeenBefore"');
    expect(reasonOf(error)).toBe('badAddress');
    expect(detailsOf(error)).toEqual([]);
  });

  it('names the missing scope, and is not followed by what it says already', () => {
    expect(detailsOf(refused('FORBIDDEN', 'It needs the scope AUDIT_READ.'))).toEqual([
      'It needs the scope AUDIT_READ.',
    ]);
    expect(detailsOf(refused('UNAVAILABLE', 'The hub cannot reach its database.'))).toEqual([]);
    expect(reasonOf({ graphQLErrors: [], networkError: new Error('fetch failed') })).toBe('unreachable');
    expect(detailsOf(refused('COST_LIMIT', 'Too much at once.'))).toEqual(['Too much at once.']);
  });
});

describe('the sentence of a rejection', () => {
  it('is that of the catalogues if the code says everything, else that of the hub, which names the value', () => {
    expect(translatedCodeOf('DEVICE_OFFLINE')).toBe('DEVICE_OFFLINE');
    expect(translatedCodeOf('INVALID')).toBeUndefined();
    expect(translatedCodeOf(undefined)).toBeUndefined();
  });
});

describe('the kind of a rejection', () => {
  it('is known for each code with which the hub refuses a change', () => {
    const schema = readFileSync(new URL('../../../../libs/api/schema.graphql', import.meta.url), 'utf8');
    const codes = /enum UserErrorCode {([^}]*)}/.exec(schema)?.[1]?.match(/^ {2}[A-Z_]+$/gm) ?? [];
    expect(codes.length).toBeGreaterThan(10);
    const unknown = codes.map((code) => code.trim()).filter((code) => !(translatedCodeOf(code) ?? kindOf(code)));
    expect(unknown).toEqual([]);
  });
});

describe('the words before a sentence of the hub', () => {
  const source = readFileSync(new URL('../../../../libs/mcp/src/error-codes.ts', import.meta.url), 'utf8');
  const codesIn = (union: string) => {
    const [text = ''] = new RegExp(`type ${union} =[^;]*;`).exec(source.replaceAll(/\/\/.*$/gm, '')) ?? [];
    return [...text.matchAll(/'(\w+)'/g)].map(([, code]) => code);
  };
  const texts = Object.entries({ en, zh }).flatMap(([language, { failure }]) =>
    (['kinds', 'codes'] as const).flatMap((part) =>
      Object.entries(failure[part]).map(
        ([code, text]) => [`${language} failure.${part}.${code}`, text] as [string, string],
      ),
    ),
  );
  const said = new Map(texts);

  it('are known for each code with which a call can end', () => {
    const unions = ['NotSentCode', 'ImageMisfitCode', 'UnknownCode', 'DeviceFailureCode', 'VerificationCode'];
    const codes = unions.flatMap(codesIn);
    expect(codes).toEqual(expect.arrayContaining(['WRONG_CHIP', 'TOOL_GONE', 'LOST_AFTER_UPDATE']));
    expect(codes.filter((code) => !beforeHubWords(code))).toEqual([]);
  });

  it('do not say that nothing was sent if the call may have run', () => {
    const codes = codesIn('UnknownCode');
    expect(codes).toContain('LARGE_MESSAGES_LOST');
    for (const code of codes)
      for (const language of ['en', 'zh'])
        expect(said.get(`${language} ${beforeHubWords(code) ?? ''}`), code).not.toMatch(/othing was sent|没有发送/);
  });
});
