SELECT t.id, t.version FROM threads t WHERE t.id = ANY ($1::uuid[]) ORDER BY t.id FOR SHARE;
