/** Records first uses of credentials in batches. A use removes the secret and older credentials. */
import { BatchWriter } from '../../database/batch-writer.js';
import type { Queryable } from '../../database/database.js';
import { toJson } from '../../database/json-rows.js';
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

/** $1: rows. */
const NOTE_USES = {
  name: 'note-credential-uses',
  text: `WITH input AS MATERIALIZED (
           SELECT * FROM json_to_recordset($1) AS i(device_id text, generation int, mqtt_client_id text, at float8)
         ), locked AS MATERIALIZED (
           SELECT c.device_id, c.generation FROM device_credential c WHERE c.device_id IN (SELECT device_id FROM input)
           ORDER BY c.device_id, c.generation FOR UPDATE OF c
         ), used AS (
           UPDATE device_credential c SET used_at = to_timestamp(i.at / 1000), secret = NULL
           FROM locked l JOIN input i USING (device_id, generation)
           WHERE c.device_id = l.device_id AND c.generation = l.generation AND c.mqtt_client_id = i.mqtt_client_id
             AND c.used_at IS NULL
           RETURNING c.device_id, c.generation
         ), former AS (
           DELETE FROM device_credential f USING used u WHERE f.device_id = u.device_id AND f.generation < u.generation
         )
         INSERT INTO provisioning_change (device_id, transaction_id, at)
         SELECT DISTINCT device_id, pg_current_xact_id()::text::bigint, now() FROM used ORDER BY device_id
         ON CONFLICT (device_id) DO UPDATE SET transaction_id = excluded.transaction_id, at = excluded.at`,
};

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
      await database.query(NOTE_USES, [toJson(rows)]);
      return uses.map(() => undefined);
    },
  });
}
