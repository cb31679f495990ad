-- A run is on a session of its own thread and agent.
SELECT format('run %s of thread %s and agent %s is on session %s, which is of thread %s and agent %s', r.id, r.thread_id,
              r.agent_id, s.id, s.thread_id, s.agent_id)
FROM runs r JOIN agent_sessions s ON s.id = r.agent_session_id
WHERE s.thread_id <> r.thread_id OR s.agent_id <> r.agent_id;
