SELECT k.id, k.principal_id, k.label, k.digest, k.created_at, k.expires_at, k.revoked_at
FROM tokens k WHERE k.principal_id = $1 AND k.id > $2 ORDER BY k.id LIMIT $3::bigint;
