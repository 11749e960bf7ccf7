import { expect, it } from 'vitest';
import { changesOf } from './recurring-input';

it('finds what a form has changed, and nothing else', () => {
  const opened = { name: 'Night', cron: '0 22 * * *', timeZone: 'UTC' };
  expect(changesOf(opened, { ...opened, cron: '30 22 * * *' })).toEqual({ cron: '30 22 * * *' });
  expect(changesOf(opened, { ...opened })).toEqual({});
});
