-- An event is about what is there, in the place that the row is in.
WITH told AS (
  SELECT e.seq, e.type, e.thread_id, e.channel_id, e.space_id,
         CASE WHEN e.type = 'agent_session.changed' THEN e.payload -> 'agent_session' ->> 'id'
              ELSE e.resource_id::text END AS id
  FROM events e
), things AS (
  SELECT 'agent_session.changed' AS type, id::text AS id FROM agent_sessions
  UNION ALL SELECT 'run.changed', id::text FROM runs
  UNION ALL SELECT 'message.created', id::text FROM messages
  UNION ALL SELECT 'space.changed', id::text FROM spaces
  UNION ALL SELECT 'channel.changed', id::text FROM channels
  UNION ALL SELECT 'thread.changed', id::text FROM threads
)
SELECT format('event %s (%s) is about %s, which is not there', e.seq, e.type, e.id)
FROM told e LEFT JOIN things t ON t.type = e.type AND t.id = e.id WHERE t.id IS NULL
UNION ALL
SELECT format('event %s (%s) of thread %s names channel %s and space %s, the thread is in %s and %s', e.seq, e.type,
              t.id, e.channel_id, e.space_id, t.channel_id, t.space_id)
FROM told e JOIN threads t ON t.id = e.thread_id WHERE t.channel_id <> e.channel_id OR t.space_id <> e.space_id;
