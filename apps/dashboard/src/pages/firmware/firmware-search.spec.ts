import { describe, expect, it } from 'vitest';
import { parseFirmwareSearch } from './firmware-search';

describe('the address of the page of firmware', () => {
  it('carries a period that the page has', () => {
    expect(parseFirmwareSearch({ period: '30d' })).toEqual({ period: '30d' });
    expect(parseFirmwareSearch({ period: '1h' })).toEqual({});
    expect(parseFirmwareSearch({ period: 'toString' })).toEqual({});
  });
});
