-- One call, of a single device or of a job. $1 id.
SELECT {{callColumns}} FROM call c WHERE c.id = $1
UNION ALL
SELECT {{targetColumns}} FROM {{targetTables}} WHERE t.listed_call_id = $1
