-- Operations in flight and those with a claimed cleanup, oldest first. The order inside keeps the look-up LATERAL.
SELECT q.n,
       o.id, o.kind, o.relay_request_id, o.fresh_session_id, o.resume_session_id, o.stop_session_id, o.handle_digest,
       o.caller_request_id, o.account_id, o.actor_id, o.runner_id, o.container_name, o.container_attempt_id,
       o.enrollment_revision, o.journal_id, o.state, o.dispatch, o.reconciling, o.failure_class, o.failure_code,
       o.session_id, o.cleanup, o.cleanup_deadline, o.created_at, o.dispatched_at, o.finished_at, o.version
FROM unnest($1::text[]) WITH ORDINALITY AS q (name, n)
CROSS JOIN LATERAL (
  SELECT * FROM session_operations i
  WHERE i.container_name = q.name AND (i.state IN ('reserved', 'dispatched') OR i.cleanup = 'claimed')
  ORDER BY i.id
) o
ORDER BY q.n, o.id;
