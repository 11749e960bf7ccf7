import { readFileSync } from 'node:fs';
import { buildSchema, getIntrospectionQuery, parse } from 'graphql';
import { describe, expect, it } from 'vitest';
import { defaultApiLimits } from './api-limits.js';
import { costOf, refuseCostly } from './operation-cost.js';

const schema = buildSchema(readFileSync(new URL('../../schema.graphql', import.meta.url), 'utf8'));

function cost(query: string, variables: Record<string, unknown> = {}): number {
  return costOf({ schema, document: parse(query), variables, operationName: undefined });
}

describe('the cost of an operation', () => {
  it('grows with the rows that are asked for', () => {
    const query = 'query ($first: Int) { devices(first: $first) { nodes { id tools { name } } } }';
    expect(cost(query, { first: 1 })).toBe(12);
    expect(cost(query, { first: 100 })).toBe(1_200);
  });

  it('counts the default where `first` is not given', () => {
    expect(cost('{ devices { nodes { id } } }')).toBe(cost('{ devices(first: 50) { nodes { id } } }'));
  });

  it('counts the default where `first` is null', () => {
    const nested = (first: string) =>
      `query ($none: Int) { devices(${first}) { nodes { calls(${first}) { nodes { id } } } } }`;
    expect(cost(nested('after: null'))).toBeGreaterThan(2_500);
    expect(cost(nested('first: null'))).toBe(cost(nested('after: null')));
    expect(cost(nested('first: $none'), { none: null })).toBe(cost(nested('after: null')));
  });

  it('adds for lists that need a statement for each device', () => {
    expect(cost('{ devices(first: 10) { nodes { calls(first: 1) { nodes { id } } } } }')).toBeGreaterThan(10 * 20);
  });

  it.each([
    ['devices', 'alerts'],
    ['deviceGroups', 'devices'],
    ['recurringJobs', 'jobs'],
    ['desiredStates', 'targets'],
  ])('of %s with their %s bounds the statements of one operation', (parents, children) => {
    const often = (count: number) =>
      Array.from({ length: count }, (_, index) => `a${index}: ${children}(first: 1) { pageInfo { endCursor } }`);
    const of = (fields: readonly string[]) => cost(`{ ${parents}(first: 200) { nodes { ${fields.join(' ')} } } }`);
    expect(of(often(1))).toBeLessThan(defaultApiLimits.queryCostMax);
    expect(of(often(7))).toBeGreaterThan(defaultApiLimits.queryCostMax);
  });

  it.each([
    '{ devices(first: 200) { nodes { id alerts(first: 20) { nodes { id state } } } } }',
    '{ deviceGroups(first: 200) { nodes { id devices(first: 20) { nodes { id } } } } }',
    '{ recurringJobs(first: 200) { nodes { lastJob { id progress { total } } jobs(first: 10) { nodes { id } } } } }',
    '{ desiredStates(first: 200) { nodes { rollout { id } targets(first: 10) { nodes { device { id } } } } } }',
    '{ devices(first: 200) { nodes { desiredStates { desiredState { id rollout { id } } } } } }',
  ])('allows %s', (query) => {
    expect(cost(query)).toBeLessThan(defaultApiLimits.queryCostMax);
  });

  it('cannot be made small by a negative `first`', () => {
    expect(cost('{ devices(first: -1000000) { nodes { id tools { name } } } }')).toBeGreaterThan(0);
  });

  it('is higher for fields that read more than they show', () => {
    expect(cost('{ devices(first: 1) { totalCount } }')).toBeGreaterThan(200);
    expect(cost('{ devices(first: 1) { ... on DeviceConnection { totalCount } } }')).toBeGreaterThan(200);
    expect(cost('{ jobs(first: 1) { totalCount } }')).toBeGreaterThan(200);
    expect(cost('{ tools(first: 1) { nodes { name } } }')).toBeGreaterThan(200);
  });

  it.each([
    ['fleetMeasurements(path: "p", since: "2026-01-01T00:00:00Z", points: 400) { path }', 9],
    ['fleetMeasurementPaths', 49],
    ['firmwareHealth(since: "2026-01-01T00:00:00Z") { version }', 47],
    ['previewDesiredState(input: {name: "n", devices: {}, tool: "t", arguments: {}}) { targetCount }', 49],
    ['previewAlertRule(input: {name: "n", kind: DEVICE_OFFLINE, channelIds: []}) { firedCount }', 49],
  ])('bounds how often one operation goes over the fleet for %s', (field, most) => {
    const often = (times: number) => Array.from({ length: times }, (_, index) => `a${index}: ${field}`).join(' ');
    expect(cost(`{ ${often(most)} }`)).toBeLessThan(defaultApiLimits.queryCostMax);
    expect(cost(`{ ${often(most + 1)} }`)).toBeGreaterThanOrEqual(defaultApiLimits.queryCostMax);
  });

  it('adds for the measurements of each device', () => {
    const measured = 'measurements(paths: ["p"], since: "2026-01-01T00:00:00Z") { path }';
    expect(cost(`{ devices(first: 200) { nodes { ${measured} } } }`)).toBeGreaterThan(200 * 20);
    const restarts = 'unexpectedRestarts(since: "2026-01-01T00:00:00Z")';
    expect(cost(`{ devices(first: 200) { nodes { ${restarts} } } }`)).toBeGreaterThan(200 * 20);
  });

  it('counts the measurements of each path, and again if a variable has the paths', () => {
    const document = parse(
      'query ($paths: [String!]!) { devices(first: 200) { nodes { ' +
        'measurements(paths: $paths, since: "2026-01-01T00:00:00Z") { path } } } }',
    );
    const refuse = (count: number) => () => {
      const variables = { paths: Array.from({ length: count }, (_, index) => `p${index}`) };
      return refuseCostly({ schema, document, variables, operationName: null }, defaultApiLimits);
    };
    expect(refuse(1)).not.toThrow();
    expect(refuse(50)).toThrow(/at most 10000/);
    expect(refuse(1)).not.toThrow();
  });

  it('allows a page of small charts of one device', () => {
    const paths = Array.from({ length: 50 }, (_, index) => `"p${index}"`).join(' ');
    const series = 'path latest latestAt points { at min mean max }';
    const measured = `measurements(paths: [${paths}], since: "2026-01-01T00:00:00Z", points: 200) { ${series} }`;
    expect(cost(`{ device(id: "d") { id ${measured} } }`)).toBeLessThan(2_000);
  });

  it('counts the total of a list once, regardless of its rows', () => {
    expect(cost('{ devices { totalCount } }')).toBeLessThan(300);
  });

  it('allows introspection once, but not fifty times', () => {
    expect(cost(getIntrospectionQuery())).toBe(500);
    const often = Array.from({ length: 50 }, (_, index) => `a${index}: __schema { types { name } }`).join(' ');
    expect(cost(`{ ${often} }`)).toBeGreaterThan(defaultApiLimits.queryCostMax);
  });

  it('is counted again if a variable sets the number of rows', () => {
    const document = parse(
      'query ($first: Int) { devices(first: $first) { nodes { calls(first: 100) { nodes { id } } } } }',
    );
    const refuse = (first: number) => () =>
      refuseCostly({ schema, document, variables: { first }, operationName: null }, defaultApiLimits);
    expect(refuse(1)).not.toThrow();
    expect(refuse(200)).toThrow(/at most 10000/);
    expect(refuse(1)).not.toThrow();
  });

  it('refuses fragments that multiply the selections', () => {
    const doubling = Array.from(
      { length: 13 },
      (_, index) => `fragment F${index} on Query { ...F${index + 1} ...F${index + 1} }`,
    ).join('\n');
    const document = parse(`{ ...F0 } ${doubling} fragment F13 on Query { viewer { name } }`);
    const refuse = (): number =>
      refuseCostly({ schema, document, variables: null, operationName: null }, defaultApiLimits);
    expect(refuse).toThrow(expect.objectContaining({ code: 'COST_LIMIT' }));
  });

  it('allows the largest list of devices with tools and their policies', () => {
    const document = parse('{ devices(first: 200) { nodes { id tools { name policy { idempotent } } } } }');
    expect(() =>
      refuseCostly({ schema, document, variables: null, operationName: null }, defaultApiLimits),
    ).not.toThrow();
  });

  it('refuses nested lists, and suggests fewer rows', () => {
    const document = parse('{ devices(first: 200) { nodes { calls(first: 200) { nodes { id } } } } }');
    expect(() => refuseCostly({ schema, document, variables: null, operationName: null }, defaultApiLimits)).toThrow(
      /at most 10000 .*"first"/,
    );
  });

  it('is equal for every call, and higher for a job over the fleet', () => {
    expect(cost('mutation { callTool(input: {deviceId: "d", tool: "t"}) { call { id } } }')).toBe(21);
    expect(
      cost('mutation { createJob(input: {tool: "t", devices: {all: true}}, idempotencyKey: "k") { job { id } } }'),
    ).toBe(221);
  });
});
