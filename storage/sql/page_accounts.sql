SELECT a.id, a.name, a.actor_id, a.created_at, a.version FROM accounts a WHERE a.id > $1 ORDER BY a.id LIMIT $2::bigint;
