import { expect, it } from 'vitest';
import { notMade } from './cluster.js';

it('says what to do where the user id of the hub has no name, as in a container', () => {
  const reason = 'Command failed: initdb\ninitdb: could not look up effective user ID 4242: user does not exist';
  expect(notMade('/data/postgres', reason)).toContain('set DATABASE_URL');
  expect(notMade('/data/postgres', reason)).toContain(reason);
  expect(notMade('/data/postgres', 'No space left on device')).not.toContain('DATABASE_URL');
});
