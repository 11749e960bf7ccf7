/** People of a running hub: makes them, and signs them in. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'vitest';
import { startHub, type HubProcess } from '../hub/hub-process.js';
import { Browser } from './browser.js';
import { ask } from './graphql-client.js';

export const adminEmail = 'admin@flotilla.local';
export const password = 'correct horse battery';

export interface UserPayload {
  readonly user: {
    readonly id: string;
    readonly email: string;
    readonly role: string;
    readonly disabledAt: string | null;
  } | null;
  readonly userErrors: readonly { readonly code: string; readonly path: readonly string[]; readonly message: string }[];
}

export const userFields = '{ user { id email role disabledAt } userErrors { code path message } }';
export const createUserMutation = `mutation ($input: UserInput!) { createUser(input: $input) ${userFields} }`;
export const updateUserMutation = `mutation ($id: ID!, $input: UserInput!) {
  updateUser(id: $id, input: $input) ${userFields} }`;

export class People {
  private constructor(
    readonly hub: HubProcess,
    readonly adminPassword: string,
    readonly admin: Browser,
  ) {}

  /** Starts a hub, and signs in its first admin. */
  static async start(): Promise<People> {
    const hub = await startHub({ embedded: true, env: { FLOTILLA_SIGN_IN_LOCK_SECONDS: '2' } });
    const adminPassword = readFileSync(path.join(hub.dataDir, 'admin.password'), 'utf8').trim();
    const admin = new Browser(hub);
    expect((await admin.signIn(adminEmail, adminPassword)).status).toBe(200);
    return new People(hub, adminPassword, admin);
  }

  async create(input: Readonly<Record<string, unknown>>): Promise<UserPayload> {
    return (await ask<{ createUser: UserPayload }>(this.hub, createUserMutation, { input })).createUser;
  }

  async update(id: string, input: Readonly<Record<string, unknown>>): Promise<UserPayload> {
    return (await ask<{ updateUser: UserPayload }>(this.hub, updateUserMutation, { id, input })).updateUser;
  }

  /** A new person, and a browser in which they are signed in. */
  async person(name: string, role = 'OPERATOR') {
    const input = { name, email: `${name}@example.net`, role, password };
    const id = (await this.create(input)).user?.id ?? '';
    const browser = new Browser(this.hub);
    expect((await browser.signIn(input.email, password)).status).toBe(200);
    return { id, input, browser };
  }
}

export async function isSignedIn(browser: Browser): Promise<boolean> {
  return (await browser.graphql('{ viewer { name } }')).status === 200;
}
