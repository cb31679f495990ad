SELECT q.n, r.thread_id, r.agent_id
FROM unnest($1::uuid[]) WITH ORDINALITY AS q (id, n)
CROSS JOIN LATERAL (SELECT * FROM runs i WHERE i.id = q.id LIMIT 1) r;
