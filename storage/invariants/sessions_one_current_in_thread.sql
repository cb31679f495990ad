-- A thread has at most one current session.
SELECT format('thread %s has %s current sessions: %s', s.thread_id, count(*), string_agg(s.id::text, ', ' ORDER BY s.id))
FROM agent_sessions s WHERE s.is_current GROUP BY s.thread_id HAVING count(*) > 1;
