-- Counts devices, and the most frequent models and versions, $1 of each. Joins the few leases once
-- instead of reading one per device.
SELECT * FROM (
  SELECT counted.*, row_number() OVER (PARTITION BY kind ORDER BY devices DESC, value) AS place FROM (
    SELECT CASE WHEN GROUPING(d.model) = 0 THEN 'model'
                WHEN GROUPING(d.firmware_version) = 0 THEN 'firmware' ELSE 'all' END AS kind,
           coalesce(d.model, d.firmware_version) AS value,
           count(*)::int AS devices,
           (count(*) FILTER (WHERE d.online AND p.id IS NOT NULL))::int AS online,
           (count(*) FILTER (WHERE d.tools_stale))::int AS stale,
           (count(*) FILTER (WHERE d.connected_at IS NULL))::int AS never
      FROM device d LEFT JOIN hub_process p ON p.id = d.gateway_id AND p.lease_until > now()
     WHERE {{condition}}
     GROUP BY GROUPING SETS ((), (d.model), (d.firmware_version))
  ) AS counted
) AS placed WHERE place <= $1 ORDER BY kind, place
