import { openRegistry } from '@flotilla/registry';
import type { Registry } from '@flotilla/registry';
import { openTestDatabase } from '@flotilla/registry/test-database';
import type { TestDatabase } from '@flotilla/registry/test-database';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { admin, realClock } from '../fleet-fixture.suite.js';
import { defaultWebhookLimits } from './webhook-limits.js';
import { Webhooks, webhookRevision } from './webhooks.js';

const trusted = 'http://receiver.example';
const noSender = { send: () => Promise.reject(new TypeError('Nothing is sent in this spec.')) };

let database: TestDatabase;
let registry: Registry;

beforeAll(async () => {
  database = await openTestDatabase();
  registry = await openRegistry({ databaseUrl: database.databaseUrl });
});
afterAll(async () => {
  await registry.close();
  await database.close();
});

const webhooks = () =>
  new Webhooks({ registry, clock: realClock, announce: () => undefined, sender: noSender, trustedOrigins: [trusted] });

describe('a change of a webhook', () => {
  it('is refused if it was made from another revision', async () => {
    const request = { url: `${trusted}/edited`, types: ['job.*'], enabled: true };
    const made = await webhooks().create(request, admin);
    if ('refusal' in made) throw new TypeError(made.refusal.message);
    const { id } = made.webhook;
    const edit = (types: readonly string[], expected?: string) =>
      webhooks().update(id, { ...request, types }, admin, expected);
    const revision = webhookRevision(made.webhook);
    expect(await edit(['device.*'], revision)).toMatchObject({ webhook: { types: ['device.*'] } });
    expect(await edit(['alert.*'], revision)).toMatchObject({
      refusal: { code: 'CONFLICT', path: ['expectedRevision'] },
    });
    expect(await registry.webhooks.all()).toMatchObject([{ types: ['device.*'] }]);
    expect(await edit(['alert.*'])).toMatchObject({ webhook: { types: ['alert.*'] } });
    await webhooks().remove(id, admin);
  });
});

describe('a webhook with a type of another version of the hub', () => {
  it('can be changed, but not get another such type', async () => {
    const change = { at: Date.now(), webhooksMax: 99, by: { actor: 'the spec' } };
    const stored = { url: `${trusted}/old`, types: ['device.*', 'gadget.lit'], enabled: true };
    const { id } = (await registry.webhooks.create({ ...stored, secret: 's' }, change)) ?? { id: '' };
    const edit = (types: readonly string[]) => webhooks().update(id, { ...stored, types, enabled: false }, admin);
    expect(await edit(stored.types)).toMatchObject({ webhook: { enabled: false, types: stored.types } });
    expect(await edit(['gadget.out'])).toMatchObject({ refusal: { code: 'INVALID' } });
    await webhooks().remove(id, admin);
  });
});

describe('addresses of webhooks', () => {
  const refusalOf = async (url: string) => {
    const made = await webhooks().create({ url, types: ['*'], enabled: true }, admin);
    return 'refusal' in made ? made.refusal.code : undefined;
  };

  it.each([
    'http://127.0.0.1/',
    'http://localhost:9000/',
    'http://[::1]/',
    'http://[::ffff:10.0.0.1]/',
    'http://2130706433/',
    'http://0x7f.1/',
    'http://169.254.169.254/latest/meta-data',
    'http://100.64.0.1/',
    'http://[fd00::1]/',
    'http://[64:ff9b::a00:1]/',
    'https://224.0.0.1/',
  ])('inside a network are refused: %s', async (url) => {
    expect(await refusalOf(url)).toBe('URL_FORBIDDEN');
  });

  it.each([
    'ftp://example.com/',
    'https://user:pass@example.com/',
    'nonsense',
    '/relative',
    `https://example.com/${'x'.repeat(2_048)}`,
  ])('that are not webhook URLs are refused: %s', async (url) => {
    expect(await refusalOf(url)).toBe('INVALID');
  });

  it('are limited in number, and for events that the hub writes', async () => {
    const make = (types: readonly string[]) => webhooks().create({ url: `${trusted}/`, types, enabled: true }, admin);
    for (const types of [
      [],
      ['Device'],
      ['device.'],
      ['device.conected'],
      ['*.x'],
      ['job*'],
      ['work.*'],
      Array<string>(51).fill('*'),
    ])
      expect(await make(types)).toMatchObject({ refusal: { code: 'INVALID', path: ['input', 'types'] } });
    for (let index = 0; index < defaultWebhookLimits.webhooksMax; index += 1) await make(['job.*']);
    expect(await make(['job.*'])).toMatchObject({ refusal: { code: 'LIMIT_EXCEEDED' } });
  });
});
