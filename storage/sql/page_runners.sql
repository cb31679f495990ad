SELECT r.id, r.name, r.created_at, r.version, r.enrollment_revision, r.enrollment_secret, r.journal_id, r.epoch,
       r.node_id, r.connected_at, r.disconnected_at,
       d.id IS NOT NULL
FROM runners r
LEFT JOIN nodes d ON d.id = r.node_id AND d.heartbeat_at >= clock_timestamp() - $3::bigint * interval '1 second'
WHERE r.id > $1 ORDER BY r.id LIMIT $2::bigint;
