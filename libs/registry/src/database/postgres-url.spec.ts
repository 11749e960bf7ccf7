import { describe, expect, it } from 'vitest';
import { addressOf, parsePostgresUrl, postgresHosts, postgresUrlProblem } from './postgres-url.js';

describe('a DATABASE_URL', () => {
  it('of one server is passed on unchanged', () => {
    const url = 'postgres://hub:p%40ss@db.example.net/flotilla?sslmode=verify-full';
    expect(parsePostgresUrl(url)).toEqual({ urls: [url], mustFindPrimary: false });
    expect(postgresHosts(url)).toEqual([{ host: 'db.example.net', port: 5432 }]);
    expect(postgresHosts('postgres:///flotilla?host=/run/postgresql')).toEqual([]);
  });

  it('of several servers becomes one URL for each, of which one must accept writes', () => {
    const url = 'postgresql://hub:p%40ss@a:5433,[::1],c/flotilla?target_session_attrs=read-write&sslmode=require';
    expect(parsePostgresUrl(url)).toEqual({
      urls: [
        'postgresql://hub:p%40ss@a:5433/flotilla?sslmode=require',
        'postgresql://hub:p%40ss@[::1]/flotilla?sslmode=require',
        'postgresql://hub:p%40ss@c/flotilla?sslmode=require',
      ],
      mustFindPrimary: true,
    });
    expect(postgresHosts(url)).toEqual([
      { host: 'a', port: 5433 },
      { host: '::1', port: 5432 },
      { host: 'c', port: 5432 },
    ]);
    expect(addressOf(url)).toBe('a:5433,[::1],c/flotilla');
    expect(addressOf('hub:secret')).toBe('DATABASE_URL');
  });

  it.each(['postgres://a/x?target_session_attrs=primary', 'postgres://a,b/x'])(
    'looks for the primary without more words (%s)',
    (url) => {
      expect(parsePostgresUrl(url).mustFindPrimary).toBe(true);
    },
  );

  it.each([
    ['mysql://a/x', 'must be a URL that begins with postgres'],
    ['postgres://a,,b/x', 'entry 2 is not'],
    ['postgres://a,b:port/x', 'entry 2 is not'],
    ['postgres://a,b/x?target_session_attrs=standby', 'read-write or primary'],
    ['postgres://a,b/x?target_session_attrs=any', 'read-write or primary'],
    [`postgres://${'a,'.repeat(40)}a/x`, 'at most 32 hosts'],
  ])('(%s) is refused: %s', (url, problem) => {
    expect(postgresUrlProblem(url)).toContain(problem);
  });

  it('is not repeated in its problem, because it may have a password', () => {
    for (const url of ['postgres://hub:se/cret@a,b/x', 'postgres://hub:secret@a:x/y', 'hub:secret'])
      expect(postgresUrlProblem(url) ?? '').not.toMatch(/cret/);
  });
});
