-- A relay id, a session id and a retry handle are of one operation each, and a session id is the one that its relay id
-- derives.
SELECT format('%s operations share a relay id: %s', count(*), string_agg(o.id::text, ', ' ORDER BY o.id))
FROM session_operations o WHERE o.relay_request_id IS NOT NULL GROUP BY o.relay_request_id HAVING count(*) > 1
UNION ALL
SELECT format('%s operations share session %s: %s', count(*), o.fresh_session_id,
              string_agg(o.id::text, ', ' ORDER BY o.id))
FROM session_operations o WHERE o.fresh_session_id IS NOT NULL GROUP BY o.fresh_session_id HAVING count(*) > 1
UNION ALL
SELECT format('%s operations share a retry handle: %s', count(*), string_agg(o.id::text, ', ' ORDER BY o.id))
FROM session_operations o WHERE o.handle_digest IS NOT NULL GROUP BY o.handle_digest HAVING count(*) > 1
UNION ALL
SELECT format('operation %s has session %s, which its relay id %s does not derive', o.id, o.fresh_session_id,
              o.relay_request_id)
FROM session_operations o
WHERE o.kind = 'fresh' AND o.fresh_session_id IS DISTINCT FROM encode(sha256(
  convert_to('compass.session-id.v1', 'UTF8') || int4send(octet_length(o.relay_request_id::text))
  || convert_to(o.relay_request_id::text, 'UTF8')), 'hex');
