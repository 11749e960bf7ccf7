import { readFileSync } from 'node:fs';
import { buildSchema, parse } from 'graphql';
import { describe, expect, it } from 'vitest';
import { isCompilable } from './compilable.js';

const schema = buildSchema(readFileSync(new URL('../../schema.graphql', import.meta.url), 'utf8'));

describe('isCompilable', () => {
  it.each([
    '{ devices(filter: {not: {any: [{all: true}]}}) { nodes { id } } }',
    'query ($first: Int, $at: DateTime) { devices(first: $first, filter: {lastSeenBefore: $at}) { nodes { id } } }',
    'query ($filter: EventFilter) { events(filter: $filter) { nodes { id } } }',
    'mutation ($input: CallToolInput!) { callTool(input: $input) { call { id } } }',
  ])('is true of %s', (query) => {
    expect(isCompilable(schema, parse(query))).toBe(true);
  });

  it.each([
    'query ($filter: DeviceFilter) { devices(filter: $filter) { nodes { id } } }',
    'query ($any: [DeviceFilter!]!) { devices(filter: {any: $any}) { nodes { id } } }',
    'query ($filter: ToolFilter) { tools(filter: $filter) { nodes { name } } }',
    'mutation ($input: CreateJobInput!) { createJob(input: $input, idempotencyKey: "k") { job { id } } }',
    'query A { viewer { name } } query B ($filter: DeviceFilter) { devices(filter: $filter) { nodes { id } } }',
  ])('is false of a variable whose type contains itself: %s', (query) => {
    expect(isCompilable(schema, parse(query))).toBe(false);
  });

  it('is false of several operations, of which a request names one', () => {
    expect(isCompilable(schema, parse('query A { viewer { name } } query B { viewer { scopes } }'))).toBe(false);
  });
});
