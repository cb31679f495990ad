SELECT q.n, coalesce(h.container_name, o.container_name, b.container_name, d.container_name)
FROM unnest($1::bytea[], $2::uuid[], $3::text[], $4::uuid[])
  WITH ORDINALITY AS q (handle_digest, operation_id, session_id, orphan_id, n)
LEFT JOIN LATERAL (
  SELECT i.container_name FROM session_operations i WHERE i.handle_digest = q.handle_digest LIMIT 1
) h ON true
LEFT JOIN LATERAL (SELECT i.container_name FROM session_operations i WHERE i.id = q.operation_id LIMIT 1) o ON true
LEFT JOIN LATERAL (SELECT i.container_name FROM session_bindings i WHERE i.session_id = q.session_id LIMIT 1) b ON true
LEFT JOIN LATERAL (SELECT i.container_name FROM orphan_diagnostics i WHERE i.id = q.orphan_id LIMIT 1) d ON true;
