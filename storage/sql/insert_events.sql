-- In the order given, which is the order of `seq`.
INSERT INTO events (id, type, time, space_id, channel_id, thread_id, resource_kind, resource_id, resource_version,
                    actor_kind, actor_id, payload)
SELECT q.id, q.type, q.time, q.space_id, q.channel_id, q.thread_id, q.resource_kind, q.resource_id,
       q.resource_version, q.actor_kind, q.actor_id, q.payload::json
FROM unnest($1::uuid[], $2::text[], $3::timestamptz[], $4::uuid[], $5::uuid[], $6::uuid[], $7::text[], $8::uuid[],
            $9::bigint[], $10::text[], $11::uuid[], $12::text[])
  WITH ORDINALITY AS q (id, type, time, space_id, channel_id, thread_id, resource_kind, resource_id,
                        resource_version, actor_kind, actor_id, payload, n)
ORDER BY q.n;
