-- A grant is on a space, channel or thread that is there, in the space that it names.
WITH places AS (
  SELECT 'space' AS kind, id, id AS space_id FROM spaces
  UNION ALL SELECT 'channel', id, space_id FROM channels
  UNION ALL SELECT 'thread', id, space_id FROM threads
)
SELECT format('the grant of principal %s on %s %s: there is no such place in space %s', g.principal_id, g.scope,
              g.resource_id, g.space_id)
FROM grants g LEFT JOIN places p ON p.id = g.resource_id AND p.kind = g.scope AND p.space_id = g.space_id
WHERE p.id IS NULL;
