/** The part of oidc-provider that the hub uses; the package brings no types. */
declare module 'oidc-provider' {
  import type { IncomingMessage, ServerResponse } from 'node:http';

  export type Payload = Record<string, unknown>;

  export interface Adapter {
    upsert(id: string, payload: Payload, expiresIn?: number): Promise<void>;
    find(id: string): Promise<Payload | undefined>;
    findByUid(uid: string): Promise<Payload | undefined>;
    findByUserCode(userCode: string): Promise<Payload | undefined>;
    consume(id: string): Promise<void>;
    destroy(id: string): Promise<void>;
    revokeByGrantId(grantId: string): Promise<void>;
  }

  export interface Client {
    readonly clientId: string;
    readonly clientName: string | undefined;
    readonly clientUri: string | undefined;
    readonly redirectUris: readonly string[];
    /** As RFC 7591 names the members. */
    metadata(): Payload;
  }

  /** The state of one authorization request. */
  export interface Interaction {
    readonly uid: string;
    readonly params: Readonly<Record<string, unknown>>;
    /** The decision; undefined before. */
    readonly result?: unknown;
    /** The address with which the request goes on. */
    readonly returnTo: string;
  }

  export interface ProviderContext {
    readonly req: IncomingMessage;
    readonly oidc: {
      readonly route: string;
      readonly result?: Readonly<Record<string, unknown>>;
    };
  }

  export class Provider {
    constructor(issuer: string, configuration: Readonly<Record<string, unknown>>);
    static readonly ctx: ProviderContext | undefined;
    proxy: boolean;
    readonly Client: (new (metadata: Payload) => Client) & { find(id: string): Promise<Client | undefined> };
    readonly Grant: { find(id: string): Promise<unknown> };
    callback(): (request: IncomingMessage, response: ServerResponse) => Promise<void>;
    interactionDetails(request: IncomingMessage, response: ServerResponse): Promise<Interaction>;
    /** Resolves to the address with which the request goes on. */
    interactionResult(request: IncomingMessage, response: ServerResponse, result: Payload): Promise<string>;
    on(event: string, listener: (context: ProviderContext, error: unknown) => void): this;
  }

  class OauthError extends Error {
    constructor(description?: string);
    readonly error: string;
    readonly error_description: string | undefined;
    readonly statusCode: number;
  }

  export const errors: {
    readonly InvalidGrant: typeof OauthError;
    readonly InvalidTarget: typeof OauthError;
    readonly InvalidClient: typeof OauthError;
    readonly OIDCProviderError: typeof OauthError;
  };

  export class Check {
    constructor(reason: string, description: string, error: string, check: (context: ProviderContext) => boolean);
  }

  export class Prompt {
    constructor(rules: { readonly name: string; readonly requestable: boolean }, ...checks: readonly Check[]);
  }

  export const interactionPolicy: { readonly Prompt: typeof Prompt; readonly Check: typeof Check };
}
