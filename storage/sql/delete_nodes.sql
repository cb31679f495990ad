DELETE FROM nodes n WHERE n.ctid = ANY (ARRAY(
  SELECT e.ctid FROM nodes e WHERE e.heartbeat_at <= $1::timestamptz - interval '1 day'
  ORDER BY e.heartbeat_at, e.id LIMIT $2::bigint FOR UPDATE SKIP LOCKED
));
