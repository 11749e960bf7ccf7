/**
 * One request of the console as texts that run elsewhere: curl, the command line and TypeScript.
 * The key is never in them: each reads FLOTILLA_KEY.
 */
import { commandLine, safeJson, shellWord } from './shell-words';

type JsonObject = Readonly<Record<string, unknown>>;

export type CopiedRequest =
  | { readonly kind: 'call'; readonly deviceId: string; readonly tool: string; readonly arguments: JsonObject }
  | { readonly kind: 'job'; readonly input: JsonObject; readonly idempotencyKey: string }
  /** Without a filter, all devices. */
  | { readonly kind: 'devices'; readonly filter: JsonObject | undefined };

export const copyForms = ['curl', 'command', 'typescript'] as const;
export type CopyForm = (typeof copyForms)[number];

/** Undefined if a name has characters that no shell command can hold. */
export function textOf(form: CopyForm, request: CopiedRequest, origin: string): string | undefined {
  if (form === 'curl') return curlOf(request, origin);
  return form === 'command' ? commandOf(request, origin) : typescriptOf(request, origin);
}

function curlOf(request: CopiedRequest, origin: string): string {
  const body = shellWord(safeJson(operationOf(request))) ?? '';
  const headers = `-H "authorization: Bearer $FLOTILLA_KEY" -H 'content-type: application/json'`;
  return `curl -s ${shellWord(`${origin}/graphql`) ?? ''} ${headers} --data-raw ${body}`;
}

function operationOf(request: CopiedRequest): { readonly query: string; readonly variables: JsonObject } {
  switch (request.kind) {
    case 'call':
      return {
        query:
          'mutation ($input: CallToolInput!) { callTool(input: $input) { ' +
          'call { id outcome result { text } error { code message } } userErrors { code message } } }',
        variables: { input: { deviceId: request.deviceId, tool: request.tool, arguments: request.arguments } },
      };
    case 'job':
      return {
        query:
          'mutation ($input: CreateJobInput!, $key: String!) { ' +
          'createJob(input: $input, idempotencyKey: $key) { job { id state } userErrors { code message path } } }',
        variables: { input: request.input, key: request.idempotencyKey },
      };
    case 'devices':
      return {
        query:
          'query ($filter: DeviceFilter, $after: String) { devices(filter: $filter, first: 200, after: $after) { ' +
          'nodes { id name model firmwareVersion presence tags } pageInfo { hasNextPage endCursor } } }',
        variables: request.filter === undefined ? {} : { filter: request.filter },
      };
  }
}

function commandOf(request: CopiedRequest, origin: string): string | undefined {
  const words = commandWords(request);
  return words && commandLine(['flotilla', '--url', origin, ...words]);
}

/** Positionals that begin with a hyphen would be read as options. */
function commandWords(request: CopiedRequest): readonly string[] | undefined {
  switch (request.kind) {
    case 'call': {
      const names = [request.deviceId, request.tool];
      return names.some(isOption) ? undefined : ['call', ...names, ...argumentsOf(request.arguments)];
    }
    case 'job':
      return jobWords(request.input);
    case 'devices':
      return [
        'devices',
        ...(request.filter === undefined ? [] : ['--filter', safeJson(request.filter)]),
        '--limit',
        '0',
      ];
  }
}

function jobWords({
  tool,
  arguments: given,
  firmwareImageId,
  devices,
  ...rest
}: JsonObject): readonly string[] | undefined {
  const name = String(tool ?? firmwareImageId);
  if (isOption(name)) return undefined;
  const action =
    tool === undefined ? ['firmware', 'roll-out', name] : ['jobs', 'create', name, ...argumentsOf(given as JsonObject)];
  const isAll = safeJson(devices) === '{"all":true}';
  return [
    ...action,
    ...(isAll ? ['--all'] : ['--filter', safeJson(devices)]),
    ...(Object.keys(rest).length === 0 ? [] : ['--input', safeJson(rest)]),
  ];
}

function argumentsOf(given: JsonObject | undefined): readonly string[] {
  return given === undefined || Object.keys(given).length === 0 ? [] : [safeJson(given)];
}

function isOption(word: string): boolean {
  return word.startsWith('-');
}

function typescriptOf(request: CopiedRequest, origin: string): string {
  return [
    `import { FlotillaClient } from '@flotilla/client';`,
    '',
    `const client = new FlotillaClient({ url: ${safeJson(origin)}, apiKey: process.env.FLOTILLA_KEY ?? '' });`,
    ...statementsOf(request),
    'client.close();',
    '',
  ].join('\n');
}

function statementsOf(request: CopiedRequest): readonly string[] {
  switch (request.kind) {
    case 'call': {
      const { deviceId, tool, arguments: given } = request;
      return [
        `const call = await client.callTool(${safeJson({ deviceId, tool, arguments: given }, 2)});`,
        'console.log(call.outcome, call.result?.text ?? call.error?.message);',
      ];
    }
    case 'job':
      return [
        `const job = await client.createJob(${safeJson(request.input, 2)});`,
        'for await (const { state, progress } of client.followJob(job.id)) console.log(state, progress);',
      ];
    case 'devices':
      return [
        `const filter = ${safeJson(request.filter ?? {}, 2)} as const;`,
        'for await (const { id, name, presence } of client.devices({ filter })) console.log(id, name, presence);',
      ];
  }
}
