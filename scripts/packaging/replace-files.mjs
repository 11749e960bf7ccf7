/** Writes the files of a program while others may build or start the same program. */
import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';

/**
 * Makes `files` (`path` and `text`) the only ones of the folder, each in one step. What is the same
 * stays untouched. New files come first, because those that are replaced may import them.
 */
export async function replaceFiles(folder, files) {
  await mkdir(folder, { recursive: true });
  const present = await readdir(folder);
  const isPresent = (file) => present.includes(path.basename(file.path));
  const aside = await mkdtemp(`${folder}-`);
  try {
    await Promise.all(files.filter((file) => !isPresent(file)).map((file) => replaceFile(aside, file)));
    await Promise.all(files.filter(isPresent).map((file) => replaceFile(aside, file)));
  } finally {
    await rm(aside, { recursive: true });
  }
  const kept = new Set(files.map((file) => path.basename(file.path)));
  const former = (await readdir(folder)).filter((name) => !kept.has(name));
  await Promise.all(former.map((name) => rm(path.join(folder, name), { recursive: true, force: true })));
}

async function replaceFile(aside, { path: file, text }) {
  if ((await readFile(file, 'utf8').catch(() => undefined)) === text) return;
  const made = path.join(aside, path.basename(file));
  await writeFile(made, text);
  await rename(made, file);
}
