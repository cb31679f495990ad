-- The last event of a session shows its row.
WITH told AS (
  SELECT DISTINCT ON (e.payload -> 'agent_session' ->> 'id')
         e.payload -> 'agent_session' AS shown, e.seq, e.thread_id, e.resource_id
  FROM events e WHERE e.type = 'agent_session.changed'
  ORDER BY e.payload -> 'agent_session' ->> 'id', e.seq DESC
)
SELECT format('session %s of thread %s is not as its last event (seq %s) shows it', s.id, s.thread_id, t.seq)
FROM agent_sessions s JOIN told t ON t.shown ->> 'id' = s.id::text
WHERE t.thread_id <> s.thread_id OR t.resource_id <> s.thread_id OR t.shown ->> 'thread_id' <> s.thread_id::text
   OR t.shown ->> 'agent_id' <> s.agent_id::text
   OR t.shown ->> 'external_session_ref' <> s.external_session_ref
   OR (t.shown ->> 'version')::bigint <> s.version OR (t.shown ->> 'is_current')::boolean <> s.is_current
   OR (t.shown ->> 'started')::boolean <> s.started OR t.shown ->> 'model' IS DISTINCT FROM s.model
   OR t.shown ->> 'end_reason' IS DISTINCT FROM s.end_reason
   OR (t.shown ->> 'ended_at')::timestamptz IS DISTINCT FROM s.ended_at;
