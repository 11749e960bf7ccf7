-- Rows of a small hub, for the tables of 0001_first_tables. first-migration.tar.gz is a backup of them, made by a
-- hub between 0.1.0 and the next version: 0.1.0 itself had no backups.
INSERT INTO device (id, name, dialect, model, firmware_version, reachability, transport, tags, enrolled_at, last_seen_at)
  VALUES ('02:00:00:00:0f:01', 'Lobby 1', 'XIAOZHI', 'esp-box-3', '2.0.4', 'ALWAYS', 'MQTT', ARRAY['lobby'],
          '2026-11-20T08:00:00Z', '2026-11-22T08:00:00Z'),
         ('02:00:00:00:0f:02', 'Lobby 10', 'XIAOZHI', 'esp-box-3', '2.0.3', 'ALWAYS', 'WEBSOCKET', ARRAY['lobby', 'bar'],
          '2026-11-20T08:00:00Z', '2026-11-22T08:00:00Z'),
         ('greenhouse-1', NULL, 'MCPU', 'esp32', NULL, 'ALWAYS', 'TCP', ARRAY[]::text[], NULL, NULL);
INSERT INTO device_group (id, name, filter, time_zone)
  VALUES ('01990000-0000-7000-8000-000000000001', 'Lobby', '{"tags":["lobby"]}', 'Europe/Berlin');
INSERT INTO webhook (id, url, types, secret, created_by)
  VALUES ('01990000-0000-7000-8000-000000000002', 'https://hooks.example.com/a', ARRAY['job.*'], 'whsec_former', 'admin');
INSERT INTO job (id, name, tool, arguments, devices, state, conclusion, offline, expires_at, call_timeout_ms,
    max_in_flight, idempotent, total, created_by, may_call_user_only, idempotency_key, request_hash, created_at,
    started_at, finished_at, created_by_id)
  VALUES (uuid_v7(now()), 'Quiet', 'self.audio_speaker.set_volume', '{"volume":10}', '{"tags":["lobby"]}', 'FINISHED',
    'SUCCEEDED', 'WAIT', now(), 60000, 200, true, 0, 'admin', false, 'former-1', 'hash', now(), now(), now(), 'KEY:former');
