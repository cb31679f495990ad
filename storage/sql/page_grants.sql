SELECT g.scope, g.resource_id, g.space_id, g.principal_id, g.level::text
FROM grants g WHERE g.principal_id = $1 AND g.resource_id > $2 ORDER BY g.resource_id LIMIT $3::bigint;
