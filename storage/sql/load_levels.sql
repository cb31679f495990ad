-- The highest grant on the way from the thread to its space; the space's owner holds every level in it (spec 01).
SELECT q.n,
       CASE WHEN s.owner_id = q.principal_id THEN 'manage' ELSE (
         SELECT max(held.level)::text
         FROM unnest(ARRAY[t.id, t.channel_id, t.space_id]) AS path (id)
         CROSS JOIN LATERAL (
           SELECT g.level FROM grants g WHERE g.resource_id = path.id AND g.principal_id = q.principal_id LIMIT 1
         ) held
       ) END
FROM unnest($1::uuid[], $2::uuid[]) WITH ORDINALITY AS q (thread_id, principal_id, n)
CROSS JOIN LATERAL (SELECT * FROM threads r WHERE r.id = q.thread_id LIMIT 1) t
JOIN spaces s ON s.id = t.space_id;
