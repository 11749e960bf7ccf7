/**
 * Opens the OAuth library at the first request that needs it: hubs without connected agents neither
 * load nor pay for it.
 */
import { createPrivateKey, hkdfSync, type JsonWebKey } from 'node:crypto';
import { agentScopes, type AgentGrants, type FetchDocument } from '@flotilla/fleet';
import type { Registry } from '@flotilla/registry';
import type * as OidcProvider from 'oidc-provider';
import type { Provider } from 'oidc-provider';
import type { ClientOf } from '../api-deps.js';
import type { ApiLogger } from '../api-logger.js';
import { KeyFailures } from '../access/key-failures.js';
import { completedDocument, redirectProblem } from './client-metadata.js';
import { oauthPaths, type OauthAddresses } from './oauth-settings.js';
import { adapterOf } from './provider-adapter.js';

export interface ProviderDeps {
  readonly registry: Pick<Registry, 'agentGrants' | 'oauth' | 'hubSecret'>;
  readonly grants: Pick<AgentGrants, 'end' | 'limits' | 'scopesOf'>;
  readonly addresses: OauthAddresses;
  readonly fetchDocument: FetchDocument;
  readonly logger: ApiLogger;
  readonly now: () => number;
  readonly clientOf: ClientOf;
}

type Library = typeof OidcProvider;

export interface OpenProvider {
  readonly provider: Provider;
  readonly library: Library;
}

export async function openProvider(deps: ProviderDeps): Promise<OpenProvider> {
  const library = await import('oidc-provider');
  const { addresses, logger } = deps;
  const secret = await deps.registry.hubSecret('oauth');
  const provider = new library.Provider(addresses.issuer, configurationOf(library, deps, secret));
  // The routes set the one header that it reads of a proxy.
  provider.proxy = true;
  provider.on('server_error', (_context, error) => logger.error({ err: error }, 'an OAuth request failed'));
  return { provider, library };
}

function configurationOf(library: Library, deps: ProviderDeps, secret: string) {
  const { addresses, grants, registry, now } = deps;
  const isHttps = addresses.issuer.startsWith('https:');
  const cookie = { httpOnly: true, sameSite: 'lax', secure: isHttps, signed: true };
  const prefix = isHttps ? '__Secure-' : '';
  const { InvalidGrant } = library.errors;
  const adapterDeps = {
    registry,
    grants,
    now,
    resource: addresses.resource,
    request: () => ({ route: library.Provider.ctx?.oidc.route, remoteAddress: addressNow(library, deps) }),
    usedTwice: () => new InvalidGrant('the token was used twice'),
  };
  const { authorization, token, revocation, jwks, consent } = oauthPaths;
  return {
    adapter: (model: string) => adapterOf(model, adapterDeps),
    features: featuresOf(library, deps),
    scopes: ['offline_access'],
    claims: { openid: ['sub'] },
    responseTypes: ['code'],
    clientAuthMethods: ['none'],
    pkce: { required: () => true },
    jwks: { keys: [signingKey(secret)] },
    clientDefaults: {
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
      id_token_signed_response_alg: 'EdDSA',
    },
    enabledJWA: { idTokenSigningAlgValues: ['EdDSA'] },
    routes: { authorization, token, revocation, jwks },
    cookies: {
      keys: [derived(secret, 'cookies').toString('base64url')],
      short: cookie,
      long: cookie,
      names: {
        interaction: `${prefix}flotilla-oauth-request`,
        resume: `${prefix}flotilla-oauth-resume`,
        session: `${prefix}flotilla-oauth`,
      },
    },
    ...ttlsOf(deps),
    interactions: {
      url: (_context: unknown, { uid }: { readonly uid: string }) => `${consent}/${uid}`,
      policy: policyOf(library),
    },
    findAccount: (_context: unknown, id: string) => findAccount(grants, id),
    loadExistingGrant: async (context: GrantContext) => {
      const grantId = context.oidc.result?.consent?.grantId;
      return grantId === undefined ? undefined : context.oidc.provider.Grant.find(grantId);
    },
    issueRefreshToken: async () => true,
    expiresWithSession: async () => false,
    rotateRefreshToken: true,
    // The library removes the refresh token with any token, so nothing of the grant is left.
    revokeGrantPolicy: async () => true,
    clientBasedCORS: (_context: unknown, origin: string, client: { readonly redirectUris: readonly string[] }) =>
      client.redirectUris.some((uri) => URL.canParse(uri) && new URL(uri).origin === origin),
    fetch: async (url: string | URL) => {
      const { status, headers, body } = await deps.fetchDocument(String(url));
      return new Response(completedDocument(Buffer.from(body).toString('utf8')), { status, headers });
    },
    renderError,
  };
}

interface GrantContext {
  readonly oidc: {
    readonly result?: { readonly consent?: { readonly grantId?: string } };
    readonly provider: Provider;
  };
}

/** Each request is decided by a person, also one that was allowed before. */
function policyOf({ interactionPolicy: { Check, Prompt } }: Library) {
  const undecided = new Check(
    'decision_missing',
    'a person must decide about the request',
    'consent_required',
    ({ oidc }) => oidc.result?.['consent'] === undefined,
  );
  return [
    new Prompt({ name: 'login', requestable: true }),
    new Prompt({ name: 'select_account', requestable: true }),
    new Prompt({ name: 'consent', requestable: true }, undecided),
  ];
}

function featuresOf(library: Library, deps: ProviderDeps) {
  const { addresses, grants } = deps;
  const { InvalidTarget } = library.errors;
  const off = { enabled: false };
  const { documentsMax, documentWindowMs } = grants.limits;
  const fetches = new KeyFailures({ failuresMax: documentsMax, windowMs: documentWindowMs });
  return {
    devInteractions: off,
    dPoP: off,
    rpInitiatedLogout: off,
    userinfo: off,
    pushedAuthorizationRequests: off,
    revocation: { enabled: true },
    clientIdMetadataDocument: {
      enabled: true,
      ack: 'draft-02',
      allowFetch: async () => fetches.count(addressNow(library, deps)) === undefined,
      allowClient: async (_context: unknown, client: { readonly redirectUris: readonly string[] }) =>
        client.redirectUris.every((uri) => redirectProblem(uri) === undefined),
      cacheDuration: { min: 60, max: 3_600 },
    },
    resourceIndicators: {
      enabled: true,
      defaultResource: async () => addresses.resource,
      useGrantedResource: async () => true,
      getResourceServerInfo: async (context: ResourceContext, resource: string) => {
        if (resource !== addresses.resource) throw new InvalidTarget();
        return {
          audience: addresses.resource,
          accessTokenFormat: 'opaque',
          accessTokenTTL: grants.limits.accessTokenMs / 1_000,
          scope: (await scopesNow(grants, context)).join(' '),
        };
      },
    },
  };
}

/** Where the request under way came from. */
function addressNow({ Provider }: Library, { clientOf }: ProviderDeps): string | undefined {
  const request = Provider.ctx?.req;
  return request && clientOf(request).address;
}

interface ResourceContext {
  readonly oidc: { readonly entities: { readonly Account?: { readonly accountId: string } } };
}

/** A token has at most the scopes that the person has when it is issued. */
async function scopesNow(grants: Pick<AgentGrants, 'scopesOf'>, { oidc }: ResourceContext): Promise<readonly string[]> {
  const { Account: account } = oidc.entities;
  return account === undefined ? agentScopes : ((await grants.scopesOf(account.accountId, agentScopes)) ?? []);
}

async function findAccount(grants: Pick<AgentGrants, 'scopesOf'>, accountId: string) {
  if ((await grants.scopesOf(accountId, [])) === undefined) return undefined;
  return { accountId, claims: async () => ({ sub: accountId }) };
}

function ttlsOf({ grants: { limits } }: ProviderDeps) {
  const seconds = (ms: number) => Math.floor(ms / 1_000);
  return {
    ttl: {
      AccessToken: seconds(limits.accessTokenMs),
      AuthorizationCode: 60,
      Grant: seconds(limits.grantMs),
      IdToken: seconds(limits.accessTokenMs),
      Interaction: seconds(limits.requestMs),
      RefreshToken: seconds(limits.refreshTokenMs),
      Session: seconds(limits.requestMs),
    },
  };
}

function derived(secret: string, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, '', `flotilla oauth ${purpose}`, 32));
}

/** The library requires a key, although the hub issues only opaque tokens. */
function signingKey(secret: string): JsonWebKey & { readonly use: string; readonly alg: string } {
  const prefix = Buffer.from('302e020100300506032b657004220420', 'hex');
  const key = Buffer.concat([prefix, derived(secret, 'signing')]);
  const jwk = createPrivateKey({ key, format: 'der', type: 'pkcs8' }).export({ format: 'jwk' });
  return { ...jwk, use: 'sig', alg: 'EdDSA' };
}

interface PageContext {
  type: string;
  body: string;
  status: number;
  readonly method: string;
  redirect(url: string): void;
  accepts(...types: readonly string[]): string | false;
}

/**
 * An error that no client receives, such as an unknown client. A browser goes to a page of the
 * console, which gets only the code: others could write the rest.
 */
async function renderError(
  context: PageContext,
  out: { readonly error: string; readonly error_description?: string },
): Promise<void> {
  if (context.method === 'GET' && context.accepts('json', 'html') === 'html') {
    context.status = 303;
    context.redirect(`${oauthPaths.consent}/failed?error=${encodeURIComponent(out.error)}`);
    return;
  }
  context.type = 'json';
  context.body = JSON.stringify(out);
}
