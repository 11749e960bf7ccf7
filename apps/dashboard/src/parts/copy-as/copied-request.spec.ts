import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type CopiedRequest, textOf } from './copied-request';

const origin = 'https://hub.example';
const call: CopiedRequest = {
  kind: 'call',
  deviceId: '02:00:00:00:00:01',
  tool: 'self.screen.say',
  arguments: { text: `it's "5" $HOME` },
};

/** The words that a shell passes to a command. */
function wordsOf(line: string | undefined): readonly string[] {
  const script = `flotilla() { printf '%s\\0' "$@"; }; curl() { printf '%s\\0' "$@"; }; ${line ?? ''}`;
  const printed = execFileSync('sh', ['-c', script], { encoding: 'utf8', env: { FLOTILLA_KEY: 'a-key' } });
  return printed.split('\0').slice(0, -1);
}

describe('a copied request', () => {
  it('is a curl command with the key from the environment and the exact arguments', () => {
    const [silent, url, , authorization, , type, , body] = wordsOf(textOf('curl', call, origin));
    expect([silent, url, authorization, type]).toEqual([
      '-s',
      'https://hub.example/graphql',
      'authorization: Bearer a-key',
      'content-type: application/json',
    ]);
    expect(JSON.parse(body ?? '')).toMatchObject({
      variables: { input: { deviceId: call.deviceId, tool: call.tool, arguments: call.arguments } },
    });
  });

  it('is a command line with the exact arguments', () => {
    expect(wordsOf(textOf('command', call, origin))).toEqual([
      '--url',
      origin,
      'call',
      call.deviceId,
      call.tool,
      JSON.stringify(call.arguments),
    ]);
  });

  it('is a command line of a job with its filter and its other rules', () => {
    const input = { tool: 't', arguments: {}, devices: { tags: ["o'clock"] }, maxInFlight: 5 };
    expect(wordsOf(textOf('command', { kind: 'job', input, idempotencyKey: 'k' }, origin))).toEqual([
      '--url',
      origin,
      'jobs',
      'create',
      't',
      '--filter',
      `{"tags":["o'clock"]}`,
      '--input',
      '{"maxInFlight":5}',
    ]);
    const image = { firmwareImageId: 'i', devices: { all: true } };
    expect(wordsOf(textOf('command', { kind: 'job', input: image, idempotencyKey: 'k' }, origin)).slice(2)).toEqual([
      'firmware',
      'roll-out',
      'i',
      '--all',
    ]);
  });

  it('is no command line if a name would be an option or cannot be typed', () => {
    expect(textOf('command', { ...call, tool: '--key' }, origin)).toBeUndefined();
    expect(textOf('command', { ...call, tool: 'a\u001b[2J' }, origin)).toBeUndefined();
  });

  it('keeps any arguments and filter through curl', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue(), { maxKeys: 4 }), (filter) => {
        const body = wordsOf(textOf('curl', { kind: 'devices', filter }, origin)).at(-1) ?? '';
        const sent = JSON.parse(body) as { variables: { filter: unknown } };
        expect(sent.variables.filter).toEqual(JSON.parse(JSON.stringify(filter)));
      }),
      { seed: 18, numRuns: 12 },
    );
  });

  it('is TypeScript that reads the key from the environment', () => {
    const text = textOf('typescript', call, origin) ?? '';
    expect(text).toContain('process.env.FLOTILLA_KEY');
    expect(text).toContain(`"text": "it's \\"5\\" $HOME"`);
  });
});
