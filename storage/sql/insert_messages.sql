INSERT INTO messages (id, thread_id, author_id, kind, origin, content_md, system_code, run_id, created_at)
SELECT q.id, q.thread_id, q.author_id, q.kind, q.origin, q.content_md, q.system_code, q.run_id, q.created_at
FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::text[], $6::text[], $7::text[], $8::uuid[],
            $9::timestamptz[])
  AS q (id, thread_id, author_id, kind, origin, content_md, system_code, run_id, created_at)
ON CONFLICT DO NOTHING
RETURNING id;
