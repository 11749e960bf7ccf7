import { expect, it } from 'vitest';
import { readConfig } from './config.js';

const vision = { FLOTILLA_VISION_URL: 'https://models.example.net/v1', FLOTILLA_VISION_MODEL: 'eyes-1' };

it('has the key of the model without the line break of its file', () => {
  expect(readConfig({ ...vision, FLOTILLA_VISION_KEY: 'sk-1\n' }).vision).toMatchObject({ key: 'sk-1' });
});

it.each([
  [{ FLOTILLA_VISION_URL: 'ftp://models.example.net' }, 'FLOTILLA_VISION_URL must be a URL that begins with http:'],
  [{ FLOTILLA_VISION_URL: 'https://u:p@models.example.net' }, 'FLOTILLA_VISION_URL must have no user and no password'],
  [{ FLOTILLA_VISION_KEY: 'ключ' }, 'FLOTILLA_VISION_KEY must be plain letters, digits and signs on one line'],
  [{ FLOTILLA_VISION_KEY: 'one\ntwo' }, 'FLOTILLA_VISION_KEY must be plain letters, digits and signs on one line'],
])('refuses what no request can have: %j', (env, problem) => {
  expect(() => readConfig({ ...vision, ...env })).toThrow(problem);
});
