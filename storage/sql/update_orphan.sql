UPDATE orphan_diagnostics o SET resolved_at = $2, resolved_by = $3, version = $4::bigint
WHERE o.id = $1 AND o.version = $4::bigint - 1;
