-- A container's attempt is the current one of its Runner's enrolment, and nothing else has a current attempt.
SELECT format('container %s has attempt %s; its current attempt is %s, of Runner %s and enrolment %s', c.name,
              coalesce(c.attempt_id::text, 'none'), coalesce(a.id::text, 'none'), coalesce(a.runner_id::text, 'none'),
              coalesce(a.enrollment_revision::text, 'none'))
FROM containers c JOIN runners r ON r.id = c.runner_id
LEFT JOIN container_attempts a ON a.container_name = c.name AND a.is_current
WHERE c.attempt_id IS DISTINCT FROM a.id OR a.runner_id <> c.runner_id OR a.enrollment_revision <> r.enrollment_revision
UNION ALL
SELECT format('attempt %s is current, and container %s is not there', a.id, a.container_name)
FROM container_attempts a LEFT JOIN containers c ON c.name = a.container_name WHERE a.is_current AND c.name IS NULL;
