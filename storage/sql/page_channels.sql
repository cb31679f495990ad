SELECT c.id, c.space_id, c.name, c.mode, c.operator_agent_id, c.main_thread_id, c.created_at, c.version
FROM channels c WHERE c.space_id = $1 AND c.id > $2 ORDER BY c.id LIMIT $3::bigint;
