UPDATE threads SET title = $2, state = $3, operator_agent_id = $4, version = $5::bigint
WHERE id = $1 AND version = $5::bigint - 1;
