-- One row a question: the container with its owners, where its Runner is connected, and its live binding. A look-up is
-- LATERAL with a limit as in load_threads.
SELECT q.n,
       c.id, c.name, c.account_id, c.runner_id, c.attempt_id, c.created_at, c.version,
       a.id, a.name, a.actor_id, a.created_at, a.version,
       r.id, r.name, r.created_at, r.version, r.enrollment_revision, r.enrollment_secret, r.journal_id, r.epoch,
       r.node_id, r.connected_at, r.disconnected_at,
       d.id, d.address, d.heartbeat_at,
       b.session_id, b.account_id, b.actor_id, b.runner_id, b.container_name, b.container_attempt_id, b.operation_id,
       b.state, b.relayed_through, b.transcript_through, b.input_through, b.created_at, b.released_at, b.version,
       lives.session_id IS NOT NULL
FROM unnest($1::text[], $2::bigint[]) WITH ORDINALITY AS q (name, node_timeout_s, n)
LEFT JOIN LATERAL (SELECT * FROM containers i WHERE i.name = q.name LIMIT 1) c ON true
LEFT JOIN LATERAL (SELECT * FROM accounts i WHERE i.id = c.account_id LIMIT 1) a ON true
LEFT JOIN LATERAL (SELECT * FROM runners i WHERE i.id = c.runner_id LIMIT 1) r ON true
LEFT JOIN LATERAL (
  SELECT * FROM nodes i
  WHERE i.id = r.node_id AND i.heartbeat_at >= clock_timestamp() - q.node_timeout_s * interval '1 second' LIMIT 1
) d ON true
LEFT JOIN LATERAL (
  SELECT * FROM session_bindings i WHERE i.container_name = q.name AND i.state = 'live' LIMIT 1
) b ON true
LEFT JOIN LATERAL (
  SELECT i.session_id FROM session_bindings i WHERE i.account_id = c.account_id AND i.state = 'live' LIMIT 1
) lives ON true;
