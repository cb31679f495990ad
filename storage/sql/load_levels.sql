-- The highest grant on the way from the thread to its space; the space's owner holds every level in it (spec 01).
SELECT q.n,
       CASE WHEN s.owner_id = q.principal_id THEN 'manage' ELSE (
         SELECT max(g.level)::text FROM grants g
         WHERE g.principal_id = q.principal_id AND g.resource_id = ANY (ARRAY[t.id, t.channel_id, t.space_id])
       ) END
FROM unnest($1::uuid[], $2::uuid[]) WITH ORDINALITY AS q (thread_id, principal_id, n)
JOIN threads t ON t.id = q.thread_id
JOIN spaces s ON s.id = t.space_id;
