SELECT k.id, k.principal_id, k.label, k.digest, k.created_at, k.expires_at, k.revoked_at
FROM tokens k WHERE k.id = $1;
