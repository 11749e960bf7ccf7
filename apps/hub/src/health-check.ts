/**
 * The container's health check: exit code 0 when the hub is alive, else 1. Uses the hub's settings.
 * Does not check the certificate, whose name is not that of this local connection.
 */
import { get as getHttp } from 'node:http';
import { get as getHttps } from 'node:https';
import { messageOf } from './error-message.js';
import { loadEnvFile } from './environment/env-file.js';
import { healthTarget } from './http/health-target.js';

/** A slower answer counts as unhealthy, ms. */
const ANSWERS_WITHIN_MS = 2_500;

function check(): void {
  loadEnvFile();
  const { host, port } = healthTarget(process.env);
  const end = (problem?: string) =>
    endWith(problem === undefined ? undefined : `The hub at ${host}:${port} is not alive: ${problem}.`);
  const target = { host, port, path: '/health/live', timeout: ANSWERS_WITHIN_MS };
  const asked = process.env['FLOTILLA_TLS_CERT'] ? getHttps({ ...target, rejectUnauthorized: false }) : getHttp(target);
  asked.on('response', ({ statusCode }) => end(statusCode === 200 ? undefined : `status ${statusCode}`));
  asked.on('timeout', () => end('no answer'));
  asked.on('error', (error) => end(error.message));
}

function endWith(problem: string | undefined): never {
  if (problem !== undefined) process.stderr.write(`${problem}\n`);
  process.exit(problem === undefined ? 0 : 1);
}

try {
  check();
} catch (error) {
  endWith(messageOf(error));
}
