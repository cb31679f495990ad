-- A run whose binding failed has one system line that says so, and no other run has one.
WITH told AS (
  SELECT m.run_id, count(*) AS lines FROM messages m WHERE m.system_code = 'agent_session.resume_failed' GROUP BY 1
)
SELECT format('run %s of thread %s: bind_failed is %s, and %s lines say so', r.id, r.thread_id, r.bind_failed,
              coalesce(t.lines, 0))
FROM runs r LEFT JOIN told t ON t.run_id = r.id
WHERE coalesce(t.lines, 0) <> CASE WHEN r.bind_failed THEN 1 ELSE 0 END;
