/** Data of an audit entry as it may be kept: without secrets, and bounded. The trail is read by more people than the devices' secrets are for. */
import { createHash } from 'node:crypto';

/** Members whose value is a secret, whoever named them: devices and operators choose argument names freely. */
const SECRET_NAME = /pass(word|wd|phrase)?$|secret|token|credential|authori[sz]ation|api[_-]?key|private[_-]?key|^(key|pin|psk|pwd)$/i;
/**
 * The part of a URL that carries permissions: who signs in, and what signs it. Who signs in ends at the last `@`, and has a colon that no port follows where
 * somebody wrote a password with a slash in it.
 */
const URL_SECRETS = /^([a-z][a-z0-9+.-]*:\/\/)(?:[^/?#]*@|[^/?#@:[]*:(?!\d+(?:[/?#]|$)).*@)?([^?#]*)(\?[^#]*)?(#.*)?$/is;

export const MASK = '***';

/** JSON of one entry's data, bytes: a job's arguments and filter fit; what is larger is told by its hash. */
const DATA_BYTES_MAX = 8 * 1024;

export function maskedData(data: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  // Through JSON once: what is kept is what was hashed, and members that are undefined are not there.
  const masked = JSON.parse(JSON.stringify(data, maskMember)) as Readonly<Record<string, unknown>>;
  return Object.fromEntries(Object.entries(masked).map(([name, value]) => [name, bounded(value, DATA_BYTES_MAX / 2)]));
}

function maskMember(name: string, value: unknown): unknown {
  if (value !== null && value !== '' && typeof value !== 'boolean' && SECRET_NAME.test(name)) return MASK;
  return typeof value === 'string' ? maskedUrl(value) : value;
}

function maskedUrl(text: string): string {
  const parts = URL_SECRETS.exec(text);
  if (parts === null) return text;
  const [, scheme = '', path = '', query = ''] = parts;
  return `${scheme}${path}${query === '' ? '' : `?${MASK}`}`;
}

/** A value that is too long for the trail is told by its size and hash: enough to prove later what it was. */
function bounded(value: unknown, bytesMax: number): unknown {
  const json = JSON.stringify(value);
  const bytes = Buffer.byteLength(json);
  return bytes <= bytesMax ? value : { bytes, sha256: createHash('sha256').update(json).digest('hex') };
}
