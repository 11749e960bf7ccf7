/** The version of the repository: in each package.json, package-lock.json, code and documents. */

const FORM = /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)$/;

/** Throws if `next` is not a version after `current`. */
export function requireNext(current, next) {
  const [, ...to] = FORM.exec(next ?? '') ?? [];
  if (to.length === 0) throw new Error(`"${next ?? ''}" is not a version. Use: npm run release -- 0.2.0 [--apply]`);
  const [, ...from] = FORM.exec(current) ?? [];
  const place = to.findIndex((number, index) => number !== from[index]);
  if (place === -1 || Number(to[place]) < Number(from[place] ?? 0))
    throw new Error(`${next} is not after ${current}, the version of package.json.`);
}

/** A package.json with this version; its formatting stays. */
export function manifestWith(text, version) {
  return text.replace(/^( {2}"version": ")[^"]+(")/m, `$1${version}$2`);
}

/** package-lock.json with this version at the root and at each workspace. */
export function lockWith(text, version, workspaces) {
  const lock = JSON.parse(text);
  lock.version = version;
  for (const place of ['', ...workspaces]) if (lock.packages[place]?.version) lock.packages[place].version = version;
  return `${JSON.stringify(lock, undefined, 2)}\n`;
}

/** Files that name the version: first steps in documents, and what the hub says of itself. */
export const mentioning = [
  'README.md',
  'docs/command-line.md',
  'docs/kubernetes.md',
  'docs/wire.md',
  'libs/api/src/mcp/session/request-server.ts',
  'libs/mcp/src/messages/initialize.ts',
];

const MENTION =
  /(flotilla-(?:hub|cli)-|flotilla:|newTag: |\bversion: '|"flotilla","version":")\d+\.\d+\.\d+(?=\.tgz|['"\s])/g;

/** A text with this version in names of packages, tags of images, and the version of the hub. */
export function mentionsWith(text, version) {
  return text.replace(MENTION, `$1${version}`);
}
