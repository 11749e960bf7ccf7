import { describe, expect, it } from 'vitest';
import { originOf } from './same-origin.js';

const host = 'hub.internal:8080';

describe('where a request comes from', () => {
  it.each([
    ['same', { origin: 'http://hub.internal:8080' }],
    ['same', { origin: 'https://hub.example' }],
    ['same', { 'sec-fetch-site': 'same-origin' }],
    ['unknown', {}],
    ['foreign', { origin: 'http://hub.internal' }],
    ['foreign', { origin: 'http://hub.internal:8081' }],
    ['foreign', { origin: 'http://hub.internal:8080.evil.example' }],
    ['foreign', { origin: 'http://hub.example' }],
    ['foreign', { origin: 'null' }],
    ['foreign', { origin: 'file://' }],
    ['foreign', { 'sec-fetch-site': 'cross-site' }],
    ['foreign', { 'sec-fetch-site': 'none' }],
    ['foreign', { 'sec-fetch-site': 'same-site', origin: 'https://hub.example' }],
  ])('is %s by %j', (expected, headers: Record<string, string>) => {
    expect(originOf({ host, ...headers }, 'https://hub.example/')).toBe(expected);
  });
});
