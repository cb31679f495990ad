UPDATE runner_tokens t SET revoked_at = $2 WHERE t.id = $1 AND t.revoked_at IS NULL;
