-- A line whose place is taken is not returned.
INSERT INTO session_transcripts (session_id, seq, time, direction, line, exit_code)
SELECT q.session_id, q.seq, q.time, q.direction, q.line, q.exit_code
FROM unnest($1::text[], $2::bigint[], $3::timestamptz[], $4::text[], $5::bytea[], $6::bigint[])
  AS q (session_id, seq, time, direction, line, exit_code)
ON CONFLICT DO NOTHING
RETURNING session_id, seq;
