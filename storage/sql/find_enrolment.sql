-- The Runner of a token, or one by its id, with the node that holds or last held its socket; always one row.
SELECT t.id, t.runner_id, t.label, t.digest, t.created_at, t.expires_at, t.revoked_at,
       r.id, r.name, r.created_at, r.version, r.enrollment_revision, r.enrollment_secret, r.journal_id, r.epoch,
       r.node_id, r.connected_at, r.disconnected_at,
       d.id, d.address, d.heartbeat_at
FROM (SELECT $1::bytea AS digest, $2::uuid AS runner_id) q
LEFT JOIN LATERAL (
  SELECT * FROM runner_tokens i WHERE i.digest = q.digest AND q.runner_id IS NULL LIMIT 1
) t ON true
LEFT JOIN LATERAL (SELECT * FROM runners i WHERE i.id = coalesce(q.runner_id, t.runner_id) LIMIT 1) r ON true
LEFT JOIN LATERAL (SELECT * FROM nodes i WHERE i.id = r.node_id LIMIT 1) d ON true;
