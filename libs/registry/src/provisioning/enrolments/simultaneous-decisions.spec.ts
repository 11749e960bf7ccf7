/** Two transactions about one board at the same moment: one waits, and sees what the other did. */
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { openRegistry } from '../../open-registry.js';
import type { Registry } from '../../registry.js';
import { openTestDatabase } from '../../test-database.js';
import type { TestDatabase } from '../../test-database.js';
import { logIn, newContact } from '../provisioning-fixture.suite.js';

const admin = { actor: 'admin', remoteAddress: undefined };

let database: TestDatabase;
let registry: Registry;
/** Holds the lock of the audit trail: a transaction that writes there stops before its commit. */
let holder: pg.Client;

beforeAll(async () => {
  database = await openTestDatabase();
  registry = await openRegistry({ databaseUrl: database.databaseUrl });
});
beforeEach(async () => {
  holder = new pg.Client({ connectionString: database.databaseUrl });
  await holder.connect();
  await holder.query(`BEGIN`);
  await holder.query(`SELECT pg_advisory_xact_lock(hashtext('flotilla.audit'))`);
});
afterEach(() => holder.end());
afterAll(async () => {
  await registry.close();
  await database.close();
});

/** Resolves when so many transactions wait for a lock in this database. */
const waiting = (count: number) =>
  expect
    .poll(async () => {
      const text = `SELECT FROM pg_locks WHERE NOT granted
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;
      return (await holder.query(text)).rowCount;
    })
    .toBe(count);

it('leaves a device as it was registered, although its board is admitted meanwhile', async () => {
  const contact = newContact();
  const clientUuid = randomUUID();
  const device = { ...contact, clientUuid, name: 'Shelf 7', tags: ['shop'] };
  const registering = registry.enrolments.register([{ ...device, dialect: 'XIAOZHI', transport: 'MQTT' }], admin);
  await waiting(1);
  const admitting = registry.enrolments.admit(contact);
  await waiting(2);
  await holder.query('COMMIT');
  const answer = await registering;
  if (answer.kind !== 'registered') throw new TypeError(`The registration ended ${answer.kind}.`);
  expect(await admitting).toBeUndefined();
  const known = answer.devices[0]?.known;
  if (known === undefined) throw new TypeError('The registration has no credential.');
  expect((await logIn(registry, known)).kind).toBe('granted');
  expect(await registry.devices.find(contact.deviceId)).toMatchObject({ name: 'Shelf 7', tags: ['shop'] });
});

it('does not reject a board that is approved meanwhile', async () => {
  const contact = newContact();
  const { code } = await registry.enrolments.request(contact);
  const [pending] = (await registry.enrolments.page({ first: 1 })).rows;
  const approving = registry.enrolments.approve({ code, approver: 'admin', confirm: false, at: Date.now() }, admin);
  await waiting(1);
  const rejecting = registry.enrolments.reject(pending?.id ?? '', admin);
  await waiting(2);
  await holder.query('COMMIT');
  expect(await approving).toMatchObject({ kind: 'approved' });
  expect(await rejecting).toBeUndefined();
});
