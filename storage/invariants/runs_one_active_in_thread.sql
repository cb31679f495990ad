-- A thread has at most one run that is queued, running or waiting for input.
SELECT format('thread %s has %s active runs: %s', r.thread_id, count(*), string_agg(r.id::text, ', ' ORDER BY r.id))
FROM runs r WHERE r.state IN ('queued', 'running', 'waiting_input') GROUP BY r.thread_id HAVING count(*) > 1;
