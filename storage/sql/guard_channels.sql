SELECT c.id, c.version FROM channels c WHERE c.id = ANY ($1::uuid[]) ORDER BY c.id FOR SHARE;
