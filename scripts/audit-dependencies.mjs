/**
 * `npm run audit:dependencies`: known vulnerabilities of production packages. Exit code 0: no
 * high or critical ones; 1: some; 3: the registry did not answer, so nothing is known. Other
 * arguments go to npm, as in `-- --audit-level=low`.
 */
import { npm } from './npm.mjs';

const EXIT = { found: 1, unknown: 3 };
const levels = ['info', 'low', 'moderate', 'high', 'critical'];

const args = process.argv.slice(2);
const { status, stdout, stderr } = npm(['audit', '--omit', 'dev', '--audit-level=high', ...args, '--json']);
const report = parsed(stdout);
if (report?.metadata?.vulnerabilities === undefined) {
  const reason = report?.message ?? report?.error?.summary ?? stderr.trim().split('\n').at(-1);
  console.error(`The registry returned no list of vulnerabilities, so nothing was checked: ${reason}`);
  console.error('Run this where the public npm registry can be reached, or name a registry with --registry=<url>.');
  process.exit(EXIT.unknown);
}
for (const { name, severity, range, via, fixAvailable } of Object.values(report.vulnerabilities)) {
  const titles = via.map((reason) =>
    typeof reason === 'string' ? `through ${reason}` : `${reason.title} ${reason.url}`,
  );
  console.log(
    [severity, `${name} ${range}`, fixAvailable ? 'fixed in a newer version' : 'no fix yet', titles.join('; ')].join(
      '\t',
    ),
  );
}
const counts = levels.map((level) => `${report.metadata.vulnerabilities[level]} ${level}`).join(', ');
const { vulnerabilities, dependencies } = report.metadata;
console.log(`${vulnerabilities.total} vulnerable packages of ${dependencies.prod} in production: ${counts}.`);
process.exitCode = status === 0 ? 0 : EXIT.found;

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
