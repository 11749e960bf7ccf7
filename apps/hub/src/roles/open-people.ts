/** People who sign in, and the first of them. */
import { Argon2Passwords } from '@flotilla/api';
import { People, SignIns } from '@flotilla/fleet';
import type { Ground } from './ground.js';
import { writeSecret } from '../settings/secret-file.js';
import { systemClock } from '../system-clock.js';

export interface OpenPeople {
  readonly people: People;
  readonly signIns: SignIns;
}

export async function openPeople({ bus, config, logger, registry }: Ground): Promise<OpenPeople> {
  const { firstAdmin, limits } = config.people;
  const deps = { registry, bus, clock: systemClock, logger, passwords: new Argon2Passwords(), limits };
  const people = new People(deps);
  const made = await people.ensureFirstAdmin(firstAdmin);
  if (made !== undefined && firstAdmin.password === undefined) {
    // As with the admin key: said once, whatever the log level, because nobody can ask for it again.
    const file = config.databaseUrl === undefined ? await writeSecret(config.dataDir, 'admin.password', made) : undefined;
    process.stderr.write(`Password of ${firstAdmin.email}, shown this once${file ? ` and kept in ${file}` : ''}: ${made}\n`);
  }
  return { people, signIns: new SignIns(deps) };
}
