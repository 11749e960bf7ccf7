/** Copies the SQL files of the registry next to its compiled modules, which read them on start. */
import { copyFileSync, mkdirSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const registry = fileURLToPath(new URL('../libs/registry/', import.meta.url));

export function copySql() {
  for (const file of readdirSync(path.join(registry, 'src'), { recursive: true, encoding: 'utf8' })) {
    if (!file.endsWith('.sql')) continue;
    const target = path.join(registry, 'dist', file);
    mkdirSync(path.dirname(target), { recursive: true });
    copyFileSync(path.join(registry, 'src', file), target);
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) copySql();
