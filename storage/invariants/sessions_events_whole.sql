-- Every version of a session has its event, once and in order.
WITH told AS (
  SELECT e.payload -> 'agent_session' ->> 'id' AS id,
         array_agg((e.payload -> 'agent_session' ->> 'version')::bigint ORDER BY e.seq) AS versions
  FROM events e WHERE e.type = 'agent_session.changed' GROUP BY 1
)
SELECT format('session %s of thread %s has version %s, its events tell of %s', s.id, s.thread_id, s.version,
              coalesce(array_to_string(t.versions, ', '), 'nothing'))
FROM agent_sessions s LEFT JOIN told t ON t.id = s.id::text
WHERE t.versions IS DISTINCT FROM ARRAY(SELECT generate_series(1, s.version));
