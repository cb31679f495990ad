UPDATE accounts a SET name = $2, actor_id = $3, version = $4::bigint
WHERE a.id = $1 AND a.version = $4::bigint - 1;
