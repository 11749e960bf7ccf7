/** Odd requests at the routes of OAuth: each is answered, and none is the hub's failure. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AgentMemory, startPublicHub } from '../src/agents/oauth-agent.js';
import { inLanes } from '../src/in-lanes.js';
import { FuzzDice } from '../src/fuzz/fuzz-dice.js';
import { removeDataDir, type HubProcess } from '../src/hub/hub-process.js';

const REQUESTS = process.env['FLOTILLA_TEST_LONG'] === '1' ? 20_000 : 1_500;

const names = [
  'client_id',
  'redirect_uri',
  'response_type',
  'scope',
  'state',
  'code_challenge',
  'code_challenge_method',
  'resource',
  'prompt',
  'nonce',
  'max_age',
  'claims',
  'request',
  'request_uri',
  'response_mode',
  'id_token_hint',
  'grant_type',
  'code',
  'code_verifier',
  'refresh_token',
  'token',
  'token_type_hint',
  'client_secret',
  '__proto__',
];
const values = [
  '',
  'code',
  'none',
  'S256',
  'plain',
  'consent',
  'login',
  'openid',
  'offline_access',
  'DEVICES_READ ADMIN',
  '\u0000',
  'authorization_code',
  'refresh_token',
  'client_credentials',
  'query',
  'form_post',
  'fragment',
  'web_message',
  'http://127.0.0.1:4711/callback',
  'https://evil.example/',
  'javascript:alert(1)',
  'https://127.0.0.1:1/c.json',
  'https://[::1]/client.json',
  'https://localhost/client.json#x',
  '//',
  '%',
  '{"x":1}',
  'null',
  '[]',
  '\u{1F600}',
  '\ud800',
  'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
  'x'.repeat(3_000),
];
const paths = [
  '/oauth/authorize',
  '/oauth/authorize/x',
  '/oauth/token',
  '/oauth/revoke',
  '/oauth/register',
  '/oauth/jwks',
  '/oauth/consent/x',
  '/oauth/consent/x/request',
  '/oauth/consent/%00/request',
  '/.well-known/openid-configuration',
  '/.well-known/oauth-protected-resource/mcp',
  '/.well-known/oauth-authorization-server',
];
const types = ['application/x-www-form-urlencoded', 'application/json', 'text/plain', ''];

let hub: HubProcess;
let clientId: string;

beforeAll(async () => {
  // Each request comes from another network, so that the limits do not end the story.
  hub = await startPublicHub({ FLOTILLA_TRUSTED_PROXIES: '127.0.0.1' });
  const body = JSON.stringify(new AgentMemory('Odd').clientMetadata);
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(`${hub.httpUrl}/oauth/register`, { method: 'POST', headers, body });
  ({ client_id: clientId } = (await answer.json()) as { client_id: string });
});

afterAll(async () => {
  expect(await hub.stop()).toBe(0);
  removeDataDir(hub.dataDir);
});

describe('odd requests of agents', () => {
  it(`get an answer below 500, ${REQUESTS} times`, async () => {
    const dice = new FuzzDice(Number(process.env['FLOTILLA_TEST_SEED'] ?? 11));
    const requests = Array.from({ length: REQUESTS }, (_, index) => oddRequest(dice, index));
    const failures: string[] = [];
    await inLanes(8, requests, async ({ url, init }) => {
      const answer = await fetch(url, init);
      await answer.arrayBuffer();
      if (answer.status >= 500) failures.push(`${answer.status} ${init.method} ${url} ${init.body ?? ''}`);
    });
    expect(failures).toEqual([]);
    expect(hub.log()).not.toMatch(/unhandled|failed inside|request failed/i);
  });
});

function oddRequest(dice: FuzzDice, index: number) {
  const parameters = new URLSearchParams();
  for (let n = dice.below(9); n > 0; n--) parameters.append(dice.pick(names), dice.pick(values));
  if (dice.below(2) === 0) parameters.set('client_id', clientId);
  if (dice.below(2) === 0) parameters.set('redirect_uri', 'http://127.0.0.1:4711/callback');
  if (dice.below(2) === 0) parameters.set('response_type', 'code');
  const method = dice.pick(['GET', 'GET', 'POST', 'POST', 'OPTIONS']);
  const type = dice.pick(types);
  const body = dice.pick([parameters.toString(), JSON.stringify(Object.fromEntries(parameters)), '{', '\u0000', '']);
  const headers = {
    ...(type !== '' && { 'content-type': type }),
    accept: dice.pick(['application/json', 'text/html', '*/*']),
    'x-forwarded-for': `10.${index >> 8}.${index & 255}.1`,
    ...(dice.below(3) === 0 && { cookie: 'flotilla-oauth-request=x; flotilla-oauth-resume=x; flotilla-oauth=x' }),
    ...(dice.below(5) === 0 && { origin: 'https://evil.example' }),
  };
  const url = `${hub.httpUrl}${dice.pick(paths)}?${parameters.toString()}`;
  return { url, init: { method, headers, redirect: 'manual' as const, ...(method === 'POST' && { body }) } };
}
