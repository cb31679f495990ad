-- The moments, the lease and the failure of a run are those of its state.
SELECT format('run %s of thread %s is %s, which does not fit its moments, lease or failure', r.id, r.thread_id, r.state)
FROM runs r
WHERE (r.lease_expires_at IS NOT NULL) <> (r.state IN ('running', 'waiting_input'))
   OR (r.finished_at IS NOT NULL) <> (r.state IN ('succeeded', 'failed', 'cancelled'))
   OR (r.failure_code IS NOT NULL) <> (r.state = 'failed')
   OR (r.started_at IS NULL AND r.state IN ('running', 'waiting_input', 'succeeded'))
   OR (r.started_at IS NOT NULL AND r.state IN ('held', 'queued'))
   OR (r.queued_at IS NULL AND (r.state IN ('queued', 'running', 'waiting_input', 'succeeded') OR r.started_at IS NOT NULL))
   OR (r.queued_at IS NOT NULL AND r.state = 'held');
