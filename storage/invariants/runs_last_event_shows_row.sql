-- The last event of a run shows its row.
WITH told AS (
  SELECT DISTINCT ON (e.resource_id) e.resource_id AS id, e.payload -> 'run' AS shown, e.seq
  FROM events e WHERE e.type = 'run.changed' ORDER BY e.resource_id, e.seq DESC
)
SELECT format('run %s of thread %s is not as its last event (seq %s) shows it', r.id, r.thread_id, t.seq)
FROM runs r JOIN told t ON t.id = r.id
WHERE t.shown ->> 'id' <> r.id::text OR (t.shown ->> 'version')::bigint <> r.version
   OR t.shown ->> 'state' <> r.state OR t.shown ->> 'kind' <> r.kind
   OR t.shown ->> 'agent_session_id' IS DISTINCT FROM r.agent_session_id::text;
