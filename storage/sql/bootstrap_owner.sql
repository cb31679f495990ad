-- Owner and token together or not at all: a token for an owner who was there already would be a way in.
WITH owner AS (
  INSERT INTO principals (id, kind, name, instance_owner, created_at, version)
  SELECT $1::uuid, 'human', $2::text, true, $3::timestamptz, 1
  WHERE NOT EXISTS (SELECT FROM principals)
  RETURNING id
)
INSERT INTO tokens (id, principal_id, label, digest, created_at, expires_at)
SELECT $4::uuid, owner.id, $5::text, $6::bytea, $7::timestamptz, $8::timestamptz
FROM owner;
