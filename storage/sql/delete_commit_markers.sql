-- Markers before a moment are those whose UUIDv7 is below the one of that moment.
DELETE FROM commit_markers m WHERE m.ctid = ANY (ARRAY(
  SELECT e.ctid FROM commit_markers e WHERE e.batch_id < $1
  ORDER BY e.batch_id LIMIT $2::bigint FOR UPDATE SKIP LOCKED
));
