/** Addresses of the authorization server and of the resource that it protects. */

export interface OauthAddresses {
  /** The origin under which browsers reach this hub: the issuer. */
  readonly issuer: string;
  /** The audience of every token. [RFC 8707] */
  readonly resource: string;
  /** Of the metadata of the resource. [RFC 9728 §3.1] */
  readonly resourceMetadata: string;
}

export const oauthPaths = {
  authorization: '/oauth/authorize',
  token: '/oauth/token',
  registration: '/oauth/register',
  revocation: '/oauth/revoke',
  jwks: '/oauth/jwks',
  /** The page of the console on which a person decides. */
  consent: '/oauth/consent',
} as const;

const resourcePath = '/mcp';

/** Where agents look for the authorization server. */
export const discoveryPaths = {
  resource: '/.well-known/oauth-protected-resource',
  resourceOfPath: `/.well-known/oauth-protected-resource${resourcePath}`,
  server: '/.well-known/oauth-authorization-server',
  openId: '/.well-known/openid-configuration',
} as const;

const loopbackHosts = new Set(['localhost', '127.0.0.1', '[::1]']);

export function isLoopback(hostname: string): boolean {
  return loopbackHosts.has(hostname);
}

/**
 * Undefined where people cannot connect agents: without a public address, and with one that others
 * could listen to.
 */
export function oauthAddresses(publicUrl: string | undefined): OauthAddresses | undefined {
  if (publicUrl === undefined || !URL.canParse(publicUrl)) return undefined;
  const { protocol, hostname, origin } = new URL(publicUrl);
  if (protocol !== 'https:' && !(protocol === 'http:' && isLoopback(hostname))) return undefined;
  return {
    issuer: origin,
    resource: `${origin}${resourcePath}`,
    resourceMetadata: `${origin}${discoveryPaths.resourceOfPath}`,
  };
}
