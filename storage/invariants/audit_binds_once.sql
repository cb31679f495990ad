-- Every bind has one entry in the audit log, and what the entry names has happened.
WITH told AS (
  SELECT a.id, a.resource_id AS thread_id, a.details ->> 'session_id' AS session_id,
         a.details ->> 'ended_session_id' AS ended_id, a.details ->> 'taken_over_session_id' AS taken_id
  FROM audit_log a WHERE a.action = 'agent_session.bind' AND a.allowed
)
SELECT format('audit entry %s tells of session %s of thread %s, which is not there', t.id, t.session_id, t.thread_id)
FROM told t LEFT JOIN agent_sessions s ON s.id::text = t.session_id AND s.thread_id = t.thread_id WHERE s.id IS NULL
UNION ALL
SELECT format('session %s was bound once and has %s audit entries', t.session_id, count(*))
FROM told t GROUP BY t.session_id HAVING count(*) > 1
UNION ALL
SELECT format('audit entry %s says that session %s was ended by a bind, and it was not', t.id, e.id)
FROM told t JOIN LATERAL (VALUES (t.ended_id), (t.taken_id)) AS e (id) ON e.id IS NOT NULL
LEFT JOIN agent_sessions s ON s.id::text = e.id AND s.end_reason = 'rebind' WHERE s.id IS NULL;
