-- Every version of a run has its event, once and in order.
WITH told AS (
  SELECT e.resource_id AS id, array_agg(e.resource_version ORDER BY e.seq) AS versions
  FROM events e WHERE e.type = 'run.changed' GROUP BY 1
)
SELECT format('run %s of thread %s has version %s, its events tell of %s', r.id, r.thread_id, r.version,
              coalesce(array_to_string(t.versions, ', '), 'nothing'))
FROM runs r LEFT JOIN told t ON t.id = r.id
WHERE t.versions IS DISTINCT FROM ARRAY(SELECT generate_series(1, r.version));
