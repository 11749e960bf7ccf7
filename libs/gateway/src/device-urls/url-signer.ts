/**
 * Signs the URLs at which devices fetch or post something: `/t/<purpose>/<token>`. The token is the
 * device's only proof, so it names one thing, has one purpose and expires. [xiaozhi §6]
 */
import { createHmac, createSecretKey, timingSafeEqual } from 'node:crypto';
import type { KeyObject } from 'node:crypto';

/** Each purpose has its own path, and a token is valid for one purpose. */
type UrlPurpose = 'download' | 'vision' | 'snapshot' | 'preview';

interface UrlGrant {
  readonly purpose: UrlPurpose;
  /** The object of the permission: an id of the hub, `[A-Za-z0-9_-]+`. */
  readonly id: string;
  /** Milliseconds since the Unix epoch, rounded down to seconds. */
  readonly expiresAt: number;
}

type UrlVerdict = { readonly kind: 'valid'; readonly id: string } | { readonly kind: 'expired' | 'invalid' };

/** Characters of the longest path; most have about 100. A device id takes up to 1,024 of them. */
const PATH_LENGTH_MAX = 1_280;
const tokenForm = /^([\w-]+)\.([0-9a-z]{1,9})\.([\w-]{43})$/;
/** Separates these tokens from other uses of the secret. */
const KEY_CONTEXT = 'flotilla device urls';

export class UrlSigner {
  readonly #key: KeyObject;

  /** All processes of a hub share the secret, because one signs a URL and another checks it. */
  constructor(secret: string) {
    this.#key = createSecretKey(createHmac('sha256', secret).update(KEY_CONTEXT).digest());
  }

  /** `/t/<purpose>/<token>`: the firmware's URL parser supports no colon and no query. */
  pathOf(grant: UrlGrant): string {
    const claims = `${grant.id}.${Math.floor(grant.expiresAt / 1000).toString(36)}`;
    return `/t/${grant.purpose}/${claims}.${this.#signature(grant.purpose, claims).toString('base64url')}`;
  }

  /** Checks the path of a request, without its query. */
  judge(purpose: UrlPurpose, path: string, now: number): UrlVerdict {
    const prefix = `/t/${purpose}/`;
    const token = path.length <= PATH_LENGTH_MAX && path.startsWith(prefix) ? path.slice(prefix.length) : '';
    const [, id, expiry, signature] = tokenForm.exec(token) ?? [];
    if (id === undefined || expiry === undefined || signature === undefined) return { kind: 'invalid' };
    const expected = this.#signature(purpose, `${id}.${expiry}`);
    const given = Buffer.from(signature, 'base64url');
    if (given.length !== expected.length || !timingSafeEqual(given, expected)) return { kind: 'invalid' };
    return Number.parseInt(expiry, 36) * 1000 > now ? { kind: 'valid', id } : { kind: 'expired' };
  }

  #signature(purpose: UrlPurpose, claims: string): Buffer {
    return createHmac('sha256', this.#key).update(`${purpose}.${claims}`).digest();
  }
}
