-- Every change of what is provisioned has one entry in the audit log.
WITH rows AS (
  SELECT 'space' AS kind, id, version, 'space.create' AS made, 'space.update' AS changed FROM spaces
  UNION ALL SELECT 'channel', id, version, 'channel.create', 'channel.update' FROM channels
  UNION ALL SELECT 'principal', id, version, 'principal.create', 'principal.update' FROM principals WHERE NOT instance_owner
  UNION ALL SELECT 'account', id, version, 'account.create', 'account.subscribe' FROM accounts
), told AS (
  SELECT a.resource_id AS id, a.action, count(*) AS times FROM audit_log a WHERE a.allowed GROUP BY 1, 2
)
SELECT format('%s %s has version %s, and the audit log has %s entries of %s and %s of %s', r.kind, r.id, r.version,
              coalesce(m.times, 0), r.made, coalesce(c.times, 0), r.changed)
FROM rows r LEFT JOIN told m ON m.id = r.id AND m.action = r.made
LEFT JOIN told c ON c.id = r.id AND c.action = r.changed
WHERE coalesce(m.times, 0) <> 1 OR coalesce(c.times, 0) <> r.version - 1
UNION ALL
SELECT format('thread %s has %s audit entries of thread.create', t.id, coalesce(m.times, 0))
FROM threads t LEFT JOIN told m ON m.id = t.id AND m.action = 'thread.create'
WHERE coalesce(m.times, 0) <> CASE t.kind WHEN 'main' THEN 0 ELSE 1 END;
