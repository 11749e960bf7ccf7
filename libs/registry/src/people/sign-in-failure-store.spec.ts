import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Registry } from '../index.js';
import { openRegistry } from '../index.js';
import { openTestDatabase } from '../test-database.js';
import type { TestDatabase } from '../test-database.js';
import type { FailureRun } from './sign-in-failure-store.js';

const FORGOTTEN_MS = 60_000;

let database: TestDatabase;
let registry: Registry;
let other: Registry;
let now: number;

beforeAll(async () => {
  database = await openTestDatabase();
  registry = await openRegistry({ databaseUrl: database.databaseUrl });
  other = await openRegistry({ databaseUrl: database.databaseUrl });
});

beforeEach(() => {
  now = Date.now();
});

afterAll(async () => {
  await other.close();
  await registry.close();
  await database.close();
});

/** Judges an attempt with a lock of a second after `most` failures. */
const begin = (subjects: readonly string[], at: number, most = 3, { signInFailures } = registry) =>
  signInFailures.begin(
    subjects,
    at,
    (_subject, { failures, lastAt }: FailureRun) => (failures >= most ? lastAt + 1_000 : undefined),
    FORGOTTEN_MS,
  );

const counted = { at: expect.any(Number), formerAt: expect.any(Map) } as const;

describe('attempts to sign in that failed', () => {
  it('are counted before they are judged, so that many at once get no further than one after another', async () => {
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, index) => begin(['account:x', 'address:y'], now, 3, index % 2 ? registry : other)),
    );
    expect(answers.filter((answer) => !('lockedUntil' in answer))).toHaveLength(3);
    for (const answer of answers) if ('lockedUntil' in answer) expect(answer).toEqual({ lockedUntil: now + 1_000 });
  });

  it('are not counted while locked, and forgotten after a while', async () => {
    const subjects = ['account:y'];
    for (const at of [now, now, now]) expect(await begin(subjects, at)).toEqual(counted);
    expect(await begin(subjects, now + 500)).toEqual({ lockedUntil: now + 1_000 });
    expect(await begin(subjects, now + 1_001)).toEqual(counted);
    expect(await begin(subjects, now + 1_500)).toEqual({ lockedUntil: now + 2_001 });
    for (const at of [now + 70_000, now + 70_000, now + 70_000]) expect(await begin(subjects, at)).toEqual(counted);
    expect(await begin(subjects, now + 70_000)).toEqual({ lockedUntil: now + 71_000 });
  });

  it('are counted and spared by many at once without waiting for each other', async () => {
    const subjects = ['account:a', 'address:b', 'browser:c'];
    await Promise.all(
      Array.from({ length: 150 }, async (_, index) => {
        const own = index % 2 ? registry : other;
        const turned = index % 3 ? subjects : subjects.toReversed();
        if (index % 2) await begin(turned, now, 1_000, own);
        else {
          const ended = index % 4 ? [] : [turned[0] ?? ''];
          await own.signInFailures.succeeded({ at: now, formerAt: new Map() }, { ended, spared: turned });
        }
      }),
    );
  });
});

describe('an attempt to sign in that succeeded', () => {
  /** With failures of others in the same network. */
  async function succeed(account: string, network: string, at: number, most: number): Promise<void> {
    const attempt = await begin([account, network], at, most);
    if ('lockedUntil' in attempt) throw new Error(`locked until ${attempt.lockedUntil}`);
    await registry.signInFailures.succeeded(attempt, { ended: [account], spared: [network] });
  }

  it('costs its network nothing', async () => {
    for (let round = 0; round < 5; round += 1) await succeed('account:z', 'address:z', now, 2);
  });

  it('does not lock its network for others, where many have failed before', async () => {
    for (let failure = 0; failure < 3; failure += 1) await begin(['address:office'], now, 4);
    for (const at of [now + 2_000, now + 2_001, now + 2_002]) await succeed('account:mia', 'address:office', at, 3);
    expect(await begin(['address:office'], now + 2_003)).toEqual(counted);
  });

  it('does not keep the failures before it from being forgotten', async () => {
    for (let failure = 0; failure < 3; failure += 1) await begin(['address:hall'], now, 4);
    await succeed('account:ada', 'address:hall', now + FORGOTTEN_MS - 1, 4);
    const attempt = await begin(['address:hall'], now + FORGOTTEN_MS + 1, 1);
    expect(attempt).toEqual(counted);
  });

  it('leaves the time of a failure that came meanwhile', async () => {
    const attempt = await begin(['address:mill'], now);
    if ('lockedUntil' in attempt) throw new Error('locked');
    await begin(['address:mill'], now + 500);
    await registry.signInFailures.succeeded(attempt, { ended: [], spared: ['address:mill'] });
    expect(await begin(['address:mill'], now + 1_499, 1)).toEqual({ lockedUntil: now + 1_500 });
  });
});
