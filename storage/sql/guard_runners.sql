SELECT r.id, r.version FROM runners r WHERE r.id = ANY ($1::uuid[]) ORDER BY r.id FOR SHARE;
