-- The audit log counts every imported session of a thread.
WITH told AS (
  SELECT a.resource_id AS thread_id, sum((a.details ->> 'imported')::bigint) AS sessions
  FROM audit_log a WHERE a.action = 'agent_session.import' AND a.allowed GROUP BY 1
), made AS (
  SELECT s.thread_id, count(*) AS sessions FROM agent_sessions s
  WHERE s.end_reason = 'import' AND NOT EXISTS (SELECT 1 FROM runs r WHERE r.agent_session_id = s.id AND r.bind_failed)
  GROUP BY 1
)
SELECT format('thread %s has %s imported sessions, its audit entries tell of %s',
              coalesce(m.thread_id, t.thread_id), coalesce(m.sessions, 0), coalesce(t.sessions, 0))
FROM made m FULL JOIN told t ON t.thread_id = m.thread_id WHERE coalesce(m.sessions, 0) <> coalesce(t.sessions, 0);
