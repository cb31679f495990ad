INSERT INTO containers (id, name, account_id, runner_id, attempt_id, created_at, version)
VALUES ($1, $2, $3, $4, $5, $6, $7)
ON CONFLICT DO NOTHING;
