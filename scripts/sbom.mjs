/**
 * `npm run sbom`: the bill of materials of what runs in production, CycloneDX as JSON, from the lock file. To standard output, or to the file that is named.
 * The web console's libraries are compiled into it and count as development dependencies: `npm run sbom -- --with-development <file>` has those, too.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { root } from './build.mjs';
import { npm } from './npm.mjs';

const args = process.argv.slice(2);
const isEverything = args.includes('--with-development');
const [file] = args.filter((arg) => !arg.startsWith('--'));

// Not with --omit dev: npm then leaves out packages of production, too, such as zod, that a development package shares.
const { status, stdout, stderr } = npm(['sbom', '--sbom-format', 'cyclonedx']);
if (status !== 0) {
  console.error(`npm could not make the bill of materials:\n${stderr}`);
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
