import type { EnrolmentLinkRow } from '@flotilla/registry';
import { expect, it } from 'vitest';
import { createDemoLink } from './demo-link.js';

const link = (id: string, more: Partial<EnrolmentLinkRow> = {}): EnrolmentLinkRow => ({
  id,
  name: 'demo',
  tags: ['demo'],
  maxDevices: 40,
  usedCount: 40,
  expiresAt: 600_000,
  revokedAt: undefined,
  ...more,
});

it('takes the place of the links of former starts, and leaves those of people alone', async () => {
  const links = [
    link('former'),
    link('revoked', { revokedAt: 5 }),
    link('of a person', { maxDevices: 3 }),
    link('for a week', { expiresAt: 604_800_000 }),
    link('tagged', { tags: ['demo', 'shop'] }),
    link('other', { name: 'shop' }),
  ];
  const done: unknown[] = [];
  const enrolments: Parameters<typeof createDemoLink>[0] = {
    links: () => Promise.resolve(links),
    revokeLink: (id, at) => {
      done.push([id, at]);
      return Promise.resolve(links.find((each) => each.id === id));
    },
    createLink: (made) => {
      done.push(made);
      return Promise.resolve({ link: link('new'), token: 'token' });
    },
  };
  expect(await createDemoLink(enrolments, 40, 1_000)).toBe('token');
  expect(done).toEqual([['former', 1_000], { name: 'demo', tags: ['demo'], maxDevices: 40, expiresAt: 601_000 }]);
});
