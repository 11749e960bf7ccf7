-- Records first uses of credentials. $1 rows.
WITH input AS MATERIALIZED (
  SELECT * FROM json_to_recordset($1) AS i(device_id text, generation int, mqtt_client_id text, at float8)
), locked AS MATERIALIZED (
  SELECT c.device_id, c.generation
  FROM (SELECT DISTINCT device_id FROM input ORDER BY device_id OFFSET 0) i
    -- By key, also where the plan was made over an empty table.
    CROSS JOIN LATERAL (
      SELECT c.device_id, c.generation FROM device_credential c WHERE c.device_id = i.device_id
      ORDER BY c.generation FOR UPDATE) c
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
ON CONFLICT (device_id) DO UPDATE SET transaction_id = excluded.transaction_id, at = excluded.at
