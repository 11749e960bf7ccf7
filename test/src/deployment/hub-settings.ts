/** The settings of the hub and the defaults of its ports, as its sources declare them. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const folder = fileURLToPath(new URL('../../../apps/hub/src/settings', import.meta.url));
const sources = readdirSync(folder)
  .filter((name) => /^config\.ts$|-settings\.ts$/.test(name))
  .map((name) => readFileSync(path.join(folder, name), 'utf8'))
  .join('\n');

/** Names, in order. */
export const hubSettings: readonly string[] = [
  ...new Set([...sources.matchAll(/^ {2}([A-Z][A-Z0-9_]+): /gm)].map(([, name = '']) => name)),
].sort();

/** Default ports by their settings. */
export const defaultPorts: ReadonlyMap<string, number> = new Map(
  [...sources.matchAll(/^ {2}(FLOTILLA_[A-Z]+_PORT): port(?:OrOff)?\((\d+)\)/gm)].map(([, name = '', port]) => [
    name,
    Number(port),
  ]),
);
