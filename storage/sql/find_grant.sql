SELECT g.scope, g.resource_id, g.space_id, g.principal_id, g.level::text
FROM grants g WHERE g.resource_id = $1 AND g.principal_id = $2;
