DELETE FROM container_attempts a WHERE a.ctid = ANY (ARRAY(
  SELECT e.ctid FROM container_attempts e
  WHERE NOT e.is_current AND e.created_at <= $1::timestamptz - $2::bigint * interval '1 second'
    AND NOT EXISTS (SELECT 1 FROM session_operations o WHERE o.container_attempt_id = e.id)
    AND NOT EXISTS (SELECT 1 FROM session_bindings b WHERE b.container_attempt_id = e.id)
    AND NOT EXISTS (SELECT 1 FROM orphan_diagnostics d WHERE d.container_attempt_id = e.id)
  ORDER BY e.created_at, e.id LIMIT $3::bigint FOR UPDATE OF e SKIP LOCKED
));
