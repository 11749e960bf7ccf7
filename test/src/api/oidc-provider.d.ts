/** The part of oidc-provider that stories use; the package brings no types. */
declare module 'oidc-provider' {
  import type { IncomingMessage, ServerResponse } from 'node:http';

  export interface Account {
    readonly accountId: string;
    claims(): Readonly<Record<string, unknown>>;
  }

  export default class Provider {
    constructor(
      issuer: string,
      configuration: Readonly<Record<string, unknown>> & { findAccount(context: unknown, subject: string): Account },
    );
    callback(): (request: IncomingMessage, response: ServerResponse) => Promise<void>;
  }
}
