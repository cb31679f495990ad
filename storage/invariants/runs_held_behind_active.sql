-- A run is held only behind an active one.
SELECT format('run %s of thread %s is held, and no run of the thread is active', r.id, r.thread_id)
FROM runs r
WHERE r.state = 'held' AND NOT EXISTS (
  SELECT 1 FROM runs a WHERE a.thread_id = r.thread_id AND a.state IN ('queued', 'running', 'waiting_input'));
