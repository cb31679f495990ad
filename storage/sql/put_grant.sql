INSERT INTO grants (scope, resource_id, space_id, principal_id, level)
VALUES ($1, $2, $3, $4, $5::text::grant_level)
ON CONFLICT (resource_id, principal_id) DO UPDATE SET level = excluded.level;
