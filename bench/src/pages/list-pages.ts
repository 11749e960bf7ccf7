/** Measures the list pages of a large registry over HTTP. */
import { ask } from '@flotilla/test/api/graphql-client';
import type { HubProcess } from '@flotilla/test/hub/hub-process';
import type { Figure } from '../report.js';
import { DEVICE, LARGE_JOB } from './fill-registry.js';

const ROWS = 100;
/** Reads of the first and of the second page. */
const READS = 25;
/** Reads before them, because each process compiles a document at its second reading. */
const READS_BEFORE = 2;

const DEVICE_FIELDS = 'id name model firmwareVersion presence tags lastSeenAt';

/** Device filters in GraphQL. */
const filters: Readonly<Record<string, string>> = {
  'no filter': '{}',
  online: '{presence: ONLINE}',
  'offline, three': '{presence: OFFLINE}',
  'a tag': '{tags: ["floor-7"]}',
  'a tag of half': '{tags: ["odd"]}',
  'a tag of three': '{tags: ["three"]}',
  'two tags': '{tags: ["floor-7", "odd"]}',
  model: '{model: "model-3"}',
  'a model of three': '{model: "three"}',
  version: '{firmwareVersion: "2.0.9"}',
  'before a version': '{firmwareBefore: "2.0.3"}',
  'a tool of all': '{hasTool: "bench.tool_1"}',
  'a tool of some': '{hasTool: "bench.some"}',
  'a tool of few': '{hasTool: "bench.rare"}',
  dialect: '{dialect: MCPU}',
  'seen before': '{lastSeenBefore: "2026-01-02T00:00:00Z"}',
  'search, many': '{search: "device-0"}',
  'search, one': '{search: "device-0099999"}',
  'search, none': '{search: "no such device"}',
  'model and version': '{model: "model-3", firmwareVersion: "2.0.9"}',
  'tag and online': '{tags: ["floor-7"], presence: ONLINE}',
  'neither model nor tag': '{not: {any: [{model: "model-3"}, {tags: ["floor-7"]}]}}',
};

/** Other lists by name: the field with its arguments, and the fields of a row. */
const lists: readonly (readonly [name: string, field: string, args: string, fields: string])[] = [
  ['tools', 'tools', '', 'name deviceCount'],
  ['tools of a model', 'tools', 'filter: {devices: {model: "model-3"}}', 'name deviceCount'],
  ['calls', 'calls', '', 'id tool outcome durationMs'],
  ['calls of a device', 'calls', `filter: {deviceId: "${DEVICE}"}`, 'id tool outcome'],
  ['calls of a tool', 'calls', 'filter: {tool: "bench.tool_7"}', 'id outcome'],
  ['calls, failed', 'calls', 'filter: {outcomes: [FAILED]}', 'id tool outcome'],
  ['calls of a job', 'calls', `filter: {jobId: "${LARGE_JOB}"}`, 'id deviceId outcome'],
  ['calls of a job, failed', 'calls', `filter: {jobId: "${LARGE_JOB}", outcomes: [FAILED]}`, 'id deviceId outcome'],
  ['events', 'events', '', 'id type data'],
  ['events, latest first', 'events', 'orderBy: AT_DESC', 'id type data'],
  ['events of a device', 'events', `filter: {deviceId: "${DEVICE}"}`, 'id type'],
  ['events of a rare type', 'events', 'filter: {types: ["bench.rare"]}', 'id type'],
  ['jobs', 'jobs', '', 'id state progress { total succeeded }'],
  ['jobs of a tool', 'jobs', 'filter: {tool: "bench.tool_7"}', 'id state'],
  ['jobs, a search for one', 'jobs', 'filter: {search: "job 1999"}', 'id state'],
  ['audit entries', 'auditEntries', '', 'id action subject'],
  ['audit entries of an actor', 'auditEntries', 'filter: {actor: "actor-7"}', 'id action'],
  ['audit entries of a subject', 'auditEntries', `filter: {subject: "device:${DEVICE}"}`, 'id action'],
  ['enrolments', 'enrolments', '', 'id deviceId code'],
  ['uploads', 'uploads', '', 'id kind sizeBytes'],
  ['uploads of a device', 'uploads', `deviceId: "${DEVICE}"`, 'id kind'],
  ['firmware images', 'firmwareImages', '', 'id version models'],
];

const TARGET_FIELDS = 'deviceId outcome error { message } result { text }';
const targets: readonly (readonly [name: string, args: string, fields: string])[] = [
  ['targets of a job over all devices', '', TARGET_FIELDS],
  ['targets with their devices', '', 'deviceId outcome device { name model presence }'],
  ['targets that succeeded', 'outcomes: [SUCCEEDED]', TARGET_FIELDS],
  ['targets that failed', 'outcomes: [FAILED]', TARGET_FIELDS],
  ['targets that expired, three', 'outcomes: [EXPIRED]', TARGET_FIELDS],
];

/** Lists without pages, and counts. */
const whole: Readonly<Record<string, string>> = {
  'device groups with their counts': '{ deviceGroups(first: 100) { nodes { id name deviceCount } } }',
  'count of all devices': '{ devices(first: 1) { totalCount } }',
  'count of devices with a tag': '{ devices(first: 1, filter: {tags: ["site-7"]}) { totalCount } }',
  'fleet summary':
    '{ fleetSummary { deviceCount onlineCount models { value deviceCount } firmwareVersions { value deviceCount } } }',
  'users, 1,000': '{ users { id name role } }',
  'API keys, 900': '{ apiKeys { id name scopes } }',
  'webhooks with deliveries': '{ webhooks { id deliveries(first: 20) { id status } } }',
};

interface Connection {
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
}

/** Reads each list in each order and with each filter. `atMost`: ms from request to answer. */
export async function pageFigures(hub: HubProcess, atMost: number): Promise<readonly Figure[]> {
  const figures: Figure[] = [];
  const pages = (name: string, query: (after: string) => string, under?: string) =>
    paged(hub, { name, query, under, atMost });
  for (const order of ['ID_ASC', 'NAME_ASC', 'LAST_SEEN_DESC']) {
    for (const [name, filter] of Object.entries(filters)) {
      const args = `orderBy: ${order}${filter === '{}' ? '' : `, filter: ${filter}`}`;
      figures.push(...(await pages(`devices ${order}, ${name}`, connection('devices', args, DEVICE_FIELDS))));
    }
  }
  for (const [name, field, args, fields] of lists)
    figures.push(...(await pages(name, connection(field, args, fields))));
  for (const [name, args, fields] of targets) {
    const inner = connection('targets', args, fields);
    figures.push(...(await pages(name, (after) => `job(id: "${LARGE_JOB}") { ${inner(after)} }`, 'job')));
  }
  for (const [name, query] of Object.entries(whole))
    figures.push(...(await timed(name, [() => ask(hub, query)], atMost)));
  return figures;
}

function connection(field: string, args: string, fields: string): (after: string) => string {
  return (after) =>
    `${field}(first: ${ROWS}${after}${args && `, ${args}`}) { pageInfo { hasNextPage endCursor } nodes { ${fields} } }`;
}

/** Reads the first page, and the second one if there is one. */
async function paged(
  hub: HubProcess,
  {
    name,
    query,
    under,
    atMost,
  }: {
    readonly name: string;
    readonly query: (after: string) => string;
    readonly under: string | undefined;
    readonly atMost: number;
  },
): Promise<readonly Figure[]> {
  const read = async (after: string): Promise<Connection> => {
    const data = await ask<Record<string, Connection | Record<string, Connection>>>(hub, `{ ${query(after)} }`);
    const inner = under === undefined ? data : (data[under] as Record<string, Connection>);
    return Object.values(inner)[0] as Connection;
  };
  const { pageInfo } = await read('');
  const next = pageInfo.hasNextPage ? [() => read(`, after: "${pageInfo.endCursor ?? ''}"`)] : [];
  return timed(name, [() => read(''), ...next], atMost);
}

async function timed(
  name: string,
  reads: readonly (() => Promise<unknown>)[],
  atMost: number,
): Promise<readonly Figure[]> {
  const times: number[] = [];
  for (let time = 0; time < READS_BEFORE; time++) for (const read of reads) await read();
  for (let time = 0; time < READS; time++) {
    for (const read of reads) {
      const before = performance.now();
      await read();
      times.push(performance.now() - before);
    }
  }
  times.sort((a, b) => a - b);
  const quantile = (share: number) => times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0;
  return [
    { name: `page of ${name}, p50`, value: quantile(0.5), unit: 'ms' },
    { name: `page of ${name}, p99`, value: quantile(0.99), unit: 'ms', atMost },
  ];
}
