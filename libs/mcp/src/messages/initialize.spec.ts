import { expect, it } from 'vitest';
import { initializeParams, parseInitializeResult } from './initialize.js';

it('sends the device the address of its vision service, if there is one', () => {
  expect(initializeParams({ url: 'https://hub/vision', token: 't' })).toMatchObject({
    capabilities: { vision: { url: 'https://hub/vision', token: 't' } },
  });
  expect(initializeParams(undefined)).toMatchObject({ capabilities: {} });
});

it('reads model and firmware version', () => {
  expect(parseInitializeResult({ serverInfo: { name: 'lichuang-dev', version: '2.4.2' } })).toEqual({
    model: 'lichuang-dev',
    firmwareVersion: '2.4.2',
  });
});

it('leaves no half of a character at the end of a long text, which PostgreSQL would replace', () => {
  const version = `${'1'.repeat(127)}😀`;
  expect(parseInitializeResult({ serverInfo: { version } }).firmwareVersion).toBe(`${'1'.repeat(127)}\uFFFD`);
});

it.each([undefined, null, 'x', {}, { serverInfo: [] }, { serverInfo: { name: 5, version: '' } }])(
  'accepts a device that answers %j',
  (result) => {
    expect(parseInitializeResult(result)).toEqual({ model: undefined, firmwareVersion: undefined });
  },
);
