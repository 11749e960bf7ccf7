import { parse } from 'graphql';
import { describe, expect, it } from 'vitest';
import { isRepeatable } from './is-repeatable.js';

const callTool = 'mutation ($input: CallToolInput!) { callTool(input: $input) { call { id } } }';

describe('an operation that may be sent again', () => {
  it.each([
    ['{ viewer { name } }', {}],
    ['query ($a: ID!) { job(id: $a) { id } }', { a: 'x' }],
    [callTool, { input: { deviceId: 'a', idempotencyKey: 'k' } }],
    ['mutation { callTool(input: { deviceId: "a", idempotencyKey: "k" }) { call { id } } }', {}],
    ['mutation ($k: String!) { callTool(input: { deviceId: "a", idempotencyKey: $k }) { call { id } } }', { k: 'k' }],
    ['mutation ($k: String!) { createJob(input: {}, idempotencyKey: $k) { job { id } } }', { k: 'k' }],
  ])('%s', (text, variables) => expect(isRepeatable(parse(text), variables)).toBe(true));
});

describe('an operation that is sent once', () => {
  it.each([
    [callTool, { input: { deviceId: 'a' } }],
    [callTool, { input: { deviceId: 'a', idempotencyKey: null } }],
    [callTool, {}],
    ['mutation { removeDevice(deviceId: "a") { deviceId } }', {}],
    [
      'mutation ($k: String!) { createJob(input: {}, idempotencyKey: $k) { job { id } } removeDevice(deviceId: ' +
        '"a") { deviceId } }',
      { k: 'k' },
    ],
    ['mutation { updateDevice(input: { deviceId: "idempotencyKey" }) { device { id } } }', {}],
    ['mutation { ...Rest } fragment Rest on Mutation { removeDevice(deviceId: "a") { deviceId } }', {}],
    ['subscription { eventAdded { cursor } }', {}],
  ])('%s', (text, variables) => expect(isRepeatable(parse(text), variables)).toBe(false));
});
