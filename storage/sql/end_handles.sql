-- Operations whose span is over and that stay, because a live binding or an unresolved orphan refers to them: their
-- handles end.
UPDATE session_operations o SET handle_digest = NULL, version = o.version + 1 WHERE o.ctid = ANY (ARRAY(
  SELECT e.ctid FROM session_operations e
  WHERE e.handle_digest IS NOT NULL
    AND ((e.state = 'promoted' AND e.finished_at <= $1::timestamptz - $2::bigint * interval '1 second')
         OR (e.failure_class = 'terminal' AND e.finished_at <= $1::timestamptz - $3::bigint * interval '1 second'))
    AND (EXISTS (SELECT 1 FROM session_bindings b WHERE b.operation_id = e.id AND b.state = 'live')
         OR EXISTS (SELECT 1 FROM orphan_diagnostics d WHERE d.operation_id = e.id AND d.resolved_at IS NULL))
  ORDER BY e.finished_at, e.id LIMIT $4::bigint FOR UPDATE OF e SKIP LOCKED
));
