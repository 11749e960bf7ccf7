/** Checks the certificate and its key: names, dates, chain and permissions. */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { isIP } from 'node:net';
import type { DoctorContext } from './doctor-context.js';
import { ok, problem, reasonOf, warning, type Finding } from './finding.js';

const CHECK = 'certificate';
const DAY_MS = 86_400_000;
/** Renewal normally happens before this. */
const SOON_DAYS = 21;
const PEM = /-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g;

export async function checkCertificate({ config, now }: DoctorContext): Promise<readonly Finding[]> {
  const { tls, publicUrl, host } = config;
  if (tls === undefined) {
    if (publicUrl?.startsWith('https:') === true)
      return [ok(CHECK, 'none; a proxy ends TLS, because FLOTILLA_PUBLIC_URL begins with https')];
    const isLocal = /^(127\.|localhost$|::1$)/.test(host);
    return isLocal
      ? [ok(CHECK, 'none, and the hub listens on loopback only')]
      : [warning(CHECK, 'none, so keys and credentials travel unencrypted', 'Set FLOTILLA_TLS_CERT, or use a proxy.')];
  }
  let files: readonly [chain: string, key: string];
  try {
    files = await Promise.all([readFile(tls.certFile, 'utf8'), readFile(tls.keyFile, 'utf8')]);
  } catch (error) {
    return [problem(CHECK, reasonOf(error), 'Let the user of the hub read both files.')];
  }
  const [chain, key] = files;
  const certificates = certificatesIn(chain);
  if (certificates === undefined)
    return [problem(CHECK, `${tls.certFile} has a damaged certificate`, 'Get the certificate and its chain again.')];
  const [leaf, ...others] = certificates;
  if (leaf === undefined)
    return [
      problem(CHECK, `${tls.certFile} has no certificate in PEM`, 'Name a file with the certificate and its chain.'),
    ];
  return [
    keyFinding(leaf, key),
    dateFinding(leaf, now()),
    ...namesOf(config).map((name) => nameFinding(leaf, name)),
    chainFinding(leaf, others),
    ...(await modeFinding(tls.keyFile)),
  ];
}

/** Undefined if one of them cannot be read. */
function certificatesIn(chain: string): readonly X509Certificate[] | undefined {
  try {
    return (chain.match(PEM) ?? []).map((pem) => new X509Certificate(pem));
  } catch {
    return undefined;
  }
}

function keyFinding(leaf: X509Certificate, key: string): Finding {
  try {
    if (leaf.checkPrivateKey(createPrivateKey(key))) return ok(CHECK, 'belongs to its key');
  } catch (error) {
    return problem(CHECK, `the key cannot be read: ${reasonOf(error)}`, 'Name a key in PEM without a passphrase.');
  }
  return problem(CHECK, 'does not belong to its key', 'Name the two files of one pair.');
}

function dateFinding(leaf: X509Certificate, now: number): Finding {
  const days = Math.floor((Date.parse(leaf.validTo) - now) / DAY_MS);
  const until = new Date(leaf.validTo).toISOString().slice(0, 10);
  if (Date.parse(leaf.validFrom) > now)
    return problem(CHECK, `is valid only from ${leaf.validFrom}`, 'Check the clock of this machine.');
  if (days < 0) return problem(CHECK, `expired on ${until}`, 'Renew it. Boards that check it cannot connect.');
  return days < SOON_DAYS
    ? warning(CHECK, `expires on ${until}, in ${daysText(days)}`, 'Check why it was not renewed.')
    : ok(CHECK, `is valid until ${until}`);
}

function daysText(days: number): string {
  if (days === 0) return 'less than a day';
  return days === 1 ? '1 day' : `${days} days`;
}

/** The names that devices and browsers use. */
function namesOf({ publicUrl, publicMqtt }: DoctorContext['config']): readonly string[] {
  const hosts = [
    ...(publicUrl === undefined ? [] : [new URL(publicUrl).hostname]),
    ...publicMqtt.map(({ endpoint }) => endpoint.replace(/:\d+$/, '')),
  ];
  return [...new Set(hosts.map((name) => name.replace(/^\[|\]$/g, '')))];
}

function nameFinding(leaf: X509Certificate, name: string): Finding {
  const isCovered = isIP(name) === 0 ? leaf.checkHost(name) : leaf.checkIP(name);
  return isCovered === undefined
    ? problem(
        CHECK,
        `is not for ${name}; its names are ${leaf.subjectAltName ?? 'none'}`,
        'Get a certificate for this name, or correct FLOTILLA_PUBLIC_URL and FLOTILLA_PUBLIC_MQTT.',
      )
    : ok(CHECK, `is for ${name}`);
}

function chainFinding(leaf: X509Certificate, others: readonly X509Certificate[]): Finding {
  if (leaf.checkIssued(leaf))
    return warning(CHECK, 'is self-signed', 'Boards accept only certificates of public authorities.');
  return others.some((other) => leaf.checkIssued(other))
    ? ok(CHECK, 'comes with the certificate of its issuer')
    : warning(CHECK, 'comes without the one of its issuer', 'Name the file with the full chain (fullchain.pem).');
}

async function modeFinding(file: string): Promise<readonly Finding[]> {
  const { mode } = await stat(file);
  return (mode & 0o007) === 0 ? [] : [warning(CHECK, `every user can read ${file}`, `Run: chmod o= ${file}`)];
}
