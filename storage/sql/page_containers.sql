-- One row a container and operation in flight, and one where there is none.
SELECT p.id, p.name, p.account_id, p.runner_id, p.attempt_id, p.created_at, p.version,
       a.id, a.name, a.actor_id, a.created_at, a.version,
       d.id IS NOT NULL,
       b.session_id, b.account_id, b.actor_id, b.runner_id, b.container_name, b.container_attempt_id, b.operation_id,
       b.state, b.relayed_through, b.transcript_through, b.input_through, b.created_at, b.released_at, b.version,
       o.id, o.kind, o.relay_request_id, o.fresh_session_id, o.resume_session_id, o.stop_session_id, o.handle_digest,
       o.caller_request_id, o.account_id, o.actor_id, o.runner_id, o.container_name, o.container_attempt_id,
       o.enrollment_revision, o.journal_id, o.state, o.dispatch, o.reconciling, o.failure_class, o.failure_code,
       o.session_id, o.cleanup, o.cleanup_deadline, o.created_at, o.dispatched_at, o.finished_at, o.version
FROM (
  SELECT * FROM containers c
  WHERE c.id > $2 AND (
    $1::uuid IS NULL OR c.account_id = ANY (ARRAY(SELECT i.id FROM accounts i WHERE i.actor_id = $1::uuid))
  )
  ORDER BY c.id LIMIT $3::bigint
) p
JOIN accounts a ON a.id = p.account_id
JOIN runners r ON r.id = p.runner_id
LEFT JOIN nodes d ON d.id = r.node_id AND d.heartbeat_at >= clock_timestamp() - $4::bigint * interval '1 second'
LEFT JOIN LATERAL (
  SELECT * FROM session_bindings i WHERE i.container_name = p.name AND i.state = 'live' LIMIT 1
) b ON true
LEFT JOIN LATERAL (
  SELECT * FROM session_operations i
  WHERE i.container_name = p.name AND i.state IN ('reserved', 'dispatched') ORDER BY i.id
) o ON true
ORDER BY p.id, o.id;
