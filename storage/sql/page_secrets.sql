SELECT s.account_id, s.name, s.sealed, s.updated_at
FROM account_secrets s WHERE s.account_id = $1 ORDER BY s.name LIMIT $2::bigint;
