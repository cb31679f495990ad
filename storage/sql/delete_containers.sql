DELETE FROM containers c USING unnest($1::text[], $2::bigint[]) AS q (name, version)
WHERE c.name = q.name AND c.version = q.version
RETURNING c.name;
