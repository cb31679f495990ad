-- Operations by handle, or by id where there is no handle.
SELECT q.n,
       o.id, o.kind, o.relay_request_id, o.fresh_session_id, o.resume_session_id, o.stop_session_id, o.handle_digest,
       o.caller_request_id, o.account_id, o.actor_id, o.runner_id, o.container_name, o.container_attempt_id,
       o.enrollment_revision, o.journal_id, o.state, o.dispatch, o.reconciling, o.failure_class, o.failure_code,
       o.session_id, o.cleanup, o.cleanup_deadline, o.created_at, o.dispatched_at, o.finished_at, o.version
FROM unnest($1::bytea[], $2::uuid[]) WITH ORDINALITY AS q (handle_digest, id, n)
LEFT JOIN LATERAL (SELECT * FROM session_operations i WHERE i.handle_digest = q.handle_digest LIMIT 1) h ON true
CROSS JOIN LATERAL (
  SELECT * FROM session_operations i
  WHERE i.id = CASE WHEN q.handle_digest IS NULL THEN q.id ELSE h.id END LIMIT 1
) o;
