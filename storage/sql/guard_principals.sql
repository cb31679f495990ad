SELECT p.id, p.version FROM principals p WHERE p.id = ANY ($1::uuid[]) ORDER BY p.id FOR SHARE;
