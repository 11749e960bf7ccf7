import { describe, expect, it } from 'vitest';
import { UrlSigner } from './url-signer.js';

const id = '0192aa00-0000-7000-8000-000000000001';
const signer = new UrlSigner('a secret of this hub');
const path = signer.pathOf({ purpose: 'download', id, expiresAt: 60_000 });

describe('UrlSigner', () => {
  it('makes paths that the firmware can parse', () => {
    expect(path).toMatch(/^\/t\/download\/[\w.-]+$/);
    expect(path.length).toBeLessThan(128);
  });

  it('accepts its tokens until they expire', () => {
    expect(signer.judge('download', path, 59_999)).toEqual({ kind: 'valid', id });
    expect(signer.judge('download', path, 60_000)).toEqual({ kind: 'expired' });
  });

  it('rejects tokens for another purpose, of another hub, or changed', () => {
    const invalid = { kind: 'invalid' };
    expect(signer.judge('vision', path, 0)).toEqual(invalid);
    expect(signer.judge('vision', path.replace('download', 'vision'), 0)).toEqual(invalid);
    expect(new UrlSigner('another secret').judge('download', path, 0)).toEqual(invalid);
    expect(signer.judge('download', path.replace('000001', '000002'), 0)).toEqual(invalid);
    expect(signer.judge('download', path.replace('.1o.', '.zz.'), 0)).toEqual(invalid);
    expect(signer.judge('download', `${path}A`, 0)).toEqual(invalid);
    expect(signer.judge('download', `/t/download/${'a'.repeat(10_000)}`, 0)).toEqual(invalid);
    expect(signer.judge('download', '/t/download/', 0)).toEqual(invalid);
  });
});
