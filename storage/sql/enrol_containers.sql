-- The containers of a Runner that get an attempt of its new enrolment.
UPDATE containers c SET attempt_id = q.attempt_id, version = c.version + 1
FROM unnest($2::text[], $3::uuid[]) AS q (name, attempt_id)
WHERE c.name = q.name AND c.runner_id = $1;
