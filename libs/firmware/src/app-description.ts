/**
 * The description that ESP-IDF puts at the beginning of an application's first segment: name,
 * version and build.
 */

/** Offset in the file: after the image's header and the first segment's. */
export const DESCRIPTION_OFFSET = 32;
export const DESCRIPTION_BYTES = 256;
const MAGIC = 0xabcd5432;

const SECURE_VERSION_AT = 4;

/** Offsets and sizes of its members, bytes. Texts end at the first NUL or fill their field. */
const members = {
  version: { at: 16, size: 32 },
  project: { at: 48, size: 32 },
  time: { at: 80, size: 16 },
  date: { at: 96, size: 16 },
  idfVersion: { at: 112, size: 32 },
  elfSha256: { at: 144, size: 32 },
} as const;

export interface AppDescription {
  readonly version: string;
  readonly project: string;
  /** As the compiler wrote it: `Aug  6 2026 08:49:23`. */
  readonly compiledAt: string;
  readonly idfVersion: string;
  /** Lower-case hex SHA-256 of the ELF file: distinguishes builds. Devices report it. */
  readonly elfSha256: string;
  /** Anti-rollback counter: a device that ran a higher one does not boot this image. */
  readonly secureVersion: number;
}

/** Returns undefined if these bytes, from DESCRIPTION_OFFSET, are not a description. */
export function readAppDescription(bytes: Uint8Array): AppDescription | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes.length < DESCRIPTION_BYTES || view.getUint32(0, true) !== MAGIC) return undefined;
  const { at, size } = members.elfSha256;
  return {
    version: text(bytes, members.version),
    project: text(bytes, members.project),
    compiledAt: `${text(bytes, members.date)} ${text(bytes, members.time)}`.trim(),
    idfVersion: text(bytes, members.idfVersion),
    elfSha256: toHex(bytes.subarray(at, at + size)),
    secureVersion: view.getUint32(SECURE_VERSION_AT, true),
  };
}

/** Writes the 256 bytes of a description. Texts that do not fit are cut. */
export function writeAppDescription({ elfSha256, secureVersion, ...texts }: AppDescription): Uint8Array {
  const bytes = new Uint8Array(DESCRIPTION_BYTES);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, MAGIC, true);
  view.setUint32(SECURE_VERSION_AT, secureVersion, true);
  const put = (value: string, { at, size }: { readonly at: number; readonly size: number }) =>
    bytes.set(
      [...value].slice(0, size).map((character) => character.charCodeAt(0) & 0xff),
      at,
    );
  put(texts.version, members.version);
  put(texts.project, members.project);
  put(texts.compiledAt.slice(0, 11), members.date);
  put(texts.compiledAt.slice(12), members.time);
  put(texts.idfVersion, members.idfVersion);
  bytes.set(
    (elfSha256.match(/../g) ?? []).map((pair) => Number.parseInt(pair, 16)),
    members.elfSha256.at,
  );
  return bytes;
}

export function toHex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** Removes unprintable characters, which build tools never write. */
function text(bytes: Uint8Array, { at, size }: { readonly at: number; readonly size: number }): string {
  const place = bytes.subarray(at, at + size);
  const end = place.indexOf(0);
  return String.fromCharCode(...(end < 0 ? place : place.subarray(0, end))).replace(/[^\x20-\x7e]/g, '');
}
