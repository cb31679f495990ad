-- Every version of a space, a channel and a thread has its event, once and in order.
WITH told AS (
  SELECT e.type, e.resource_id AS id, array_agg(e.resource_version ORDER BY e.seq) AS versions
  FROM events e WHERE e.type IN ('space.changed', 'channel.changed', 'thread.changed') GROUP BY 1, 2
), places AS (
  SELECT 'space' AS kind, id, version FROM spaces
  UNION ALL SELECT 'channel', id, version FROM channels
  UNION ALL SELECT 'thread', id, version FROM threads
)
SELECT format('%s %s has version %s, its events tell of %s', p.kind, p.id, p.version,
              coalesce(array_to_string(t.versions, ', '), 'nothing'))
FROM places p LEFT JOIN told t ON t.type = p.kind || '.changed' AND t.id = p.id
WHERE t.versions IS DISTINCT FROM ARRAY(SELECT generate_series(1, p.version));
