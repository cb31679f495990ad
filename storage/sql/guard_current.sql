-- The current row of each thread. Those that are expected are locked by now, so they stay what they are.
SELECT a.id, a.version
FROM unnest($1::uuid[]) WITH ORDINALITY AS q (thread_id, n)
LEFT JOIN LATERAL (
  SELECT r.id, r.version FROM agent_sessions r WHERE r.thread_id = q.thread_id AND r.is_current LIMIT 1
) a ON true
ORDER BY q.n;
