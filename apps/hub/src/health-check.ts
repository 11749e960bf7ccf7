/**
 * The container's health check: asks the hub beside it whether it is alive, with the hub's own settings. Exit code 0 where it is, else 1. The certificate is not checked:
 * it is for the name that others use, and the question does not leave this machine.
 */
import { existsSync } from 'node:fs';
import { get as getHttp } from 'node:http';
import { get as getHttps } from 'node:https';

/** A hub that needs longer is not well, ms. */
const ANSWERS_WITHIN_MS = 2_500;

const DEFAULT_PORT = '8080';

/** Where a listener on all addresses is reached from here. */
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
