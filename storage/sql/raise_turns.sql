-- A thread whose counter is not the expected one is not returned.
UPDATE threads t SET runs_version = t.runs_version + 1
FROM unnest($1::uuid[], $2::bigint[]) AS q (id, expected)
WHERE t.id = q.id AND t.runs_version = q.expected
RETURNING t.id;
