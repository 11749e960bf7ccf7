/** Requests with values that no table, cursor or cost limit should take. */

/** What is wrong with it, its query and its variables. */
export type HostileRequest = readonly [what: string, query: string, variables: Readonly<Record<string, unknown>>];

export const hostileRequests: readonly HostileRequest[] = [
  ['NUL', 'query ($t: ID!) { device(id: $t) { id } call(id: $t) { id } job(id: $t) { id } }', { t: 'a\0b' }],
  [
    'NUL in a name',
    'mutation ($t: String!) { createApiKey(input: {name: $t, scopes: [JOBS_READ]}) { userErrors { message } } }',
    { t: '\0' },
  ],
  ['half a character', 'query ($t: String) { devices(filter: {search: $t}) { nodes { id } } }', { t: '\ud800' }],
  [
    'SQL',
    'query ($t: ID!) { device(id: $t) { id } job(id: $t) { id } deviceGroup(id: $t) { id } }',
    { t: `' OR 1 = 1; DROP TABLE device; --` },
  ],
  ['a billion rows', '{ devices(first: 1000000000) { nodes { id } } }', {}],
  ['no rows', '{ auditEntries(first: -1) { nodes { id } } }', {}],
  [
    'JSON as a cursor',
    'query ($t: String) { devices(after: $t) { nodes { id } } }',
    { t: Buffer.from('["devices ID_ASC", {}]').toString('base64url') },
  ],
  [
    'SQL as a cursor',
    'query ($t: String) { events(after: $t) { nodes { id } } }',
    { t: Buffer.from(`["events","x' OR 1=1",1]`).toString('base64url') },
  ],
  ['a path as a cursor', 'query ($t: String) { jobs(after: $t) { nodes { id } } }', { t: '../../etc/passwd' }],
  ['a bottomless filter', 'query ($f: DeviceFilter) { devices(filter: $f) { nodes { id } } }', { f: deep(200) }],
  [
    'a year that does not exist',
    'query ($t: DateTime) { events(filter: {since: $t}) { nodes { id } } }',
    { t: '+275760-09-13T00:00:00Z' },
  ],
  [
    'an id of 100,000 characters',
    'query ($t: ID!) { device(id: $t) { id } uploads(deviceId: $t) { nodes { id } } }',
    { t: 'x'.repeat(100_000) },
  ],
  [
    'a webhook to a file',
    'mutation { createWebhook(input: {url: "file:///etc/passwd", types: ["x"]}) { userErrors { message } } }',
    {},
  ],
  [
    'arguments that no table holds',
    `mutation ($a: JSON) { callTool(input: {deviceId: "x", tool: "\\u0000", arguments: $a}) {
      userErrors { message } } }`,
    { a: { a: '\0' } },
  ],
  ['half a document', '{ devices { nodes {', {}],
];

function deep(levels: number): object {
  return levels === 0 ? { all: true } : { not: deep(levels - 1) };
}
