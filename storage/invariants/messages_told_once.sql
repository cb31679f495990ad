-- Every message has one event, in its thread.
WITH told AS (
  SELECT e.resource_id AS id, count(*) AS times, min(e.thread_id::text) AS thread_id
  FROM events e WHERE e.type = 'message.created' GROUP BY 1
)
SELECT format('message %s of thread %s has %s events', m.id, m.thread_id, coalesce(t.times, 0))
FROM messages m LEFT JOIN told t ON t.id = m.id
WHERE coalesce(t.times, 0) <> 1 OR t.thread_id <> m.thread_id::text;
