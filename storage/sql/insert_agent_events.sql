-- In the order given, which is the order of `seq`.
INSERT INTO agent_events (agent_id, type, time, payload)
SELECT q.agent_id, q.type, q.time, q.payload::json
FROM unnest($1::uuid[], $2::text[], $3::timestamptz[], $4::text[])
  WITH ORDINALITY AS q (agent_id, type, time, payload, n)
ORDER BY q.n;
