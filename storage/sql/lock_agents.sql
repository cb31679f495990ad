-- A reference guard is about a row that may not exist yet, so there is no row to lock: who relies on the newest row
-- of a reference holds its agent shared, who adds history behind the back of the unique indexes holds it alone.
SELECT CASE WHEN q.alone THEN pg_advisory_xact_lock(q.agent) ELSE pg_advisory_xact_lock_shared(q.agent) END
FROM unnest($1::bigint[], $2::boolean[]) AS q (agent, alone);
