/**
 * A second person for stories of four eyes: keys that the administrator makes count as the
 * administrator.
 */
import { randomUUID } from 'node:crypto';
import { ask } from './graphql-client.js';
import type { Scope } from './api-keys.js';
import { Browser } from './browser.js';
import type { HubProcess } from '../hub/hub-process.js';

/** A browser that another administrator is signed in with. */
export async function signedInPerson(hub: HubProcess): Promise<Browser> {
  const [email, password] = [`${randomUUID()}@example.com`, randomUUID()];
  const query = 'mutation ($input: UserInput!) { createUser(input: $input) { userErrors { message } } }';
  await ask(hub, query, { input: { name: 'Second person', email, role: 'ADMIN', password } });
  const browser = new Browser(hub);
  const { status } = await browser.signIn(email, password);
  if (status !== 200) throw new Error(`The second person cannot sign in: ${status}`);
  return browser;
}

/** A key that this person has made. */
export async function keyOfPerson(browser: Browser, of: readonly Scope[]): Promise<string> {
  const query = 'mutation ($input: CreateApiKeyInput!) { createApiKey(input: $input) { secret } }';
  const answer = await browser.graphql<{ createApiKey: { secret: string | null } }>(query, {
    input: { name: of.join(' '), scopes: of },
  });
  const secret = answer.data?.createApiKey.secret;
  if (secret === null || secret === undefined) throw new Error(`createApiKey refused: ${JSON.stringify(answer)}`);
  return secret;
}
