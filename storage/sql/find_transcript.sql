-- Lines of a session behind a place, with its binding; no row where the principal may not see it (spec 04 section 3),
-- and one without a line where there is none.
SELECT b.operation_id, b.state = 'live', b.transcript_through,
       t.session_id, t.seq, t.time, t.direction, t.line, t.exit_code
FROM (
  SELECT $1::text AS session_id, $2::uuid AS principal_id, $3::uuid AS lifetime, $4::bigint AS after,
         $6::boolean AS only_input
) q
CROSS JOIN LATERAL (SELECT * FROM session_bindings i WHERE i.session_id = q.session_id LIMIT 1) b
LEFT JOIN LATERAL (SELECT * FROM accounts i WHERE i.id = b.account_id LIMIT 1) a ON true
LEFT JOIN LATERAL (SELECT * FROM containers i WHERE i.name = b.container_name LIMIT 1) c ON true
LEFT JOIN LATERAL (
  (SELECT * FROM session_transcripts i WHERE i.session_id = q.session_id AND i.seq > q.after AND NOT q.only_input
   ORDER BY i.seq LIMIT $5::bigint)
  UNION ALL
  (SELECT * FROM session_transcripts i
   WHERE i.session_id = q.session_id AND i.seq > q.after AND i.direction = 'in' AND q.only_input
   ORDER BY i.seq LIMIT $5::bigint)
) t ON true
WHERE q.principal_id IS NULL OR (
  (b.state = 'live' OR b.operation_id = q.lifetime) AND b.actor_id = q.principal_id AND a.actor_id = q.principal_id
  AND c.account_id = b.account_id AND c.attempt_id = b.container_attempt_id
)
ORDER BY t.seq;
