-- The oldest transaction that is still under way, and the last events up to a `seq` as they are without it.
SELECT pg_snapshot_xmin(pg_current_snapshot())::text,
       (SELECT e.seq FROM events e WHERE e.seq <= $1::bigint ORDER BY e.seq DESC LIMIT 1),
       (SELECT a.seq FROM agent_events a WHERE a.seq <= $2::bigint ORDER BY a.seq DESC LIMIT 1);
