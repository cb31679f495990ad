-- In ascending id for the whole batch, before any row of agent_sessions (spec 03 section 13).
SELECT r.id FROM runs r WHERE r.id = ANY ($1::uuid[]) ORDER BY r.id FOR NO KEY UPDATE;
