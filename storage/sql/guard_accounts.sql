SELECT a.id, a.version FROM accounts a WHERE a.id = ANY ($1::uuid[]) ORDER BY a.id FOR SHARE;
