-- The servers that living processes report, up to $1. If several report one, the latest change
-- counts.
SELECT s.url,
       (array_agg(s.state ORDER BY s.state = 'UNTRIED', s.since DESC))[1] AS state,
       (array_agg(s.since ORDER BY s.state = 'UNTRIED', s.since DESC))[1]::float8 AS since,
       sum(s.conversations)::int AS conversations,
       (array_agg(s."lastError" ORDER BY s.since DESC)
         FILTER (WHERE s."lastError" IS NOT NULL))[1] AS "lastError",
       (array_agg(s."lastErrorCode" ORDER BY s.since DESC)
         FILTER (WHERE s."lastError" IS NOT NULL))[1] AS "lastErrorCode"
  FROM hub_process p,
       jsonb_to_recordset(p.voice_servers)
         AS s(url text, state text, since bigint, conversations int, "lastError" text, "lastErrorCode" text)
 WHERE p.lease_until > now()
 GROUP BY s.url ORDER BY s.url LIMIT $1
