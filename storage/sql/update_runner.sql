UPDATE runners r
SET name = $2, version = $3::bigint, enrollment_revision = $4, enrollment_secret = $5, journal_id = $6, epoch = $7,
    node_id = $8, connected_at = $9, disconnected_at = $10
WHERE r.id = $1 AND r.version = $3::bigint - 1;
