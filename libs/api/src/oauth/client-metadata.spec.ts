import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { completedDocument, redirectProblem, registrationOf } from './client-metadata.js';

describe('a redirect URI', () => {
  it.each([
    'https://agent.example/callback',
    'https://agent.example:8443/callback?tenant=1',
    'http://localhost:4711/callback',
    'http://127.0.0.1/callback',
    'http://[::1]:1/callback',
    'cursor://anysphere.cursor/callback',
    'com.example.app:/callback',
  ])('may be %s', (uri) => {
    expect(redirectProblem(uri)).toBeUndefined();
  });

  it.each([
    'http://agent.example/callback',
    'http://localhost.evil.example/callback',
    'http://127.0.0.1.evil.example/',
    'https://agent.example/callback#fragment',
    'https://agent.example/callback#',
    'https://user:password@agent.example/',
    'https://agent.example/callback\n',
    ' https://agent.example/callback',
    'https://agent.example/call\tback',
    'javascript:alert(1)',
    'data:text/html,x',
    'file:///etc/passwd',
    '/callback',
    '',
    42,
    null,
    `https://agent.example/${'x'.repeat(2_000)}`,
  ])('is refused as %s', (uri) => {
    expect(redirectProblem(uri)).toBeTypeOf('string');
  });

  it('over http leads to this machine only', () => {
    fc.assert(
      fc.property(fc.domain(), fc.nat(65_535), (host, port) => {
        expect(redirectProblem(`http://${host}:${port}/callback`)).toBeTypeOf('string');
      }),
    );
  });
});

describe('a registration', () => {
  const uris = ['https://agent.example/callback'];

  it('makes every client public, and keeps only what the hub uses', () => {
    const body = {
      redirect_uris: uris,
      client_name: 'Agent',
      client_secret: 'mine',
      token_endpoint_auth_method: 'client_secret_post',
      grant_types: ['client_credentials'],
      jwks_uri: 'https://10.0.0.1/',
      sector_identifier_uri: 'https://10.0.0.1/',
    };
    expect(registrationOf(body)).toEqual({
      metadata: {
        redirect_uris: uris,
        client_name: 'Agent',
        application_type: 'web',
        response_types: ['code'],
        grant_types: ['authorization_code', 'refresh_token'],
        token_endpoint_auth_method: 'none',
      },
    });
  });

  it('of a program on a computer lets it choose the port', () => {
    const mixed = ['http://127.0.0.1/callback', 'https://vscode.dev/redirect'];
    expect(registrationOf({ redirect_uris: mixed })).toMatchObject({ metadata: { application_type: 'native' } });
  });

  it.each([
    [null],
    ['text'],
    [[]],
    [{}],
    [{ redirect_uris: [] }],
    [{ redirect_uris: 'https://agent.example/' }],
    [{ redirect_uris: Array.from({ length: 11 }, (_, index) => `https://agent.example/${index}`) }],
    [{ redirect_uris: uris, client_name: 42 }],
    [{ redirect_uris: uris, client_name: 'x'.repeat(201) }],
  ])('is refused with a reason: %j', (body) => {
    expect(registrationOf(body)).toMatchObject({
      error: expect.stringMatching(/^invalid_/),
      problem: expect.any(String),
    });
  });

  it('of any shape is answered', () => {
    fc.assert(
      fc.property(fc.anything(), (body) => {
        const answer = registrationOf(body);
        expect('metadata' in answer || 'problem' in answer).toBe(true);
      }),
    );
  });
});

describe('a metadata document', () => {
  it('gets the kind of its client, and keeps its id', () => {
    const document = { client_id: 'https://agent.example/client.json', redirect_uris: ['http://localhost/callback'] };
    expect(JSON.parse(completedDocument(JSON.stringify(document)))).toMatchObject({
      ...document,
      application_type: 'native',
      token_endpoint_auth_method: 'none',
    });
  });

  it.each(['', 'no json', '42', 'null', '{}', '{"redirect_uris":["http://evil.example/"]}'])(
    'that is unfit stays as it is: %s',
    (text) => {
      expect(completedDocument(text)).toBe(text);
    },
  );
});
