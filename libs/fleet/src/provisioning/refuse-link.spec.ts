import type { EnrolmentLinkRow } from '@flotilla/registry';
import { LINKS_MAX } from '@flotilla/registry';
import { expect, it } from 'vitest';
import { refuseAnotherLink } from './refuse-link.js';

const NOW = 1_000;
const valid = { expiresAt: NOW + 1, revokedAt: undefined } as EnrolmentLinkRow;
const full = Array<EnrolmentLinkRow>(LINKS_MAX).fill(valid);

it.each([
  ['as many links as there may be', full, 'LIMIT_EXCEEDED'],
  ['one of them expired', [...full.slice(1), { ...valid, expiresAt: NOW }], undefined],
  ['one of them revoked', [...full.slice(1), { ...valid, revokedAt: NOW }], undefined],
] as const)('another link beside %s', (_what, links, code) => {
  expect(refuseAnotherLink(links, NOW)?.code).toBe(code);
});
