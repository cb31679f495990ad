-- What operators watch: unresolved orphans, operations in flight, Runners that can be reached.
SELECT (SELECT count(*) FROM orphan_diagnostics o WHERE o.resolved_at IS NULL),
       (SELECT count(*) FROM session_operations o WHERE o.state IN ('reserved', 'dispatched')),
       (SELECT count(*) FROM runners r JOIN nodes d ON d.id = r.node_id
        WHERE r.node_id IS NOT NULL AND d.heartbeat_at >= clock_timestamp() - $1::bigint * interval '1 second');
