/**
 * `npm run audit:dependencies`: known vulnerabilities of what runs in production, as the registry knows them. Exit code 0: none of level high or critical; 1: some;
 * 3: the registry did not answer the question, as many mirrors do not, so nothing is known. Other arguments go to npm, e.g. `-- --audit-level=low`.
 */
import { npm } from './npm.mjs';

const EXIT = { found: 1, unknown: 3 };
const levels = ['info', 'low', 'moderate', 'high', 'critical'];

const args = process.argv.slice(2);
const { status, stdout, stderr } = npm(['audit', '--omit', 'dev', '--audit-level=high', ...args, '--json']);
const report = parsed(stdout);
if (report?.metadata?.vulnerabilities === undefined) {
  const reason = report?.message ?? report?.error?.summary ?? stderr.trim().split('\n').at(-1);
  console.error(`The registry did not say which vulnerabilities it knows, so nothing was checked: ${reason}`);
  console.error('Run this where the public npm registry can be reached, or name a registry with --registry=<url>.');
  process.exit(EXIT.unknown);
}
for (const { name, severity, range, via, fixAvailable } of Object.values(report.vulnerabilities)) {
  const titles = via.map((reason) =>
    typeof reason === 'string' ? `by way of ${reason}` : `${reason.title} ${reason.url}`,
  );
  console.log(
    `${severity}\t${name} ${range}\t${fixAvailable ? 'fixed in a newer version' : 'no fix yet'}\t${titles.join('; ')}`,
  );
}
const counts = levels.map((level) => `${report.metadata.vulnerabilities[level]} ${level}`).join(', ');
console.log(
  `${report.metadata.vulnerabilities.total} vulnerable packages of ${report.metadata.dependencies.prod} in production: ${counts}.`,
);
process.exitCode = status === 0 ? 0 : EXIT.found;

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
