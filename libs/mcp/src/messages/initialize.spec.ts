import { expect, it } from 'vitest';
import { initializeParams, parseInitializeResult } from './initialize.js';

it('tells the device where its camera may ask, if anywhere', () => {
  expect(initializeParams({ url: 'https://hub/vision', token: 't' })).toMatchObject({
    capabilities: { vision: { url: 'https://hub/vision', token: 't' } },
  });
  expect(initializeParams(undefined)).toMatchObject({ capabilities: {} });
});

it('reads board and firmware version', () => {
  expect(parseInitializeResult({ serverInfo: { name: 'lichuang-dev', version: '2.4.2' } })).toEqual({
    model: 'lichuang-dev',
    firmwareVersion: '2.4.2',
  });
});

it.each([undefined, null, 'x', {}, { serverInfo: [] }, { serverInfo: { name: 5, version: '' } }])(
  'takes a device that answers %j',
  (result) => {
    expect(parseInitializeResult(result)).toEqual({ model: undefined, firmwareVersion: undefined });
  },
);
