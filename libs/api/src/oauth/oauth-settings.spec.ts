import { describe, expect, it } from 'vitest';
import { ApiError } from '../errors/api-error.js';
import { challengeOf, scopeChallenge, TokenRefused } from './challenge.js';
import { oauthAddresses } from './oauth-settings.js';

describe('the authorization server', () => {
  it.each([
    ['https://hub.example', 'https://hub.example'],
    ['https://hub.example:8443/', 'https://hub.example:8443'],
    ['http://127.0.0.1:8080', 'http://127.0.0.1:8080'],
    ['http://localhost:8080', 'http://localhost:8080'],
  ])('of %s has the issuer %s', (publicUrl, issuer) => {
    expect(oauthAddresses(publicUrl)).toMatchObject({ issuer, resource: `${issuer}/mcp` });
  });

  it.each([undefined, 'http://192.168.1.20:8080', 'http://hub.example', 'ftp://hub.example', 'hub'])(
    'does not exist with %s',
    (publicUrl) => {
      expect(oauthAddresses(publicUrl)).toBeUndefined();
    },
  );
});

describe('a challenge', () => {
  const addresses = oauthAddresses('https://hub.example');
  const metadata = 'resource_metadata="https://hub.example/.well-known/oauth-protected-resource/mcp"';
  const usual = 'scope="DEVICES_READ TOOLS_CALL JOBS_READ JOBS_WRITE EVENTS_READ"';

  it('names the metadata, and an error only where there was a token', () => {
    expect(challengeOf(new TokenRefused('missing'), addresses)).toBe(`Bearer ${metadata}, ${usual}`);
    expect(challengeOf(new TokenRefused('foreign'), addresses)).toBe(
      `Bearer error="invalid_token", error_description="The token was issued for another resource.", ` +
        `${metadata}, ${usual}`,
    );
  });

  it('asks for other scopes where the person keeps none, because a new token would not help', () => {
    const refused = new TokenRefused('powerless');
    expect(refused.statusCode).toBe(403);
    expect(challengeOf(refused, addresses)).toMatch(
      /^Bearer error="insufficient_scope", .*scope="DEVICES_READ TOOLS_CALL JOBS_READ JOBS_WRITE EVENTS_READ"$/,
    );
  });

  it('is that of keys where agents cannot connect', () => {
    expect(challengeOf(new ApiError('UNAUTHENTICATED', 'A valid API key is needed.'), undefined)).toBe('Bearer');
  });

  it('for a missing scope names all scopes to ask for', () => {
    if (addresses === undefined) throw new TypeError('no addresses');
    expect(scopeChallenge(addresses, ['DEVICES_READ', 'JOBS_READ'])).toMatch(
      /^Bearer error="insufficient_scope", .*scope="DEVICES_READ JOBS_READ"$/,
    );
  });
});
