SELECT s.id, s.name, s.owner_id, s.created_at, s.version, s.facts_version
FROM spaces s
WHERE s.id > $2 AND (
  s.owner_id = $1 OR EXISTS (SELECT FROM grants g WHERE g.resource_id = s.id AND g.principal_id = $1)
)
ORDER BY s.id LIMIT $3::bigint;
