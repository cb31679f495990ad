SELECT m.id, m.thread_id, m.author_id, m.kind, m.origin, m.content_md, m.system_code, m.run_id, m.created_at
FROM messages m WHERE m.thread_id = $1 AND m.id > $2 ORDER BY m.id LIMIT $3::bigint;
