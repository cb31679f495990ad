-- An operation is in flight, promoted with its session, or failed with a class and a code, and nothing in between.
SELECT format('operation %s in container %s is %s, which does not fit its session, failure or end', o.id,
              o.container_name, o.state)
FROM session_operations o
WHERE (o.finished_at IS NOT NULL) <> (o.state IN ('promoted', 'failed'))
   OR (o.failure_class IS NOT NULL) <> (o.state = 'failed') OR (o.failure_code IS NOT NULL) <> (o.state = 'failed')
   OR (o.session_id IS NOT NULL) <> (o.state = 'promoted')
   OR o.session_id <> coalesce(o.fresh_session_id, o.resume_session_id, o.stop_session_id)
   OR (o.reconciling AND o.state <> 'dispatched') OR (o.cleanup <> 'none' AND o.state <> 'failed')
   OR (o.cleanup = 'claimed') <> (o.cleanup_deadline IS NOT NULL);
