SELECT t.id, t.space_id, t.channel_id, t.kind, t.title, t.state, t.operator_agent_id, t.created_at, t.version
FROM threads t WHERE t.channel_id = $1 AND t.id > $2 ORDER BY t.id LIMIT $3::bigint;
