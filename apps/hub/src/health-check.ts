/**
 * The container's health check: exit code 0 when the hub is alive, else 1. Uses the hub's settings.
 * Does not check the certificate, whose name is not that of this local connection.
 */
import { existsSync } from 'node:fs';
import { get as getHttp } from 'node:http';
import { get as getHttps } from 'node:https';

/** A slower answer counts as unhealthy, ms. */
const ANSWERS_WITHIN_MS = 2_500;

const DEFAULT_PORT = '8080';

/** Where a listener on all addresses is reached locally. */
const everywhere: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' };

if (existsSync('.env')) process.loadEnvFile('.env');
const { FLOTILLA_HOST: host, FLOTILLA_HTTP_PORT: port, FLOTILLA_TLS_CERT: certificate } = process.env;
const listensAt = host || '127.0.0.1';
const target = {
  host: everywhere[listensAt] ?? listensAt,
  port: Number(port || DEFAULT_PORT),
  path: '/health/live',
  timeout: ANSWERS_WITHIN_MS,
};

function end(problem?: string): never {
  if (problem !== undefined)
    process.stderr.write(`The hub at ${target.host}:${target.port} is not alive: ${problem}.\n`);
  process.exit(problem === undefined ? 0 : 1);
}

const asked = certificate ? getHttps({ ...target, rejectUnauthorized: false }) : getHttp(target);
asked.on('response', ({ statusCode }) => end(statusCode === 200 ? undefined : `status ${statusCode}`));
asked.on('timeout', () => end('no answer'));
asked.on('error', (error) => end(error.message));
