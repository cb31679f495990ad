-- No answer is kept under an Idempotency-Key without what it answers.
WITH kept AS (
  SELECT k.principal_id, k.key, CASE WHEN k.status = 202 AND k.body ~ '^[0-9a-f-]{36}$' THEN k.body
    WHEN k.body ~ '^\{"id":"[0-9a-f-]{36}"' THEN substring(k.body FROM '^\{"id":"([0-9a-f-]{36})"') END AS id
  FROM idempotency_records k
), there AS (
  SELECT id::text AS id FROM agent_sessions
  UNION ALL SELECT id::text FROM runs
  UNION ALL SELECT id::text FROM messages
  UNION ALL SELECT id::text FROM principals
  UNION ALL SELECT id::text FROM tokens
  UNION ALL SELECT id::text FROM runner_tokens
  UNION ALL SELECT id::text FROM spaces
  UNION ALL SELECT id::text FROM channels
  UNION ALL SELECT id::text FROM threads
  UNION ALL SELECT id::text FROM accounts
  UNION ALL SELECT id::text FROM runners
  -- Containers and operations may be gone again; what was done about them is in the audit log for good.
  UNION ALL SELECT resource_id::text FROM audit_log WHERE allowed
  UNION ALL SELECT details ->> 'operation_id' FROM audit_log WHERE allowed
)
SELECT format('the answer that principal %s got under a key (fingerprint %s) is about %s, which is not there',
              k.principal_id, left(encode(r.fingerprint, 'hex'), 12), k.id)
FROM kept k JOIN idempotency_records r ON r.principal_id = k.principal_id AND r.key = k.key
LEFT JOIN there t ON t.id = k.id WHERE k.id IS NOT NULL AND t.id IS NULL;
