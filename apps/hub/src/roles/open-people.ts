/** People who sign in, and the first admin. */
import { Argon2Passwords } from '@flotilla/api';
import { People, SignIns } from '@flotilla/fleet';
import type { SharedServices } from './shared-services.js';
import { keeperOf } from '../secrets/first-secrets.js';
import { systemClock } from '../system-clock.js';

interface OpenPeople {
  readonly people: People;
  readonly signIns: SignIns;
}

export async function openPeople({ bus, config, logger, registry }: SharedServices): Promise<OpenPeople> {
  const { firstAdmin, limits } = config.people;
  const deps = { registry, bus, clock: systemClock, logger, passwords: new Argon2Passwords(), limits };
  const people = new People(deps);
  await people.ensureFirstAdmin(
    firstAdmin,
    keeperOf(config, { file: 'admin.password', what: `password of ${firstAdmin.email}` }),
  );
  return { people, signIns: new SignIns(deps) };
}
