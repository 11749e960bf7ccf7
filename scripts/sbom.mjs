/**
 * `npm run sbom [-- <file>]`: writes the bill of materials of production packages (CycloneDX JSON).
 * The libraries of the web console are compiled into it and are development dependencies;
 * `--with-development` includes them.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { root } from './build.mjs';
import { npm } from './npm.mjs';

const args = process.argv.slice(2);
const isEverything = args.includes('--with-development');
const [file] = args.filter((arg) => !arg.startsWith('--'));

// Not with --omit dev: npm then also omits production packages that development packages share.
const { status, stdout, stderr } = npm(['sbom', '--sbom-format', 'cyclonedx']);
if (status !== 0) {
  console.error(`npm wrote no bill of materials:\n${stderr}`);
  process.exit(1);
}
const bill = JSON.parse(stdout);
// npm names the root after the folder of the clone.
bill.metadata.component.name = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')).name;
if (!isEverything) keepProduction(bill);
const text = `${JSON.stringify(bill, undefined, 2)}\n`;
if (file === undefined) process.stdout.write(text);
else writeFileSync(file, text);

function keepProduction(bill) {
  const isDevelopment = ({ properties = [] }) =>
    properties.some(({ name, value }) => name === 'cdx:npm:package:development' && value === 'true');
  bill.components = bill.components.filter((component) => !isDevelopment(component));
  const kept = new Set([bill.metadata.component, ...bill.components].map((component) => component['bom-ref']));
  bill.dependencies = bill.dependencies
    .filter(({ ref }) => kept.has(ref))
    .map((entry) => ({ ...entry, dependsOn: entry.dependsOn.filter((ref) => kept.has(ref)) }));
}
