-- The containers of the Runner that find_enrolment finds.
SELECT c.id, c.name, c.account_id, c.runner_id, c.attempt_id, c.created_at, c.version
FROM containers c
WHERE c.runner_id = coalesce($2::uuid, (SELECT t.runner_id FROM runner_tokens t WHERE t.digest = $1::bytea))
ORDER BY c.name;
