/** Records first uses of credentials in batches. A use removes the secret and older credentials. */
import { BatchWriter } from '../../database/batch-writer.js';
import type { Queryable } from '../../database/database.js';
import { toJson } from '../../database/json-rows.js';
import { sql, SqlFile } from '../../database/sql-file.js';
import type { RegistryLogger } from '../../registry-logger.js';

export interface CredentialUse {
  readonly deviceId: string;
  readonly generation: number;
  /** Distinguishes the generation before and after a new enrolment. */
  readonly mqttClientId: string;
  /** Milliseconds since the Unix epoch. */
  readonly at: number;
}

const ROWS_PER_WRITE = 500;
/** As many as a gateway has sessions. Beyond it, the next login of a device is recorded. */
const DEPTH_MAX = 20_000;
const GATHER_MS = 20;

const NOTE_USES = new SqlFile(new URL('./note-uses.sql', import.meta.url), {
  name: 'note-credential-uses',
  parameters: { rows: sql.json },
  row: {},
});

export function openUseWriter(database: Queryable, logger: RegistryLogger): BatchWriter<CredentialUse, undefined> {
  return new BatchWriter<CredentialUse, undefined>({
    name: 'credential_use',
    keyOf: (use) => use.deviceId,
    rowsPerWrite: ROWS_PER_WRITE,
    depthMax: DEPTH_MAX,
    gatherMs: GATHER_MS,
    logger,
    write: async (uses) => {
      const rows = uses.map(({ deviceId, generation, mqttClientId, at }) => ({
        device_id: deviceId,
        generation,
        mqtt_client_id: mqttClientId,
        at,
      }));
      await NOTE_USES.run(database, { rows: toJson(rows) });
      return uses.map(() => undefined);
    },
  });
}
