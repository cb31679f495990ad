UPDATE principals
SET name = $2, tool_class = $4, billing_mode = $5, holder_id = $6, enabled = $7, reachable = $8, default_model = $9,
    version = $3::bigint
WHERE id = $1 AND version = $3::bigint - 1;
