/** The header `WWW-Authenticate` of `/mcp`. [RFC 6750 §3, RFC 9728 §5.1, MCP Authorization] */
import { usualAgentScopes, type TokenVerdict } from '@flotilla/fleet';
import type { Scope } from '@flotilla/registry';
import { ApiError } from '../errors/api-error.js';
import type { OauthAddresses } from './oauth-settings.js';

type TokenProblem = Exclude<TokenVerdict['kind'], 'valid'> | 'missing';

const descriptions: Readonly<Record<Exclude<TokenProblem, 'missing'>, string>> = {
  unknown: 'The token is unknown, expired or revoked.',
  foreign: 'The token was issued for another resource.',
  narrowed: 'The person who connected this agent has fewer rights now. Refresh the token.',
  powerless: 'The person who connected this agent has none of its scopes now. Ask them to connect it again.',
};

/** A refusal that says how a client gets a token. */
export class TokenRefused extends ApiError {
  constructor(readonly problem: TokenProblem) {
    super(
      problem === 'powerless' ? 'FORBIDDEN' : 'UNAUTHENTICATED',
      problem === 'missing'
        ? 'A token is needed: connect this agent with OAuth, or send "Authorization: Bearer <API key>".'
        : descriptions[problem],
    );
    this.name = 'TokenRefused';
  }
}

/** Without OAuth, only that a key is needed. */
export function challengeOf(error: ApiError, addresses: OauthAddresses | undefined): string {
  if (addresses === undefined) return 'Bearer';
  const problem = error instanceof TokenRefused ? error.problem : 'unknown';
  const code = problem === 'powerless' ? 'insufficient_scope' : 'invalid_token';
  const refused = problem === 'missing' ? [] : [`error="${code}"`, `error_description="${descriptions[problem]}"`];
  return bearer([...refused, ...pointers(addresses, usualAgentScopes)]);
}

/** For a valid token that lacks a scope: `scopes` are those that the client should ask for. */
export function scopeChallenge(addresses: OauthAddresses, scopes: readonly Scope[]): string {
  const wanted = 'The agent needs another scope. Ask the person to connect it again.';
  return bearer(['error="insufficient_scope"', `error_description="${wanted}"`, ...pointers(addresses, scopes)]);
}

function pointers({ resourceMetadata }: OauthAddresses, scopes: readonly Scope[]): readonly string[] {
  return [`resource_metadata="${resourceMetadata}"`, `scope="${scopes.join(' ')}"`];
}

function bearer(parameters: readonly string[]): string {
  return `Bearer ${parameters.join(', ')}`;
}
